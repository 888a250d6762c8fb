#include "ops/windows.hpp"

#include "ops/axes.hpp"

#include <algorithm>
#include <cstring>

namespace stithy::ops {

Value along_index_vector(Value indices, std::int64_t vector_dim, const Dims& values) {
    const DType dtype = indices.dtype();
    const bool scalar = static_cast<std::size_t>(vector_dim) == indices.rank();
    const std::size_t size = dtype.size();
    std::vector<std::byte> bytes(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint64_t bits = ir::bits_of(dtype, values[i]);
        std::memcpy(bytes.data() + i * size, &bits, size);
    }
    const Shape shape = scalar ? Shape{} : Shape{values.size()};
    const Value row = constant(indices.builder(), ir::Literal::dense(Type(dtype, shape), std::move(bytes)));
    return broadcast_in_dim(row, indices.shape(), scalar ? Dims() : Dims(1, vector_dim));
}

Value clamp_indices(Value indices, std::int64_t vector_dim, const Dims& last) {
    return clamp(zeros_like(indices), indices, along_index_vector(indices, vector_dim, last));
}

Value clamped_gather_indices(Value indices, const ir::GatherAttr& gather, const Type& operand) {
    Dims last;
    for (std::int64_t axis : gather.start_index_map) {
        const auto a = static_cast<std::size_t>(axis);
        last.push_back(operand.shape()[a] - gather.slice_sizes[a]);
    }
    return clamp_indices(indices, gather.index_vector_dim, last);
}

ir::GatherAttr gather_of(const ir::ScatterAttr& s, const Dims& window) {
    ir::GatherAttr g;
    g.offset_dims = s.update_window_dims;
    g.collapsed_slice_dims = s.inserted_window_dims;
    g.operand_batching_dims = s.input_batching_dims;
    g.start_indices_batching_dims = s.scatter_indices_batching_dims;
    g.start_index_map = s.scatter_dims_to_operand_dims;
    g.index_vector_dim = s.index_vector_dim;
    g.indices_are_sorted = s.indices_are_sorted;
    g.slice_sizes = window;
    return g;
}

ir::ScatterAttr scatter_of(const ir::GatherAttr& g) {
    ir::ScatterAttr s;
    s.update_window_dims = g.offset_dims;
    s.inserted_window_dims = g.collapsed_slice_dims;
    s.input_batching_dims = g.operand_batching_dims;
    s.scatter_indices_batching_dims = g.start_indices_batching_dims;
    s.scatter_dims_to_operand_dims = g.start_index_map;
    s.index_vector_dim = g.index_vector_dim;
    s.indices_are_sorted = g.indices_are_sorted;
    return s;
}

ir::ScatterAttr batched_scatter(const ir::ScatterAttr& scatter, bool batched_indices) {
    ir::ScatterAttr s = scatter;
    s.update_window_dims = shifted(s.update_window_dims, 1);
    s.inserted_window_dims = shifted(s.inserted_window_dims, 1);
    s.input_batching_dims = shifted(s.input_batching_dims, 1);
    s.scatter_dims_to_operand_dims = shifted(s.scatter_dims_to_operand_dims, 1);
    if (batched_indices) {
        s.input_batching_dims.insert(0, 0);
        s.scatter_indices_batching_dims = shifted(s.scatter_indices_batching_dims, 1);
        s.scatter_indices_batching_dims.insert(0, 0);
        ++s.index_vector_dim;
    } else {
        s.update_window_dims.insert(0, 0);
    }
    return s;
}

Dims scatter_window(const ir::ScatterAttr& s, const Type& input, const Type& updates) {
    Dims window(input.rank(), 1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < input.rank(); ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        if (contains(s.inserted_window_dims, axis) || contains(s.input_batching_dims, axis)) continue;
        window[i] = updates.shape()[static_cast<std::size_t>(s.update_window_dims[next++])];
    }
    return window;
}

namespace {
/// How far windows may stick out of the input at either end, along each of its axes.
Dims overhang(const ir::ScatterAttr& s, const Dims& window) {
    Dims over(window.size(), 0);
    for (std::int64_t axis : s.scatter_dims_to_operand_dims)
        over[static_cast<std::size_t>(axis)] = std::max<std::int64_t>(window[static_cast<std::size_t>(axis)] - 1, 0);
    return over;
}

/// Indices into the input with `over` more elements at either end.
Value shifted_indices(Value indices, const ir::ScatterAttr& s, const Dims& over) {
    Dims shift;
    bool any = false;
    for (std::int64_t axis : s.scatter_dims_to_operand_dims) {
        shift.push_back(over[static_cast<std::size_t>(axis)]);
        any = any || shift.back() != 0;
    }
    if (!any) return indices;
    indices = convert(indices, i64); // so that the sum does not wrap
    return indices + along_index_vector(indices, s.index_vector_dim, shift);
}
} // namespace

Value read_windows(Value from, Value indices, const ir::ScatterAttr& s, const Type& updates) {
    const Dims window = scatter_window(s, from.type(), updates), over = overhang(s, window);
    const bool any = std::any_of(over.begin(), over.end(), [](std::int64_t o) { return o != 0; });
    if (any) from = pad(from, zeros(from.builder(), Type(from.dtype(), Shape{})), over, over, Dims(over.size(), 0));
    indices = shifted_indices(indices, s, over);
    return emit1(from.builder(), OpCode::gather, {from, indices}, ir::make_attr(gather_of(s, window)));
}

Value updates_inside(Value indices, const ir::ScatterAttr& s, const Type& input_type, const Type& updates_type) {
    const Type input = input_type, updates = updates_type; // the references may be a builder's
    const Dims window = scatter_window(s, input, updates), over = overhang(s, window);
    indices = shifted_indices(indices, s, over);
    Dims last;
    for (std::int64_t axis : s.scatter_dims_to_operand_dims) {
        const auto a = static_cast<std::size_t>(axis);
        last.push_back(input.shape()[a] + 2 * over[a] - window[a]);
    }
    Value inside = compare(indices, along_index_vector(indices, s.index_vector_dim, last), ir::Direction::le);
    if (indices.dtype().is_signed()) inside = and_(inside, compare(indices, 0.0, ir::Direction::ge));
    if (static_cast<std::size_t>(s.index_vector_dim) < indices.rank()) inside = reduce(OpCode::and_, inside, Dims(1, s.index_vector_dim));
    Dims scatter_dims;
    for (std::size_t i = 0; i < updates.rank(); ++i)
        if (!contains(s.update_window_dims, static_cast<std::int64_t>(i))) scatter_dims.push_back(static_cast<std::int64_t>(i));
    return broadcast_in_dim(inside, updates.shape(), scatter_dims);
}

} // namespace stithy::ops
