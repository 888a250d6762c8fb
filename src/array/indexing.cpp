// x(...) and x.at(...).
#include "array/axes.hpp"
#include "array/elementwise.hpp"
#include "array/selection.hpp"
#include "array/shapes.hpp"
#include "ops/build.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/reductions.hpp"
#include "stithy/shaping.hpp"

#include <optional>

namespace stithy {

using detail::node;
using detail::Selection;
using ir::OpCode;
using Kind = Index::Kind;

namespace detail {
const Index& no_index() noexcept {
    static const Index none;
    return none;
}
} // namespace detail

namespace {
/// The indices that were given, of Array's eight.
struct Given {
    const Index* list[8];
    std::size_t count = 0;
    explicit Given(std::initializer_list<const Index*> all) {
        for (const Index* i : all)
            if (i->kind() != Kind::none) list[count++] = i;
    }
    [[nodiscard]] std::span<const Index* const> span() const { return {list, count}; }
};

/// How a new value joins the old: nothing for "set".
using Combine = std::optional<OpCode>;

Array combined(const char* name, Combine how, const Array& old, const Array& value, const Location& at) {
    return how ? detail::binary(name, *how, {old, at}, {value, at}) : value;
}

/// The value in the dtype of x. An array must not lose anything by it, as a number must not.
Array converted(const char* name, const Array& x, const Operand& value) {
    if (!value.is_number()) {
        const DType given = detail::node_of(value.array(), name, value.location()).dtype();
        if (promote(x.dtype(), given) != x.dtype())
            fail(name,
                 "an array of " + std::string(given.name()) + " does not fit into one of " + std::string(x.dtype().name()) +
                     "; convert it with astype",
                 value.location());
    }
    return detail::to_array(value, x.dtype(), name);
}

/// The value in the dtype of x and the shape of the place, without new axes.
Array fitted(const char* name, const Array& x, const Selection& s, const Operand& value) {
    const Array v = converted(name, x, value);
    return detail::reshaped(detail::stretch(v, s.shape, name, value.location()), s.plain_shape, value.location());
}

Array updated_window(Array x, const Array& part, const detail::Window& w, const Location& at) {
    std::vector<Array> operands;
    operands.reserve(2 + w.starts.size());
    operands.push_back(std::move(x));
    operands.push_back(part);
    operands.insert(operands.end(), w.starts.begin(), w.starts.end());
    return detail::bind1({.code = OpCode::dynamic_update_slice,
                          .operands = operands,
                          .attr = nullptr,
                          .regions = {},
                          .declared = {},
                          .location = at,
                          .dying = 1});
}

/// The place is one window: written over the old one. Out of range (index arrays of rank 0) the old stays.
Array update_window(const char* name, Array x, const Selection& s, Combine how, const Array& value, const Location& at) {
    const detail::Window w = detail::window_of(s);
    const Shape window(w.sizes);
    Array part = detail::reshaped(value, window, at);
    if (how || s.has_arrays()) {
        std::vector<Array> operands{x};
        operands.insert(operands.end(), w.starts.begin(), w.starts.end());
        const Array old = detail::bind1({.code = OpCode::dynamic_slice,
                                         .operands = operands,
                                         .attr = ir::make_attr(ir::DimsAttr{w.sizes}),
                                         .regions = {},
                                         .declared = {},
                                         .location = at});
        part = combined(name, how, old, part, at);
        Array inside;
        for (std::int64_t axis : s.array_axes) {
            const Array& i = s.axes[static_cast<std::size_t>(axis)].index;
            const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
            const Array here = Operand(Operand(i, at) >= Operand(0, at), at) & Operand(Operand(i, at) < Operand(extent, at), at);
            inside = inside.defined() ? Operand(inside, at) & Operand(here, at) : here;
        }
        if (inside.defined()) part = where({inside, at}, {part, at}, {old, at});
    }
    return updated_window(std::move(x), part, w, at);
}

/// The place has strides: the value is spread by padding, and a mask says where it counts.
Array update_strided(const char* name, const Array& x, const Selection& s, Combine how, const Array& value, const Location& at) {
    Dims low, high, interior, window;
    for (std::size_t i = 0; i < s.axes.size(); ++i) {
        const detail::AxisSelection& a = s.axes[i];
        const std::int64_t width = a.count == 0 ? 0 : (a.count - 1) * a.step + 1;
        low.push_back(a.start);
        high.push_back(x.shape()[i] - a.start - width);
        interior.push_back(a.step - 1);
        window.push_back(a.count);
    }
    const Array part = detail::reshaped(value, Shape(window), at);
    const auto spread = [&](const Array& v) { return detail::padded(v, detail::scalar(v.dtype(), 0, at), low, high, interior, at); };
    const Array mask = spread(detail::constant(ir::Literal::splat(ir::Type(boolean, Shape(window)), 1), at));
    return where({mask, at}, {combined(name, how, x, spread(part), at), at}, {x, at});
}

/// Index arrays: a scatter. Windows that do not lie inside are dropped.
Array update_scattered(Array x, const Selection& s, Combine how, const Array& value, const Location& at) {
    ir::ScatterAttr attr;
    std::vector<Array> components;
    std::int64_t place = -1, windows = 0;
    for (std::size_t i = 0; i < s.axes.size(); ++i) {
        const detail::AxisSelection& a = s.axes[i];
        const auto axis = static_cast<std::int64_t>(i);
        const bool gone = a.kind != Kind::range;
        if (gone || a.count != x.shape()[i]) {
            components.push_back(a.kind == Kind::array ? a.index : detail::scalar(i32, a.start, at));
            attr.scatter_dims_to_operand_dims.push_back(axis);
        }
        if (gone) {
            if (place < 0 && !s.batch_first) place = windows;
            attr.inserted_window_dims.push_back(axis);
        } else
            attr.update_window_dims.push_back(windows++);
    }
    if (place < 0) place = 0;
    for (std::int64_t& d : attr.update_window_dims)
        if (d >= place) d += static_cast<std::int64_t>(s.batch.rank());
    attr.index_vector_dim = static_cast<std::int64_t>(s.batch.rank());
    const DType dtype = x.dtype();
    const ir::FunctionPtr region = how ? ops::combiner_region(*how, dtype) : ops::second_region(dtype);
    const Array operands[] = {std::move(x), detail::joined_indices(components, s.batch, at), value};
    return detail::bind1({.code = OpCode::scatter,
                          .operands = operands,
                          .attr = ir::make_attr(std::move(attr)),
                          .regions = {&region, 1},
                          .declared = {},
                          .location = at,
                          .dying = 1});
}

Array update(const char* name, Array x, std::span<const Index> indices, Combine how, const Operand& value) {
    std::vector<const Index*> list;
    for (const Index& i : indices) list.push_back(&i);
    const Selection s = detail::select(x, list);
    const Location& at = value.location();
    const Array v = fitted(name, x, s, value);
    if (s.plain_shape.elements() == 0) return x;
    if (!s.has_arrays()) return s.strided ? update_strided(name, x, s, how, v, at) : update_window(name, std::move(x), s, how, v, at);
    if (s.strided) fail(name, "a range with a step does not go together with index arrays", at);
    if (s.scalar_arrays) return update_window(name, std::move(x), s, how, v, at);
    return update_scattered(std::move(x), s, how, v, at);
}
} // namespace

Array Array::operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4, const Index& i5,
                        const Index& i6, const Index& i7) const {
    const Given given({&i0, &i1, &i2, &i3, &i4, &i5, &i6, &i7});
    detail::node_of(*this, "indexing", i0.location());
    return detail::pick(*this, detail::select(*this, given.span()));
}

