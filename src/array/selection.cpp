#include "array/selection.hpp"

#include "array/elementwise.hpp"
#include "array/shapes.hpp"
#include "stithy/elementwise.hpp"

namespace stithy::detail {

namespace {
using Kind = Index::Kind;
constexpr const char* name = "indexing";

[[noreturn]] void fail_index(const Array& x, const std::string& text, const Location& at) {
    fail(name, text + " of " + node(x).type().str(), at);
}

std::int64_t resolve(const Place& place, std::int64_t extent) {
    return place.from_end || place.value < 0 ? place.value + extent : place.value;
}

AxisSelection integer_selection(const Array& x, const Index& index, std::size_t axis, std::int64_t extent) {
    const Place& place = index.range().start;
    const std::int64_t i = resolve(place, extent);
    if (i < 0 || i >= extent) {
        const std::string given =
            place.from_end ? "end" + (place.value ? std::string(place.value < 0 ? " - " : " + ") + std::to_string(std::abs(place.value))
                                                  : std::string())
                           : std::to_string(place.value);
        fail_index(x, "index " + given + " is out of range for axis " + std::to_string(axis) + " of extent " + std::to_string(extent),
                   index.location());
    }
    return {.kind = Kind::integer, .start = i, .count = 1, .step = 1, .index = {}};
}

AxisSelection range_selection(const Index& index, std::int64_t extent) {
    const Range& r = index.range();
    if (r.step <= 0)
        fail(name, "the step " + std::to_string(r.step) + " of a range must be positive; use flip() to go backwards", index.location());
    const std::int64_t start = std::clamp(resolve(r.start, extent), std::int64_t{0}, extent),
                       stop = std::clamp(resolve(r.stop, extent), std::int64_t{0}, extent);
    const std::int64_t count = stop > start ? (stop - start + r.step - 1) / r.step : 0;
    return {.kind = Kind::range, .start = start, .count = count, .step = count > 1 ? r.step : 1, .index = {}};
}

/// As i32 or i64, with negative indices counted from the end.
Array normalised(const Array& index, std::int64_t extent, const Location& at) {
    const DType d = index.dtype();
    if (d.is_bool()) fail(name, "a mask selects a number of elements that is not known beforehand; choose with where(mask, a, b)", at);
    if (!d.is_integer()) fail(name, "an index array must hold integers, given " + node(index).type().str(), at);
    const bool wide = d == i64 || d == u32 || d == u64;
    const Array signed_index = index.astype(wide ? i64 : i32, at);
    if (d.is_unsigned()) return signed_index;
    return where({Operand(signed_index, at) < Operand(0, at), at}, {Operand(signed_index, at) + Operand(extent, at), at},
                 {signed_index, at});
}

bool consumes_axis(const Index& i) { return i.kind() != Kind::new_axis && i.kind() != Kind::dots; }

/// Walks the indices and fills the selection.
class Selector {
public:
    Selector(const Array& x, std::span<const Index* const> indices) : x_(x), indices_(indices) {}

    Selection run() {
        const std::size_t rank = x_.shape().rank();
        std::size_t used = 0, dots = 0;
        for (const Index* i : indices_) {
            used += consumes_axis(*i);
            dots += i->kind() == Kind::dots;
        }
        result_.location = indices_.empty() ? Location() : indices_[0]->location();
        if (used > rank) fail_index(x_, std::to_string(used) + " indices for the " + std::to_string(rank) + " axes", result_.location);
        if (dots > 1) fail(name, "more than one ellipsis", result_.location);
        for (const Index* i : indices_) {
            if (i->kind() == Kind::dots)
                add_whole(rank - used);
            else
                add(*i);
        }
        if (dots == 0) add_whole(rank - used);
        finish();
        return std::move(result_);
    }

private:
    struct Part {
        enum What : std::uint8_t { range, advanced, new_axis } what;
        std::int64_t extent;
        bool is_array;
    };

    void add_whole(std::size_t count) {
        for (; count > 0; --count) {
            const std::int64_t extent = x_.shape()[result_.axes.size()];
            result_.axes.push_back({.kind = Kind::range, .start = 0, .count = extent, .step = 1, .index = {}});
            parts_.push_back({Part::range, extent, false});
        }
    }

    void add(const Index& index) {
        if (index.kind() == Kind::new_axis) {
            parts_.push_back({Part::new_axis, 1, false});
            return;
        }
        if (index.kind() == Kind::all) return add_whole(1);
        const std::size_t axis = result_.axes.size();
        const std::int64_t extent = x_.shape()[axis];
        if (index.kind() == Kind::integer) {
            result_.axes.push_back(integer_selection(x_, index, axis, extent));
            parts_.push_back({Part::advanced, 1, false});
        } else if (index.kind() == Kind::range) {
            const AxisSelection s = range_selection(index, extent);
            result_.strided = result_.strided || s.step != 1;
            result_.axes.push_back(s);
            parts_.push_back({Part::range, s.count, false});
        } else {
            const Array& given = index.array();
            node_of(given, name, index.location());
            if (extent == 0 && given.size() > 0)
                fail_index(x_, "an index array for axis " + std::to_string(axis) + ", which has no elements,", index.location());
            if (!broadcast_shapes(result_.batch, given.shape()))
                fail(name, "the index arrays do not broadcast: " + result_.batch.str() + " and " + given.shape().str(), index.location());
            result_.scalar_arrays = result_.scalar_arrays && given.shape().rank() == 0;
            result_.array_axes.push_back(static_cast<std::int64_t>(axis));
            result_.axes.push_back(
                {.kind = Kind::array, .start = 0, .count = 1, .step = 1, .index = normalised(given, extent, index.location())});
            parts_.push_back({Part::advanced, 1, true});
        }
    }

