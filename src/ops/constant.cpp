// constant and iota: no operands, so nothing to differentiate or to batch.
#include "ops/check.hpp"
#include "ops/families.hpp"

namespace stithy::ops {

namespace {
Types infer_constant(const InferContext& c) {
    expect_operands(c, 0);
    return one(c.get<ir::ConstantAttr>().value.type());
}

Types infer_iota(const InferContext& c) {
    expect_operands(c, 0);
    const Type& result = declared_tensor(c);
    if (result.dtype().is_bool()) refuse(c, "the result is " + result.str() + ", expected a number type");
    expect_axis(c, c.get<ir::DimAttr>().dim, result.rank(), "axis");
    return one(result);
}

Values batch_none(const BatchContext& c) { return emit_like(c.builder, c.op, {}, c.result_types); }
} // namespace

Rule find_constant(OpCode code) {
    switch (code) {
    case OpCode::constant: return {infer_constant, nullptr, nullptr, batch_none};
    case OpCode::iota: return {infer_iota, nullptr, nullptr, batch_none};
    default: return {};
    }
}

} // namespace stithy::ops
