#include "stithy/shaping.hpp"

#include "array/axes.hpp"
#include "array/elementwise.hpp"
#include "array/shapes.hpp"
#include "stithy/creation.hpp"
#include "stithy/elementwise.hpp"

namespace stithy {

using detail::all_axes;
using detail::check_axes;
using detail::check_axis;
using detail::node;
using detail::permuted;
using detail::reshaped;
using detail::to_array;

namespace {
/// The shape with its -1 filled in.
Shape resolved(const Array& x, const Shape& wanted, const Location& at) {
    const std::int64_t have = node(x).shape().elements();
    std::int64_t open = -1;
    Shape given = wanted; // with 1 for the -1
    for (std::size_t i = 0; i < wanted.rank(); ++i) {
        if (wanted[i] == -1 && open < 0) {
            open = static_cast<std::int64_t>(i);
            given.dims()[i] = 1;
        } else if (wanted[i] < 0)
            fail("reshape", "the shape " + wanted.str() + " has " + (wanted[i] == -1 ? "more than one -1" : "a negative extent"), at);
    }
    detail::check_extents("reshape", node(x).dtype(), given, at);
    const std::int64_t known = given.elements();
    const bool fits = open < 0 ? known == have : known != 0 && have % known == 0;
    if (!fits)
        fail("reshape",
             node(x).type().str() + " has " + std::to_string(have) + " elements, the shape " + wanted.str() + " holds " +
                 (open < 0 ? std::to_string(known) : "a multiple of " + std::to_string(known)),
             at);
    Shape shape = wanted;
    if (open >= 0) shape.dims()[static_cast<std::size_t>(open)] = have / known;
    return shape;
}
} // namespace

Array reshape(const Operand& x, const Shape& shape) {
    const Array a = to_array(x);
    const Shape full_shape = resolved(a, shape, x.location());
    return reshaped(a, full_shape, x.location());
}

Array ravel(const Operand& x) { return reshape(x, Shape({-1})); }

Array transpose(const Operand& x) {
    const Array a = to_array(x);
    Dims order = all_axes(a.shape().rank());
    std::reverse(order.begin(), order.end());
    return permuted(a, order, x.location());
}

Array transpose(const Operand& x, const Axes& axes) {
    const Array a = to_array(x);
    const std::size_t rank = a.shape().rank();
    if (axes.all()) return transpose(x);
    Dims order;
    for (std::int64_t axis : axes.dims()) order.push_back(check_axis("transpose", axis, rank, a, x.location()));
    Dims sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (!(sorted == all_axes(rank)))
        fail("transpose", "the axes " + Shape(axes.dims()).str() + " are no order of all axes of " + node(a).type().str(), x.location());
    return permuted(a, order, x.location());
}

Array Array::T(Location at) const {
    detail::node_of(*this, "T", at);
    return transpose({*this, at});
}

Array Array::mT(Location at) const {
    const Shape& s = detail::node_of(*this, "mT", at).shape();
    if (s.rank() < 2) fail("mT", "needs rank 2 or more, given " + node(*this).type().str(), at);
    return swapaxes({*this, at}, -1, -2);
}

Array swapaxes(const Operand& x, Axis a, Axis b) {
    const Array source = to_array(x);
    const std::size_t rank = source.shape().rank();
    Dims order = all_axes(rank);
    std::swap(order[static_cast<std::size_t>(check_axis("swapaxes", a.value, rank, source, x.location()))],
              order[static_cast<std::size_t>(check_axis("swapaxes", b.value, rank, source, x.location()))]);
    return permuted(source, order, x.location());
}

Array moveaxis(const Operand& x, Axis from, Axis to) {
    const Array a = to_array(x);
    const std::size_t rank = a.shape().rank();
    return detail::moved(a, check_axis("moveaxis", from.value, rank, a, x.location()),
                         check_axis("moveaxis", to.value, rank, a, x.location()), x.location());
}

Array squeeze(const Operand& x, const Axes& axes) {
    const Array a = to_array(x);
    Dims gone;
    if (axes.all()) {
        for (std::size_t i = 0; i < a.shape().rank(); ++i)
            if (a.shape()[i] == 1) gone.push_back(static_cast<std::int64_t>(i));
    } else {
        gone = check_axes("squeeze", axes, a, x.location());
        for (std::int64_t axis : gone)
            if (a.shape()[static_cast<std::size_t>(axis)] != 1)
                fail("squeeze", "axis " + std::to_string(axis) + " of " + node(a).type().str() + " has another extent than 1",
                     x.location());
    }
    return reshaped(a, detail::without_axes(a.shape(), gone, false), x.location());
}

Array expand_dims(const Operand& x, const Axes& axes) {
    const Array a = to_array(x);
    const std::size_t rank = a.shape().rank() + axes.dims().size();
    Dims places;
    for (std::int64_t axis : axes.dims()) places.push_back(check_axis("expand_dims", axis, rank, a, x.location()));
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) fail("expand_dims", "an axis is given twice", x.location());
    Dims shape = a.shape().dims();
    for (std::int64_t place : places) shape.insert(static_cast<std::size_t>(place), 1);
    return reshaped(a, Shape(std::move(shape)), x.location());
}

