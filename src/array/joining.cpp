// Joining arrays and cutting them up.
#include "array/axes.hpp"
#include "array/elementwise.hpp"
#include "array/shapes.hpp"
#include "stithy/shaping.hpp"

namespace stithy {

using detail::check_axis;
using detail::node;
using detail::to_array;

namespace {
/// The parts in one dtype.
std::vector<Array> alike(const char* name, std::span<const Array> parts, const Location& at) {
    if (parts.empty()) fail(name, "no arrays are given", at);
    DType dtype = detail::node_of(parts[0], name, at).dtype();
    for (const Array& p : parts) dtype = promote(dtype, detail::node_of(p, name, at).dtype());
    std::vector<Array> result;
    result.reserve(parts.size());
    for (const Array& p : parts) result.push_back(p.astype(dtype, at));
    return result;
}

std::string types_of(std::span<const Array> parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size() && i < 8; ++i) text += (i ? ", " : "") + node(parts[i]).type().str();
    return text + (parts.size() > 8 ? ", ..." : "");
}
} // namespace

Array concatenate(std::span<const Array> parts, Axis axis, Location at) {
    const std::vector<Array> like = alike("concatenate", parts, at);
    const Shape& first = like[0].shape();
    if (first.rank() == 0) fail("concatenate", "arrays of rank 0 have no axis to be joined along; use stack()", at);
    const std::int64_t over = check_axis("concatenate", axis.value, first.rank(), like[0], at);
    for (const Array& p : like) {
        bool fits = p.shape().rank() == first.rank();
        for (std::size_t i = 0; fits && i < first.rank(); ++i) fits = static_cast<std::int64_t>(i) == over || p.shape()[i] == first[i];
        if (!fits)
            fail("concatenate",
                 types_of(parts) + " do not join along axis " + std::to_string(over) + ": the other extents and the ranks must be equal",
                 at);
    }
    return detail::joined(like, over, at);
}
Array concatenate(std::initializer_list<Array> parts, Axis axis, Location at) {
    return concatenate(std::span(parts.begin(), parts.size()), axis, at);
}
Array concatenate(const std::vector<Array>& parts, Axis axis, Location at) { return concatenate(std::span<const Array>(parts), axis, at); }

Array stack(std::span<const Array> parts, Axis axis, Location at) {
    std::vector<Array> like = alike("stack", parts, at);
    const Shape first = like[0].shape();
    const std::int64_t over = check_axis("stack", axis.value, first.rank() + 1, like[0], at);
    Dims thin = first.dims();
    thin.insert(static_cast<std::size_t>(over), 1);
    for (Array& p : like) {
        if (!(p.shape() == first)) fail("stack", types_of(parts) + " have different shapes", at);
        p = detail::reshaped(p, Shape(thin), at);
    }
    return detail::joined(like, over, at);
}
Array stack(std::initializer_list<Array> parts, Axis axis, Location at) { return stack(std::span(parts.begin(), parts.size()), axis, at); }
Array stack(const std::vector<Array>& parts, Axis axis, Location at) { return stack(std::span<const Array>(parts), axis, at); }

std::vector<Array> split(const Operand& x, std::int64_t count, Axis axis) {
    const Location& at = x.location();
    const Array a = to_array(x);
    const std::int64_t over = check_axis("split", axis.value, a.shape().rank(), a, at);
    const std::int64_t extent = a.shape()[static_cast<std::size_t>(over)];
    if (count < 1 || extent % count != 0)
        fail("split",
             "axis " + std::to_string(over) + " of " + node(a).type().str() + " does not divide into " + std::to_string(count) +
                 " equal parts",
             at);
    std::vector<Array> parts;
    for (std::int64_t i = 0; i < count; ++i) parts.push_back(detail::sliced(a, over, i * (extent / count), (i + 1) * (extent / count), at));
    return parts;
}

Array roll(const Operand& x, std::int64_t shift, Axis axis) {
    const Location& at = x.location();
    const Array a = to_array(x);
    const std::int64_t over = check_axis("roll", axis.value, a.shape().rank(), a, at);
    const std::int64_t extent = a.shape()[static_cast<std::size_t>(over)];
    const std::int64_t by = extent ? ((shift % extent) + extent) % extent : 0;
    if (by == 0) return a;
    const Array parts[] = {detail::sliced(a, over, extent - by, extent, at), detail::sliced(a, over, 0, extent - by, at)};
    return detail::joined(parts, over, at);
}

} // namespace stithy
