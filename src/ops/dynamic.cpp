// dynamic_slice and dynamic_update_slice: windows whose place is known at run time. Starts are clamped so that the window lies inside.
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"
#include "ops/windows.hpp"

namespace stithy::ops {

namespace {
void expect_starts(const InferContext& c, std::size_t first, std::size_t rank) {
    if (c.operands.size() != first + rank)
        refuse(c, std::to_string(c.operands.size() - first) + " start indices for " + c.operands[0].str() + ", expected " +
                      std::to_string(rank));
    for (std::size_t i = first; i < c.operands.size(); ++i)
        if (c.operands[i].rank() != 0 || !c.operands[i].dtype().is_integer() || !(c.operands[i].dtype() == c.operands[first].dtype()))
            refuse(c, "start index " + c.operands[i].str() + ", expected integers of rank 0 and one dtype");
}

Types infer_dynamic_slice(const InferContext& c) {
    if (c.operands.empty()) refuse(c, "no operands given");
    expect_tensors(c);
    const Type& x = c.operands[0];
    expect_starts(c, 1, x.rank());
    const Dims& sizes = c.get<ir::DimsAttr>().dims;
    if (sizes.size() != x.rank()) refuse(c, "sizes " + text_of(sizes) + " for " + x.str());
    for (std::size_t i = 0; i < x.rank(); ++i)
        if (sizes[i] < 0 || sizes[i] > x.shape()[i]) refuse(c, "sizes " + text_of(sizes) + " do not fit into " + x.str());
    return {Type(x.dtype(), Shape(sizes))};
}

Types infer_dynamic_update_slice(const InferContext& c) {
    if (c.operands.size() < 2) refuse(c, "expected an operand and an update");
    expect_tensors(c);
    const Type &x = c.operands[0], &update = c.operands[1];
    if (!(x.dtype() == update.dtype()) || x.rank() != update.rank())
        refuse(c, "operand " + x.str() + " and update " + update.str() + ", expected one dtype and rank");
    for (std::size_t i = 0; i < x.rank(); ++i)
        if (update.shape()[i] > x.shape()[i]) refuse(c, "update " + update.str() + " does not fit into " + x.str());
    expect_starts(c, 2, x.rank());
    return {x};
}

Values jvp_dynamic_slice(const JvpContext& c) {
    if (!c.tangents[0]) return {Value()};
    return {dynamic_slice(c.tangents[0], c.operands.subspan(1), c.op.get<ir::DimsAttr>().dims)};
}

Values jvp_dynamic_update_slice(const JvpContext& c) {
    const Value x = c.tangents[0] ? c.tangents[0] : zeros_like(c.operands[0]);
    const Value update = c.tangents[1] ? c.tangents[1] : zeros_like(c.operands[1]);
    return {dynamic_update_slice(x, update, c.operands.subspan(2))};
}

Values transpose_dynamic_slice(const TransposeContext& c) {
    Values out(c.operands.size());
    if (c.linear[0]) out[0] = dynamic_update_slice(zeros(c.builder, c.types[0]), c.cotangents[0], c.operands.subspan(1));
    return out;
}

Values transpose_dynamic_update_slice(const TransposeContext& c) {
    Values out(c.operands.size());
    const Value ct = c.cotangents[0];
    if (c.linear[0]) out[0] = dynamic_update_slice(ct, zeros(c.builder, c.types[1]), c.operands.subspan(2));
    if (c.linear[1]) out[1] = dynamic_slice(ct, c.operands.subspan(2), c.types[1].shape().dims());
    return out;
}

bool any_batched(std::span<const bool> batched) {
    for (bool b : batched)
        if (b) return true;
    return false;
}

/// Starts [n] or [size, n] as rows of a matrix [size, n].
Value join_starts(const BatchContext& c, std::size_t first) {
    SmallVector<Value, 4> columns;
    for (std::size_t i = first; i < c.operands.size(); ++i) {
        const Value s = c.batched[i] ? c.operands[i] : broadcast_batch(c.operands[i], c.size);
        columns.push_back(reshape(s, Shape{c.size, 1}));
    }
    return concatenate(columns, 1);
}

Values with_zero_start(std::span<const Value> starts) {
    Values all{zeros_like(starts[0])};
    for (const Value& s : starts) all.push_back(s);
    return all;
}

Values batch_dynamic_slice(const BatchContext& c) {
    c.out_batched[0] = true;
    const Dims& sizes = c.op.get<ir::DimsAttr>().dims;
    if (sizes.empty()) return {c.operands[0]};
    if (!any_batched(c.batched.subspan(1))) {
        Dims wide = sizes;
        wide.insert(0, c.size);
        return {dynamic_slice(c.operands[0], with_zero_start(c.operands.subspan(1)), wide)};
    }
    ir::GatherAttr g;
    const auto rank = static_cast<std::int64_t>(sizes.size()), shift = c.batched[0] ? std::int64_t{1} : std::int64_t{0};
    g.slice_sizes = sizes;
    if (c.batched[0]) {
        g.slice_sizes.insert(0, 1);
        g.operand_batching_dims = g.start_indices_batching_dims = Dims(1, 0);
    }
    for (std::int64_t i = 0; i < rank; ++i) {
        g.offset_dims.push_back(i + 1);
        g.start_index_map.push_back(i + shift);
    }
    g.index_vector_dim = 1;
    return {emit1(c.builder, OpCode::gather, {c.operands[0], join_starts(c, 1)}, ir::make_attr(g))};
}

Values batch_dynamic_update_slice(const BatchContext& c) {
    c.out_batched[0] = true;
    const Value x = c.batched[0] ? c.operands[0] : broadcast_batch(c.operands[0], c.size);
    const Value update = c.batched[1] ? c.operands[1] : broadcast_batch(c.operands[1], c.size);
    if (x.rank() == 1) return {update};
    if (!any_batched(c.batched.subspan(2))) return {dynamic_update_slice(x, update, with_zero_start(c.operands.subspan(2)))};
    ir::ScatterAttr s;
    Dims last;
    for (std::size_t i = 1; i < x.rank(); ++i) {
        s.update_window_dims.push_back(static_cast<std::int64_t>(i));
        s.scatter_dims_to_operand_dims.push_back(static_cast<std::int64_t>(i));
        last.push_back(x.shape()[i] - update.shape()[i]);
    }
    s.input_batching_dims = s.scatter_indices_batching_dims = Dims(1, 0);
    s.index_vector_dim = 1;
    s.unique_indices = true;
    const Value starts = clamp_indices(join_starts(c, 2), 1, last); // a scatter would drop what sticks out
    return {emit1(c.builder, OpCode::scatter, {x, starts, update}, ir::make_attr(s), {second_region(x.dtype())})};
}
} // namespace

Rule find_dynamic(OpCode code) {
    switch (code) {
    case OpCode::dynamic_slice: return {infer_dynamic_slice, jvp_dynamic_slice, transpose_dynamic_slice, batch_dynamic_slice};
    case OpCode::dynamic_update_slice:
        return {infer_dynamic_update_slice, jvp_dynamic_update_slice, transpose_dynamic_update_slice, batch_dynamic_update_slice};
    default: return {};
    }
}

} // namespace stithy::ops