Array broadcast_to(const Operand& x, const Shape& shape) { return detail::stretch(to_array(x), shape, "broadcast_to", x.location()); }

Array flip(const Operand& x, const Axes& axes) {
    const Array a = to_array(x);
    const Dims over = check_axes("flip", axes, a, x.location());
    if (over.empty()) return a;
    return detail::bind1(ir::OpCode::reverse, {a}, ir::make_attr(ir::DimsAttr{over}), x.location());
}

Array pad(const Operand& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths, const Operand& value) {
    const Array a = to_array(x);
    if (widths.size() != a.shape().rank())
        fail("pad", std::to_string(widths.size()) + " pairs of widths for " + node(a).type().str() + "; one for each axis is expected",
             x.location());
    Dims low, high;
    for (const auto& [before, after] : widths) {
        if (before < 0 || after < 0) fail("pad", "a width is negative", x.location());
        low.push_back(before);
        high.push_back(after);
    }
    return detail::padded(a, to_array(value, a.dtype(), "pad"), low, high, Dims(low.size(), 0), x.location());
}

Array tile(const Operand& x, const Shape& counts) {
    const Location& at = x.location();
    Array a = to_array(x);
    Dims times = counts.dims(), shape = a.shape().dims();
    while (times.size() < shape.size()) times.insert(0, 1);
    while (shape.size() < times.size()) shape.insert(0, 1);
    // [n, m] -> [1, n, 1, m] -> [a, n, b, m] -> [a n, b m]
    Dims split, wide, whole;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (times[i] < 0) fail("tile", "the counts " + counts.str() + " have a negative one", at);
        for (std::int64_t e : {std::int64_t{1}, shape[i]}) split.push_back(e);
        for (std::int64_t e : {times[i], shape[i]}) wide.push_back(e);
    }
    a = detail::stretch(reshaped(a, Shape(split), at), Shape(wide), "tile", at);
    for (std::size_t i = 0; i < shape.size(); ++i) whole.push_back(times[i] * shape[i]);
    return reshaped(a, Shape(whole), at);
}

Array repeat(const Operand& x, std::int64_t count, Axis axis) {
    const Location& at = x.location();
    const Array a = to_array(x);
    const auto over = static_cast<std::size_t>(check_axis("repeat", axis.value, a.shape().rank(), a, at));
    if (count < 0) fail("repeat", "the count " + std::to_string(count) + " is negative", at);
    Dims thin = a.shape().dims(), whole = thin;
    thin.insert(over + 1, 1);
    Dims wide = thin;
    wide[over + 1] = count;
    const Array stretched = detail::stretch(reshaped(a, Shape(thin), at), Shape(wide), "repeat", at);
    whole[over] *= count;
    return reshaped(stretched, Shape(whole), at);
}

Array diag(const Operand& x) {
    const Location& at = x.location();
    const Array a = to_array(x);
    const Shape& shape = a.shape();
    if (shape.rank() == 1) {
        const Shape square({shape[0], shape[0]});
        const Array on = Operand(detail::counter(i64, square, 0, at), at) == Operand(detail::counter(i64, square, 1, at), at);
        return where({on, at}, {a, at}, {0, at});
    }
    if (shape.rank() != 2) fail("diag", "needs rank 1 or 2, given " + node(a).type().str(), at);
    // Row-major, the diagonal is every (m + 1)-th element.
    const std::int64_t n = std::min(shape[0], shape[1]), step = shape[1] + 1;
    if (n == 0) return zeros(Shape({0}), a.dtype(), at);
    const Array flat = reshaped(a, Shape({a.size()}), at);
    return detail::sliced(flat, Dims(1, 0), Dims(1, (n - 1) * step + 1), Dims(1, step), at);
}

} // namespace stithy
