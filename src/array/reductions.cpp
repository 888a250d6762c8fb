#include "stithy/reductions.hpp"

#include "array/axes.hpp"
#include "array/bind.hpp"
#include "array/elementwise.hpp"
#include "array/shapes.hpp"
#include "ops/build.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/shaping.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace stithy {

using detail::check_axes;
using detail::node;
using detail::reduced;
using ir::OpCode;

namespace {
std::int64_t count_of(const Shape& shape, const Dims& axes) {
    std::int64_t n = 1;
    for (std::int64_t a : axes) n *= shape[static_cast<std::size_t>(a)];
    return n;
}

/// Sums of small integers would overflow at once.
DType sum_dtype(DType d) {
    if (d.is_bool() || (d.is_signed() && d.size() < 4)) return i32;
    if (d.is_unsigned() && d.size() < 4) return u32;
    return d;
}

Array accumulated(const char* name, OpCode combine, const Operand& x, const Axes& axes, KeepDims keep) {
    const Array a = detail::to_array(x);
    const Dims over = check_axes(name, axes, a, x.location());
    return reduced(combine, a.astype(sum_dtype(a.dtype()), x.location()), over, keep.value, x.location());
}

Array extremum(const char* name, OpCode combine, const Operand& x, const Axes& axes, KeepDims keep) {
    const Array a = detail::to_array(x);
    const Dims over = check_axes(name, axes, a, x.location());
    if (count_of(a.shape(), over) == 0) fail(name, node(a).type().str() + " has no element to give along the reduced axes", x.location());
    return reduced(combine, a, over, keep.value, x.location());
}

Array truth(const Array& a, const Location& at) { return a.dtype().is_bool() ? a : Operand(a, at) != Operand(0, at); }

Array real(const Operand& x) {
    const Array a = detail::to_array(x);
    return a.dtype().is_floating() ? a : a.astype(f64, x.location());
}

/// The greatest element along axes (kept), 0 where that is infinite or NaN: what exponentials are taken relative to.
Array reference_point(const Array& a, const Dims& axes, const Location& at) {
    const Array fixed = stop_gradient({a, at});
    const Array high = reduced(OpCode::maximum, fixed, axes, true, at);
    return where({isfinite({high, at}), at}, {high, at}, {0.0, at});
}
} // namespace

Array sum(const Operand& x, const Axes& axes, KeepDims keep) { return accumulated("sum", OpCode::add, x, axes, keep); }
Array prod(const Operand& x, const Axes& axes, KeepDims keep) { return accumulated("prod", OpCode::multiply, x, axes, keep); }
Array max(const Operand& x, const Axes& axes, KeepDims keep) { return extremum("max", OpCode::maximum, x, axes, keep); }
Array min(const Operand& x, const Axes& axes, KeepDims keep) { return extremum("min", OpCode::minimum, x, axes, keep); }

Array mean(const Operand& x, const Axes& axes, KeepDims keep) {
    const Location& at = x.location();
    const Array a = real(x);
    const Dims over = check_axes("mean", axes, a, at);
    const double n = static_cast<double>(count_of(a.shape(), over));
    return Operand(reduced(OpCode::add, a, over, keep.value, at), at) / Operand(n, at);
}

Array var(const Operand& x, const Axes& axes, KeepDims keep, int ddof) {
    const Location& at = x.location();
    const Array a = real(x);
    const Dims over = check_axes("var", axes, a, at);
    const double n = static_cast<double>(count_of(a.shape(), over));
    const Array middle = Operand(reduced(OpCode::add, a, over, true, at), at) / Operand(n, at);
    const Array squares = square({Operand(a, at) - Operand(middle, at), at});
    return Operand(reduced(OpCode::add, squares, over, keep.value, at), at) / Operand(n - ddof, at);
}

Array std(const Operand& x, const Axes& axes, KeepDims keep, int ddof) { return sqrt({var(x, axes, keep, ddof), x.location()}); }

Array logsumexp(const Operand& x, const Axes& axes, KeepDims keep) {
    const Location& at = x.location();
    const Array a = real(x);
    const Dims over = check_axes("logsumexp", axes, a, at);
    if (count_of(a.shape(), over) == 0) fail("logsumexp", node(a).type().str() + " has no element along the reduced axes", at);
    const Array point = reference_point(a, over, at);
    const Array total = reduced(OpCode::add, exp({Operand(a, at) - Operand(point, at), at}), over, true, at);
    const Array result = Operand(log({total, at}), at) + Operand(point, at);
    return keep.value ? result : detail::reshaped(result, detail::without_axes(a.shape(), over, false), at);
}

Array norm(const Operand& x, const Axes& axes, KeepDims keep) {
    const Location& at = x.location();
    const Array a = real(x);
    return sqrt({reduced(OpCode::add, square({a, at}), check_axes("norm", axes, a, at), keep.value, at), at});
}

Array any(const Operand& x, const Axes& axes, KeepDims keep) {
    const Array a = detail::to_array(x);
    return reduced(OpCode::or_, truth(a, x.location()), check_axes("any", axes, a, x.location()), keep.value, x.location());
}