Update Array::at(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4, const Index& i5, const Index& i6,
                 const Index& i7) const& {
    const Given given({&i0, &i1, &i2, &i3, &i4, &i5, &i6, &i7});
    detail::node_of(*this, "at", i0.location());
    return {*this, given.span()};
}

Update Array::at(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4, const Index& i5, const Index& i6,
                 const Index& i7) && {
    const Given given({&i0, &i1, &i2, &i3, &i4, &i5, &i6, &i7});
    detail::node_of(*this, "at", i0.location());
    return {std::move(*this), given.span()};
}

Update::Update(Array x, std::span<const Index* const> indices) : x_(std::move(x)) {
    for (const Index* i : indices) indices_.push_back(*i);
}

Array Update::set(const Operand& value) && { return update("at().set", std::move(x_), indices_, std::nullopt, value); }
Array Update::add(const Operand& value) && { return update("at().add", std::move(x_), indices_, OpCode::add, value); }
Array Update::multiply(const Operand& value) && { return update("at().multiply", std::move(x_), indices_, OpCode::multiply, value); }
Array Update::min(const Operand& value) && { return update("at().min", std::move(x_), indices_, OpCode::minimum, value); }
Array Update::max(const Operand& value) && { return update("at().max", std::move(x_), indices_, OpCode::maximum, value); }

Array Update::subtract(const Operand& value) && {
    const Array v = converted("at().subtract", x_, value);
    const Array opposite = -Operand(v, value.location());
    return update("at().subtract", std::move(x_), indices_, OpCode::add, {opposite, value.location()});
}

Array Update::divide(const Operand& value) && {
    if (!x_.dtype().is_floating()) fail("at().divide", "needs a floating dtype, given " + node(x_).type().str(), value.location());
    const Array v = converted("at().divide", x_, value);
    const Array inverse = Operand(1.0, value.location()) / Operand(v, value.location());
    return update("at().divide", std::move(x_), indices_, OpCode::multiply, {inverse, value.location()});
}

Array Update::get() const {
    std::vector<const Index*> list;
    for (const Index& i : indices_) list.push_back(&i);
    return detail::pick(x_, detail::select(x_, list));
}

Array take(const Operand& x, const Operand& indices, Axis axis) {
    const Array a = detail::to_array(x);
    const std::int64_t over = detail::check_axis("take", axis.value, a.shape().rank(), a, x.location());
    const Index whole(all, x.location()), picked(detail::to_array(indices), x.location());
    std::vector<const Index*> list(static_cast<std::size_t>(over), &whole);
    list.push_back(&picked);
    return detail::pick(a, detail::select(a, list));
}

} // namespace stithy
