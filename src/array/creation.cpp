#include "stithy/creation.hpp"

#include "array/elementwise.hpp"
#include "array/fill.hpp"
#include "array/numbers.hpp"
#include "array/shapes.hpp"
#include "stithy/elementwise.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace stithy {

using detail::check_extents;
using detail::innermost_staging;

namespace {
/// Larger arrays of data stay buffers when they are made inside a staged function.
constexpr std::size_t most_literal_bytes = 65536;

Array splat(const char* name, const Shape& shape, DType dtype, std::uint64_t bits, const Location& at) {
    check_extents(name, dtype, shape, at);
    return detail::constant(ir::Literal::splat_bits(ir::Type(dtype, shape), bits), at);
}

/// Counter along an axis of a shape, of an integer or floating dtype.
Array iota(DType dtype, const Shape& shape, std::int64_t axis, const Location& at) {
    return detail::bind_as({dtype, shape}, ir::OpCode::iota, {}, ir::make_attr(ir::DimAttr{axis}), at);
}
} // namespace

namespace detail {
Array array_of(DType dtype, const Shape& shape, const void* data, std::size_t elements, const Location& at) {
    check_extents("array", dtype, shape, at);
    if (shape.elements() != static_cast<std::int64_t>(elements))
        fail("array",
             std::to_string(elements) + " numbers do not fill the shape " + shape.str() + ", which holds " +
                 std::to_string(shape.elements()),
             at);
    const std::size_t bytes = elements * dtype.size();
    if (innermost_staging() && bytes <= most_literal_bytes) {
        const auto* first = static_cast<const std::byte*>(data);
        return constant(ir::Literal::dense(ir::Type(dtype, shape), std::vector<std::byte>(first, first + bytes)), at);
    }
    auto buffer = name_shortage("array", at, [&] { return runtime::Buffer::allocate(bytes); });
    if (bytes) std::memcpy(buffer->data(), data, bytes);
    return make_concrete(dtype, shape, std::move(buffer), at);
}

void fail_ragged(const Location& at) { fail("array", "nested lists of one level have different lengths", at); }

namespace {
/// start, start + step, ...: staged where operations are, else written by `write`.
Array ranged(DType dtype, std::int64_t count, const ir::Literal& start, const ir::Literal& step, std::function<void(void*)> write,
             const Location& at) {
    check_extents("arange", dtype, Shape({count}), at);
    if (!innermost_staging()) return make_concrete(dtype, Shape({count}), written_buffer("arange", dtype, count, std::move(write), at), at);
    Array result = iota(dtype, Shape({count}), 0, at);
    if (step.element_as_double(0) != 1) result = Operand(result, at) * Operand(constant(step, at), at);
    if (start.element_as_double(0) != 0) result = Operand(result, at) + Operand(constant(start, at), at);
    return result;
}
} // namespace

Array arange_of(DType dtype, double start, double stop, double step, const Location& at) {
    if (step == 0 || std::isnan(start) || std::isnan(stop) || std::isnan(step))
        fail("arange", "the step must not be 0 and no bound NaN", at);
    const double steps = std::max(0.0, std::ceil((stop - start) / step));
    const auto count = steps < 9e18 ? static_cast<std::int64_t>(steps) : std::numeric_limits<std::int64_t>::max();
    const ir::Type one(dtype, Shape());
    return ranged(
        dtype, count, ir::Literal::splat(one, start), ir::Literal::splat(one, step),
        [=](void* data) { write_range(data, dtype, count, start, step); }, at);
}

Array arange_of_integers(DType dtype, std::uint64_t start, std::uint64_t stop, std::uint64_t step, const Location& at) {
    if (step == 0) fail("arange", "the step must not be 0 and no bound NaN", at);
    const bool down = dtype.is_signed() && static_cast<std::int64_t>(step) < 0;
    const auto before = [&](std::uint64_t a, std::uint64_t b) {
        return dtype.is_signed() ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
    };
    std::uint64_t steps = 0;
    if (down ? before(stop, start) : before(start, stop)) {
        const std::uint64_t distance = down ? start - stop : stop - start, size = down ? 0 - step : step;
        steps = distance / size + (distance % size != 0 ? 1 : 0);
    }
    const auto count = static_cast<std::int64_t>(std::min(steps, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
    const ir::Type one(dtype, Shape());
    return ranged(
        dtype, count, ir::Literal::splat_bits(one, start), ir::Literal::splat_bits(one, step),
        [=](void* data) { write_integers(data, dtype, count, start, step); }, at);
}
} // namespace detail

template <std::same_as<bool> T>
Array array(const std::vector<T>& values, Location at) {
    std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return detail::array_of(boolean, Shape({bytes.size()}), bytes.data(), bytes.size(), at);
}
template Array array<bool>(const std::vector<bool>&, Location);

Array zeros(const Shape& shape, DType dtype, Location at) { return splat("zeros", shape, dtype, 0, at); }
Array ones(const Shape& shape, DType dtype, Location at) { return splat("ones", shape, dtype, ir::bits_of(dtype, 1), at); }
Array empty(const Shape& shape, DType dtype, Location at) { return splat("empty", shape, dtype, 0, at); }

Array full(const Shape& shape, const Operand& value) {
    return full(shape, value, value.is_number() ? value.number_dtype() : detail::node_of(value.array(), "full", value.location()).dtype());
}

Array full(const Shape& shape, const Operand& value, DType dtype) {
    check_extents("full", dtype, shape, value.location());
    if (value.is_number()) return splat("full", shape, dtype, detail::number_as(value, dtype, "full"), value.location());
    return detail::stretch(detail::to_array(value, dtype, "full"), shape, "full", value.location());
}

Array zeros_like(const Operand& x) { return zeros_like(x, detail::to_array(x).dtype()); }
Array ones_like(const Operand& x) { return ones_like(x, detail::to_array(x).dtype()); }
Array zeros_like(const Operand& x, DType dtype) { return splat("zeros_like", detail::to_array(x).shape(), dtype, 0, x.location()); }
Array ones_like(const Operand& x, DType dtype) {
    return splat("ones_like", detail::to_array(x).shape(), dtype, ir::bits_of(dtype, 1), x.location());
}

Array full_like(const Operand& x, const Operand& value) {
    const Array like = detail::to_array(x);
    return full(like.shape(), value, like.dtype());
}

Array eye(std::int64_t n, DType dtype, Location at) { return eye(n, n, dtype, at); }

Array eye(std::int64_t n, std::int64_t m, DType dtype, Location at) {
    const Shape shape({n, m});
    check_extents("eye", dtype, shape, at);
    if (innermost_staging()) {
        const Array same = Operand(iota(i64, shape, 0, at), at) == Operand(iota(i64, shape, 1, at), at);
        return same.astype(dtype, at);
    }
    const std::uint64_t one = ir::bits_of(dtype, 1);
    auto buffer = detail::written_buffer(
        "eye", dtype, shape.elements(),
        [=](void* memory) {
            detail::write_equal(memory, dtype, shape.elements(), 0);
            auto* data = static_cast<std::byte*>(memory);
            for (std::int64_t i = 0; i < std::min(n, m); ++i)
                std::memcpy(data + static_cast<std::size_t>(i * (m + 1)) * dtype.size(), &one, dtype.size());
        },
        at);
    return detail::make_concrete(dtype, shape, std::move(buffer), at);
}

Array linspace(double start, double stop, std::int64_t count, DType dtype, Location at) {
    if (count < 0) fail("linspace", "the count " + std::to_string(count) + " is negative", at);
    if (!dtype.is_floating()) fail("linspace", "needs a floating dtype, given " + std::string(dtype.name()), at);
    check_extents("linspace", dtype, Shape({count}), at);
    const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
    if (!innermost_staging()) {
        const std::uint64_t last = ir::bits_of(dtype, stop);
        auto buffer = detail::written_buffer(
            "linspace", dtype, count,
            [=](void* memory) {
                detail::write_range(memory, dtype, count, start, step);
                if (count > 1)
                    std::memcpy(static_cast<std::byte*>(memory) + static_cast<std::size_t>(count - 1) * dtype.size(), &last, dtype.size());
            },
            at);
        return detail::make_concrete(dtype, Shape({count}), std::move(buffer), at);
    }
    const Array i = iota(i64, Shape({count}), 0, at);
    const Array wide = i.astype(f64, at);
    const Array values = Operand(Operand(wide, at) * Operand(step, at), at) + Operand(start, at);
    if (count < 2) return values.astype(dtype, at);
    return where({Operand(i, at) == Operand(count - 1, at), at}, {stop, at}, {values, at}).astype(dtype, at);
}

namespace {
/// x where row + k (>= or <=) column, else 0.
Array triangle(const char* name, const Operand& x, std::int64_t k, bool lower) {
    const Location& at = x.location();
    const Array a = detail::to_array(x);
    const Shape& shape = a.shape();
    if (shape.rank() < 2) fail(name, "needs rank 2 or more, given " + detail::node(a).type().str(), at);
    const Shape last({shape[shape.rank() - 2], shape[shape.rank() - 1]});
    const Array row = Operand(iota(i64, last, 0, at), at) + Operand(k, at), column = iota(i64, last, 1, at);
    const Array keep = lower ? Operand(row, at) >= Operand(column, at) : Operand(row, at) <= Operand(column, at);
    return where({keep, at}, {a, at}, {0, at});
}
} // namespace

Array tril(const Operand& x, std::int64_t k) { return triangle("tril", x, k, true); }
Array triu(const Operand& x, std::int64_t k) { return triangle("triu", x, k, false); }

} // namespace stithy