Array All::operator()(const Operand& x, const Axes& axes, KeepDims keep) const {
    const Array a = detail::to_array(x);
    return reduced(OpCode::and_, truth(a, x.location()), check_axes("all", axes, a, x.location()), keep.value, x.location());
}

Array count_nonzero(const Operand& x, const Axes& axes, KeepDims keep) {
    const Array a = detail::to_array(x);
    const Dims over = check_axes("count_nonzero", axes, a, x.location());
    return reduced(OpCode::add, truth(a, x.location()).astype(i32, x.location()), over, keep.value, x.location());
}

namespace {
Array place_of_extremum(const char* name, OpCode combine, const Array& a, std::int64_t axis, bool keep, const Location& at) {
    const Dims over(1, axis);
    const std::int64_t extent = a.shape()[static_cast<std::size_t>(axis)];
    if (extent == 0) fail(name, node(a).type().str() + " has no element along axis " + std::to_string(axis), at);
    const Array best = reduced(combine, a, over, true, at);
    Array hit = Operand(a, at) == Operand(best, at);
    if (a.dtype().is_floating()) hit = Operand(hit, at) | Operand(isnan({a, at}), at);
    const Array place = detail::counter(i32, a.shape(), axis, at);
    const Array candidates = where({hit, at}, {place, at}, {static_cast<std::int32_t>(extent), at});
    return reduced(OpCode::minimum, candidates, over, keep, at);
}

Array place_of_extremum(const char* name, OpCode combine, const Operand& x, std::optional<std::int64_t> axis, bool keep) {
    const Array a = stop_gradient(x);
    const Location& at = x.location();
    if (axis) return place_of_extremum(name, combine, a, detail::check_axis(name, *axis, a.shape().rank(), a, at), keep, at);
    return place_of_extremum(name, combine, detail::reshaped(a, Shape({a.size()}), at), 0, false, at);
}
} // namespace

Array argmax(const Operand& x) { return place_of_extremum("argmax", OpCode::maximum, x, std::nullopt, false); }
Array argmax(const Operand& x, Axis axis, KeepDims keep) { return place_of_extremum("argmax", OpCode::maximum, x, axis.value, keep.value); }
Array argmin(const Operand& x) { return place_of_extremum("argmin", OpCode::minimum, x, std::nullopt, false); }
Array argmin(const Operand& x, Axis axis, KeepDims keep) { return place_of_extremum("argmin", OpCode::minimum, x, axis.value, keep.value); }

Array softmax(const Operand& x, Axis axis) {
    const Location& at = x.location();
    const Array a = real(x);
    const Dims over(1, detail::check_axis("softmax", axis.value, a.shape().rank(), a, at));
    const Array e = exp({Operand(a, at) - Operand(reference_point(a, over, at), at), at});
    return Operand(e, at) / Operand(reduced(OpCode::add, e, over, true, at), at);
}

Array log_softmax(const Operand& x, Axis axis) {
    const Location& at = x.location();
    const Array a = real(x);
    const Dims over(1, detail::check_axis("log_softmax", axis.value, a.shape().rank(), a, at));
    const Array shifted = Operand(a, at) - Operand(reference_point(a, over, at), at);
    const Array total = reduced(OpCode::add, exp({shifted, at}), over, true, at);
    return Operand(shifted, at) - Operand(log({total, at}), at);
}

namespace {
/// One step of a running sum: (counter, carried, slice) -> (combined, combined).
ir::FunctionPtr running_step(OpCode combine, const ir::Type& type, const Location& at) {
    ops::LocationScope scope(at);
    ir::Builder b(std::string(ir::name(combine)));
    b.parameter(ir::Type(i64, Shape()));
    const ops::Value carried(b, b.parameter(type)), x(b, b.parameter(type));
    const ops::Value both[] = {carried, x};
    const ir::ValueId combined = ops::emit1(b, combine, both).id();
    return b.finish({combined, combined});
}

/// A loop over the axis, so that the code is the same for any extent.
Array running(const char* name, OpCode combine, const Operand& x, Axis axis) {
    const Location& at = x.location();
    Array a = detail::to_array(x);
    a = a.astype(sum_dtype(a.dtype()), at);
    const std::int64_t over = detail::check_axis(name, axis.value, a.shape().rank(), a, at);
    if (over != 0) a = moveaxis({a, at}, over, 0);
    Dims rest = a.shape().dims();
    rest.erase(0);
    ir::LoopAttr attr;
    attr.length = a.shape()[0];
    attr.carries = attr.xs = attr.ys = 1;
    const ir::FunctionPtr body = running_step(combine, ir::Type(a.dtype(), Shape(rest)), at);
    const Array operands[] = {detail::make_splat(a.dtype(), Shape(rest), ops::identity_literal(combine, a.dtype()).bits(), at), a};
    Array result = detail::bind({.code = OpCode::loop,
                                 .operands = operands,
                                 .attr = ir::make_attr(attr),
                                 .regions = {&body, 1},
                                 .declared = {},
                                 .location = at})[1];
    return over == 0 ? result : moveaxis({result, at}, 0, over);
}
} // namespace

Array cumsum(const Operand& x, Axis axis) { return running("cumsum", OpCode::add, x, axis); }
Array cumprod(const Operand& x, Axis axis) { return running("cumprod", OpCode::multiply, x, axis); }

} // namespace stithy
