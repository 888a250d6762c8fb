#include "stithy/array.hpp"

#include "array/bind.hpp"
#include "array/numbers.hpp"

namespace stithy {

using detail::node;
using detail::node_of;

DType Array::dtype(Location at) const { return node_of(*this, "dtype", at).dtype(); }
const Shape& Array::shape(Location at) const { return node_of(*this, "shape", at).shape(); }
int Array::ndim(Location at) const { return static_cast<int>(shape(at).rank()); }
std::int64_t Array::size(Location at) const { return shape(at).elements(); }
Device Array::device(Location at) const { return node_of(*this, "device", at).device(); }

std::int64_t Array::shape(int axis, std::source_location location) const {
    const Shape& s = node_of(*this, "shape", location).shape();
    const auto rank = static_cast<int>(s.rank());
    if (axis < -rank || axis >= rank)
        fail("shape", "axis " + std::to_string(axis) + " of an array of rank " + std::to_string(rank) + ", " + node(*this).type().str(),
             location);
    return s[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
}

bool Array::ready(Location at) const {
    const detail::ArrayNode& n = node_of(*this, "ready", at);
    if (n.is_splat()) return true;
    if (!n.traced()) return n.buffer()->done();
    return n.below().defined() && n.below().ready(at);
}

const Array& Array::wait(Location at) const& {
    const Array* found = this;
    node_of(*found, "wait", at);
    while (found->defined() && node(*found).traced()) found = &node(*found).below();
    if (found->defined() && !node(*found).is_splat()) node(*found).buffer()->wait();
    return *this;
}

Array Array::wait(Location at) && {
    std::as_const(*this).wait(at);
    return std::move(*this);
}

Array Array::astype(DType dtype, std::source_location location) const {
    const detail::ArrayNode& n = node_of(*this, "astype", location);
    if (n.dtype() == dtype) return *this;
    if (n.is_splat() && !detail::innermost_staging())
        return detail::make_splat(dtype, n.shape(), detail::convert_bits(n.dtype(), n.splat_bits(), dtype), location);
    return detail::bind_as({dtype, n.shape()}, ir::OpCode::convert, {*this}, nullptr, location);
}

Array Array::to(Device device, std::source_location location) const {
    const detail::ArrayNode& n = node_of(*this, "to", location);
    if (n.device() == device) return *this;
    fail("to", "there is no device " + device.str() + " here; available: cpu", location);
}

namespace detail {

namespace {
/// A recorded or plain array without a number of its own to show; the concrete one under it.
const Array& concrete(const NodeCount* count, const char* operation, const Location& location, Array& holder) {
    auto* counted = const_cast<NodeCount*>(count);
    if (counted) counted->references.fetch_add(1, std::memory_order_relaxed);
    holder = Array::adopt(counted);
    return bottom(holder, operation, location);
}
} // namespace

std::uint64_t read_element(const NodeCount* count, DType dtype, const char* operation, const std::source_location& location) {
    Array holder;
    const ArrayNode& n = node(concrete(count, operation, location, holder));
    const Location& at = location.line() != 0 ? location : node(holder).location(); // conversions learn no line of their own
    if (n.shape().elements() != 1) fail(operation, "needs an array of one element, given " + made_at(node(holder)), at);
    std::uint64_t bits = n.splat_bits();
    if (!n.is_splat()) {
        n.buffer()->wait();
        __builtin_memcpy(&bits, n.buffer()->data(), n.dtype().size());
    }
    if (dtype == n.dtype()) return bits;
    if (dtype.is_bool()) return convert_bits(n.dtype(), bits, boolean);
    if (auto converted = convert_exactly(n.dtype(), bits, dtype)) return *converted;
    fail(operation,
         "the element " + element_text(n.dtype(), bits) + " of " + n.type().str() + " is not exactly a " + std::string(dtype.name()) +
             "; convert with astype() first, or read it as " + std::string(n.dtype().name()),
         at);
}

const std::byte* read_elements(const NodeCount* count, DType dtype, const char* operation, const std::source_location& location) {
    Array holder;
    const ArrayNode& n = node(concrete(count, operation, location, holder));
    if (!(n.dtype() == dtype))
        fail(operation,
             "the array is " + n.type().str() + ", asked for elements of " + std::string(dtype.name()) + "; convert with astype() first",
             location);
    n.buffer()->wait();
    return static_cast<const std::byte*>(n.buffer()->data());
}

} // namespace detail
} // namespace stithy
