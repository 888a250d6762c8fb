// Accumulators (write-only sums) and stacks: what reverse mode keeps. An accumulator's cotangent is a tensor; push and pop are each other's
// transposes.
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"
#include "ops/windows.hpp"

namespace stithy::ops {

namespace {
const Type& accumulator_operand(const InferContext& c) {
    if (c.operands.empty() || !c.operands[0].is_accumulator())
        refuse(c, "first operand " + (c.operands.empty() ? std::string("missing") : c.operands[0].str()) + ", expected an accumulator");
    return c.operands[0];
}

Types infer_zeros(const InferContext& c) {
    expect_operands(c, 0);
    if (c.declared.size() != 1 || !c.declared[0].is_accumulator()) refuse(c, "the result must be stated as an accumulator");
    return {c.declared[0]};
}

Types infer_add(const InferContext& c) {
    expect_operands(c, 2);
    const Type& acc = accumulator_operand(c);
    if (!(c.operands[1] == acc.as_tensor())) refuse(c, "adds " + c.operands[1].str() + " to " + acc.str());
    return {acc};
}

Types infer_add_at(const InferContext& c) {
    const Type& acc = accumulator_operand(c);
    if (c.operands.size() != 2 + acc.rank())
        refuse(c, std::to_string(c.operands.size()) + " operands, expected an update and one start for each axis of " + acc.str());
    const Type& update = c.operands[1];
    if (!update.is_tensor() || !(update.dtype() == acc.dtype()) || update.rank() != acc.rank())
        refuse(c, "adds " + update.str() + " to " + acc.str());
    for (std::size_t i = 0; i < acc.rank(); ++i) {
        if (update.shape()[i] > acc.shape()[i]) refuse(c, "update " + update.str() + " does not fit into " + acc.str());
        const Type& start = c.operands[2 + i];
        if (!start.is_tensor() || start.rank() != 0 || !start.dtype().is_integer())
            refuse(c, "start " + start.str() + ", expected an integer of rank 0");
    }
    return {acc};
}

Types infer_scatter_add(const InferContext& c) {
    expect_operands(c, 3);
    const Type& acc = accumulator_operand(c);
    // the checks are scatter's
    const Type input = acc.as_tensor();
    const Type* operands[] = {&input, &c.operands[1], &c.operands[2]};
    const FunctionPtr region = combiner_region(OpCode::add, acc.dtype());
    infer(InferContext{OpCode::scatter, TypeRefs(operands), c.attr, {&region, 1}, c.location, {}});
    return {acc};
}

Types infer_freeze(const InferContext& c) {
    expect_operands(c, 1);
    return {accumulator_operand(c).as_tensor()};
}

Types infer_stack_empty(const InferContext& c) {
    expect_operands(c, 0);
    if (c.declared.size() != 1 || !c.declared[0].is_stack()) refuse(c, "the result must be stated as a stack");
    return {c.declared[0]};
}

Types infer_push(const InferContext& c) {
    if (c.operands.empty() || !c.operands[0].is_stack()) refuse(c, "first operand must be a stack");
    const auto& members = c.operands[0].members();
    bool fits = c.operands.size() == members.size() + 1;
    for (std::size_t i = 0; fits && i < members.size(); ++i) fits = c.operands[i + 1] == members[i];
    if (!fits) refuse(c, "pushes " + text_of(c.operands.slice(1, c.operands.size() - 1)) + " on " + c.operands[0].str());
    return {c.operands[0]};
}

Types infer_pop(const InferContext& c) {
    expect_operands(c, 1);
    if (!c.operands[0].is_stack()) refuse(c, "operand " + c.operands[0].str() + ", expected a stack");
    Types types{c.operands[0]};
    for (const Type& t : c.operands[0].members()) types.push_back(t);
    return types;
}

// --- derivatives of accumulators ---

Value zero_accumulator(Builder& builder, const Type& type) { return accumulator_zeros(builder, type.as_tensor()); }

/// The tangent of an accumulator is an accumulator that takes the tangents of what is added.
Values jvp_accumulate(const JvpContext& c) {
    SmallVector<Value, 8> operands(c.operands.begin(), c.operands.end());
    const std::size_t added = c.op.code == OpCode::accumulator_scatter_add ? 2 : 1;
    operands[0] = c.tangents[0] ? c.tangents[0] : zero_accumulator(c.builder, Type(c.operands[0].type()));
    if (!c.tangents[added]) return {operands[0]};
    operands[added] = c.tangents[added];
    return emit_like(c.builder, c.op, operands);
}

Values jvp_freeze(const JvpContext& c) { return {freeze(c.tangents[0])}; }

Values transpose_add(const TransposeContext& c) {
    Values out(2);
    for (std::size_t i = 0; i < 2; ++i)
        if (c.linear[i]) out[i] = c.cotangents[0];
    return out;
}

Values transpose_add_at(const TransposeContext& c) {
    Values out(c.operands.size());
    if (c.linear[0]) out[0] = c.cotangents[0];
    if (c.linear[1]) out[1] = dynamic_slice(c.cotangents[0], c.operands.subspan(2), c.types[1].shape().dims());
    return out;
}

/// As scatter with add, whose transposition does the work for the updates.
Values transpose_scatter_add(const TransposeContext& c) {
    Values out(3);
    if (c.linear[0]) out[0] = c.cotangents[0];
    if (!c.linear[2]) return out;
    Op op;
    op.code = OpCode::scatter;
    op.attr = c.op.attr;
    op.regions = {combiner_region(OpCode::add, c.types[0].dtype())};
    op.location = c.op.location;
    const Type types[] = {c.types[0].as_tensor(), c.types[1], c.types[2]};
    const bool linear[] = {false, false, true};
    const Value operands[] = {c.cotangents[0], c.operands[1], Value()};
    out[2] = rule(OpCode::scatter).transpose({c.builder, op, operands, types, linear, c.cotangents})[2];
    return out;
}

Values transpose_freeze(const TransposeContext& c) { return {c.cotangents[0]}; }

// --- batching: an accumulator of the batched shape ---

Value batched_operand(const BatchContext& c, std::size_t i) {
    if (c.batched[i]) return c.operands[i];
    if (c.operands[i].type().is_accumulator()) return broadcast_accumulator(c.operands[i], c.size);
    return broadcast_batch(c.operands[i], c.size);
}

Values batch_add(const BatchContext& c) {
    c.out_batched[0] = true;
    const Value acc = batched_operand(c, 0), x = batched_operand(c, 1);
    return {accumulator_add(acc, x)};
}

Values batch_add_at(const BatchContext& c) {
    c.out_batched[0] = true;
    const Value acc = batched_operand(c, 0), x = batched_operand(c, 1);
    bool batched_starts = false;
    for (std::size_t i = 2; i < c.operands.size(); ++i) batched_starts = batched_starts || c.batched[i];
    if (c.operands.size() == 2) return {accumulator_add(acc, x)};
    if (!batched_starts) {
        SmallVector<Value, 8> starts{zeros_like(c.operands[2])};
        for (std::size_t i = 2; i < c.operands.size(); ++i) starts.push_back(c.operands[i]);
        return {accumulator_add_at(acc, x, starts)};
    }
    ir::ScatterAttr s; // each example has a place of its own
    Dims last;
    SmallVector<Value, 8> columns;
    for (std::size_t i = 1; i < acc.rank(); ++i) {
        s.update_window_dims.push_back(static_cast<std::int64_t>(i));
        s.scatter_dims_to_operand_dims.push_back(static_cast<std::int64_t>(i));
        last.push_back(acc.type().shape()[i] - x.shape()[i]);
        const Value start = c.batched[i + 1] ? c.operands[i + 1] : broadcast_batch(c.operands[i + 1], c.size);
        columns.push_back(reshape(start, Shape{c.size, 1}));
    }
    s.input_batching_dims = s.scatter_indices_batching_dims = Dims(1, 0);
    s.index_vector_dim = 1;
    s.unique_indices = true;
    return {accumulator_scatter_add(acc, clamp_indices(concatenate(columns, 1), 1, last), x, s)};
}

Values batch_scatter_add(const BatchContext& c) {
    c.out_batched[0] = true;
    const Value acc = batched_operand(c, 0), updates = batched_operand(c, 2);
    return {accumulator_scatter_add(acc, c.operands[1], updates, batched_scatter(c.op.get<ir::ScatterAttr>(), c.batched[1]))};
}

Values batch_freeze(const BatchContext& c) {
    c.out_batched[0] = true;
    return {freeze(c.operands[0])};
}
} // namespace

Rule find_linear_types(OpCode code) {
    switch (code) {
    case OpCode::accumulator_zeros: return {infer_zeros};
    case OpCode::accumulator_add: return {infer_add, jvp_accumulate, transpose_add, batch_add};
    case OpCode::accumulator_add_at: return {infer_add_at, jvp_accumulate, transpose_add_at, batch_add_at};
    case OpCode::accumulator_scatter_add: return {infer_scatter_add, jvp_accumulate, transpose_scatter_add, batch_scatter_add};
    case OpCode::freeze: return {infer_freeze, jvp_freeze, transpose_freeze, batch_freeze};
    case OpCode::stack_empty: return {infer_stack_empty};
    case OpCode::stack_push: return {infer_push};
    case OpCode::stack_pop: return {infer_pop};
    default: return {};
    }
}

} // namespace stithy::ops