    void finish() {
        std::size_t first = parts_.size(), last = 0;
        for (std::size_t i = 0; i < parts_.size(); ++i)
            if (parts_[i].what == Part::advanced) {
                first = std::min(first, i);
                last = i;
            }
        for (std::size_t i = first; result_.has_arrays() && i < last; ++i)
            result_.batch_first = result_.batch_first || parts_[i].what != Part::advanced;
        const auto add_batch = [&] {
            for (std::int64_t e : result_.batch) {
                result_.shape.dims().push_back(e);
                result_.plain_shape.dims().push_back(e);
            }
        };
        if (result_.batch_first) add_batch();
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Part& p = parts_[i];
            if (p.what == Part::advanced) {
                if (i == first && !result_.batch_first) add_batch();
                continue;
            }
            result_.shape.dims().push_back(p.extent);
            if (p.what == Part::range) result_.plain_shape.dims().push_back(p.extent);
        }
    }

    const Array& x_;
    std::span<const Index* const> indices_;
    Selection result_;
    SmallVector<Part, 8> parts_;
};

/// The ranges and integers applied (integers as ranges of one); index arrays keep their whole axes.
Array static_part(const Array& x, const Selection& s) {
    Dims start, limit, stride;
    for (std::size_t i = 0; i < s.axes.size(); ++i) {
        const AxisSelection& a = s.axes[i];
        const bool whole = a.kind == Kind::array;
        start.push_back(whole ? 0 : a.start);
        limit.push_back(whole ? x.shape()[i] : a.count == 0 ? a.start : a.start + (a.count - 1) * a.step + 1);
        stride.push_back(a.step);
    }
    return sliced(x, start, limit, stride, s.location);
}

Array gathered(const Array& x, const Selection& s) {
    const Array part = static_part(x, s);
    const auto batch_rank = static_cast<std::int64_t>(s.batch.rank());
    ir::GatherAttr g;
    std::vector<Array> components;
    std::int64_t place = -1; // of the batch axes among the result's
    for (std::size_t i = 0; i < s.axes.size(); ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        if (s.axes[i].kind == Kind::array) {
            if (place < 0) place = s.batch_first ? 0 : static_cast<std::int64_t>(g.offset_dims.size());
            components.push_back(s.axes[i].index);
            g.collapsed_slice_dims.push_back(axis);
            g.start_index_map.push_back(axis);
            g.slice_sizes.push_back(1);
        } else {
            g.offset_dims.push_back(static_cast<std::int64_t>(g.offset_dims.size()));
            g.slice_sizes.push_back(part.shape()[i]);
        }
    }
    for (std::int64_t& d : g.offset_dims)
        if (d >= place) d += batch_rank;
    g.index_vector_dim = batch_rank;
    const Array indices = joined_indices(components, s.batch, s.location);
    const Array result = bind1(ir::OpCode::gather, {part, indices}, ir::make_attr(std::move(g)), s.location);
    return reshaped(result, s.shape, s.location);
}
} // namespace

Selection select(const Array& x, std::span<const Index* const> indices) { return Selector(x, indices).run(); }

Array joined_indices(std::span<const Array> components, const Shape& batch, const Location& at) {
    if (components.size() == 1) return stretch(components[0], batch, name, at);
    DType dtype = i32;
    for (const Array& c : components) dtype = promote(dtype, c.dtype());
    Shape column = batch;
    column.dims().push_back(1);
    std::vector<Array> columns;
    for (const Array& c : components) columns.push_back(reshaped(stretch(c.astype(dtype, at), batch, name, at), column, at));
    return joined(columns, static_cast<std::int64_t>(batch.rank()), at);
}

Window window_of(const Selection& s) {
    Window w;
    DType dtype = s.has_arrays() ? i32 : i64;
    for (std::int64_t axis : s.array_axes) dtype = promote(dtype, s.axes[static_cast<std::size_t>(axis)].index.dtype());
    for (const AxisSelection& a : s.axes) {
        w.starts.push_back(a.kind == Kind::array ? a.index.astype(dtype, s.location) : scalar(dtype, a.start, s.location));
        w.sizes.push_back(a.count);
    }
    return w;
}

Array pick(const Array& x, const Selection& s) {
    if (s.has_arrays() && s.shape.elements() == 0) // nothing is picked, perhaps from nothing
        return constant(ir::Literal::splat_bits(ir::Type(node(x).dtype(), s.shape), 0), s.location);
    if (!s.has_arrays()) return reshaped(static_part(x, s), s.shape, s.location);
    if (!s.scalar_arrays) return gathered(x, s);
    if (s.strided) { // strides first, then the places
        Selection plain = s;
        for (AxisSelection& a : plain.axes)
            if (a.kind == Kind::integer)
                a = {.kind = Kind::integer, .start = 0, .count = 1, .step = 1, .index = {}};
            else if (a.kind == Kind::range)
                a = {.kind = Kind::range, .start = 0, .count = a.count, .step = 1, .index = {}};
        plain.strided = false;
        return pick(static_part(x, s), plain);
    }
    const Window w = window_of(s);
    std::vector<Array> operands{x};
    operands.insert(operands.end(), w.starts.begin(), w.starts.end());
    const Array result = bind1({.code = ir::OpCode::dynamic_slice,
                                .operands = operands,
                                .attr = ir::make_attr(ir::DimsAttr{w.sizes}),
                                .regions = {},
                                .declared = {},
                                .location = s.location});
    return reshaped(result, s.shape, s.location);
}

} // namespace stithy::detail
