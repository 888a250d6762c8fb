#include "ops/build.hpp"
#include "ops/elementwise.hpp"

namespace stithy::ops {

namespace {
/// An operand in the shape of the batched operation; rank 0 may stay where the operation takes it and it has no batch.
Value join(const BatchContext& c, std::size_t i, const Shape& whole, bool may_be_scalar) {
    const Value x = c.operands[i];
    if (c.batched[i]) return x.rank() == whole.rank() ? x : broadcast_in_dim(x, whole, Dims(1, 0));
    if (may_be_scalar && x.rank() == 0) return x;
    return broadcast_batch(x, c.size);
}
} // namespace

Values batch_elementwise(const BatchContext& c) {
    c.out_batched[0] = true;
    const OpCode code = c.op.code;
    Shape whole = c.result_types[0].shape();
    whole.dims().insert(0, c.size);
    SmallVector<Value, 3> operands;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        const bool small = (code == OpCode::select && i == 0) || (code == OpCode::clamp && i != 1);
        operands.push_back(join(c, i, whole, small));
    }
    return emit_like(c.builder, c.op, operands, c.result_types);
}

} // namespace stithy::ops
