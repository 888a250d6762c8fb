// gather: windows of an operand at places that an array of indices gives; places are clamped so that windows lie inside.
#include "ops/axes.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"
#include "ops/windows.hpp"

#include <algorithm>

namespace stithy::ops {

namespace {

Types infer_gather(const InferContext& c) {
    expect_operands(c, 2);
    expect_tensors(c);
    const Type &x = c.operands[0], &indices = c.operands[1];
    const auto& g = c.get<ir::GatherAttr>();
    if (!indices.dtype().is_integer()) refuse(c, "indices " + indices.str() + ", expected integers");
    if (g.index_vector_dim < 0 || g.index_vector_dim > static_cast<std::int64_t>(indices.rank()))
        refuse(c, "index_vector_dim " + std::to_string(g.index_vector_dim) + " for indices " + indices.str());
    const bool scalar = static_cast<std::size_t>(g.index_vector_dim) == indices.rank();
    const std::int64_t components = scalar ? 1 : indices.shape()[static_cast<std::size_t>(g.index_vector_dim)];
    if (static_cast<std::int64_t>(g.start_index_map.size()) != components)
        refuse(c, "start_index_map " + text_of(g.start_index_map) + ", expected " + std::to_string(components) + " entries");
    if (g.slice_sizes.size() != x.rank()) refuse(c, "slice_sizes " + text_of(g.slice_sizes) + " for operand " + x.str());
    expect_axes(c, g.start_index_map, x.rank(), "start_index_map");
    expect_axes(c, g.collapsed_slice_dims, x.rank(), "collapsed_slice_dims");
    expect_axes(c, g.operand_batching_dims, x.rank(), "operand_batching_dims");
    expect_axes(c, g.start_indices_batching_dims, indices.rank(), "start_indices_batching_dims");
    if (g.operand_batching_dims.size() != g.start_indices_batching_dims.size())
        refuse(c, "operand_batching_dims " + text_of(g.operand_batching_dims) + " and start_indices_batching_dims " +
                      text_of(g.start_indices_batching_dims));
    for (std::size_t i = 0; i < g.operand_batching_dims.size(); ++i)
        if (x.shape()[static_cast<std::size_t>(g.operand_batching_dims[i])] !=
            indices.shape()[static_cast<std::size_t>(g.start_indices_batching_dims[i])])
            refuse(c, "batching dimensions of operand " + x.str() + " and indices " + indices.str() + " differ");
    Dims window;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        const std::int64_t size = g.slice_sizes[i];
        const auto axis = static_cast<std::int64_t>(i);
        if (size < 0 || size > x.shape()[i]) refuse(c, "slice_sizes " + text_of(g.slice_sizes) + " do not fit into operand " + x.str());
        const bool gone = contains(g.collapsed_slice_dims, axis) || contains(g.operand_batching_dims, axis);
        if (gone && size > 1)
            refuse(c, "slice_sizes " + text_of(g.slice_sizes) + ", expected at most 1 along collapsed and batching dimensions");
        if (!gone) window.push_back(size);
    }
    if (window.size() != g.offset_dims.size())
        refuse(c, "offset_dims " + text_of(g.offset_dims) + ", expected " + std::to_string(window.size()) + " entries");
    const std::size_t rank = indices.rank() - (scalar ? 0 : 1) + window.size();
    expect_axes(c, g.offset_dims, rank, "offset_dims");
    Dims shape;
    std::size_t next_window = 0, next_index = 0;
    for (std::size_t i = 0; i < rank; ++i) {
        if (contains(g.offset_dims, static_cast<std::int64_t>(i))) {
            shape.push_back(window[next_window++]);
            continue;
        }
        if (next_index == static_cast<std::size_t>(g.index_vector_dim)) ++next_index;
        shape.push_back(indices.shape()[next_index++]);
    }
    return {Type(x.dtype(), Shape(std::move(shape)))};
}

Values jvp_gather(const JvpContext& c) {
    if (!c.tangents[0]) return {Value()};
    return {emit1(c.builder, OpCode::gather, {c.tangents[0], c.operands[1]}, c.op.attr)};
}

Values transpose_gather(const TransposeContext& c) {
    Values out(2);
    if (!c.linear[0]) return out;
    const auto& g = c.op.get<ir::GatherAttr>();
    const Value indices = clamped_gather_indices(c.operands[1], g, c.types[0]);
    out[0] = emit1(c.builder, OpCode::scatter, {zeros(c.builder, c.types[0]), indices, c.cotangents[0]}, ir::make_attr(scatter_of(g)),
                   {combiner_region(OpCode::add, c.types[0].dtype())});
    return out;
}

Values batch_gather(const BatchContext& c) {
    c.out_batched[0] = true;
    ir::GatherAttr g = c.op.get<ir::GatherAttr>();
    g.offset_dims = shifted(g.offset_dims, 1);
    if (c.batched[0]) {
        g.collapsed_slice_dims = shifted(g.collapsed_slice_dims, 1);
        g.operand_batching_dims = shifted(g.operand_batching_dims, 1);
        g.start_index_map = shifted(g.start_index_map, 1);
    }
    if (c.batched[1]) {
        g.start_indices_batching_dims = shifted(g.start_indices_batching_dims, 1);
        ++g.index_vector_dim;
    }
    if (c.batched[0] && c.batched[1]) {
        g.slice_sizes.insert(0, 1);
        g.operand_batching_dims.insert(0, 0);
        g.start_indices_batching_dims.insert(0, 0);
    } else if (c.batched[0]) { // the batch is one more axis of every window
        g.slice_sizes.insert(0, c.size);
        g.offset_dims.insert(0, 0);
    }
    return {emit1(c.builder, OpCode::gather, c.operands, ir::make_attr(g))};
}
} // namespace

Rule find_gather(OpCode code) {
    if (code != OpCode::gather) return {};
    return {infer_gather, jvp_gather, transpose_gather, batch_gather};
}

} // namespace stithy::ops
