// Tokens and the barrier: what orders without computing.
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"

namespace stithy::ops {

namespace {
Types infer_barrier(const InferContext& c) {
    Types types;
    types.reserve(c.operands.size());
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        if (!c.operands[i].is_tensor() && c.operands[i].kind() != ir::TypeKind::token)
            refuse(c, "operands " + text_of(c.operands) + ", expected tensors and tokens");
        types.push_back(c.operands[i]);
    }
    return types;
}

Types infer_token(const InferContext& c) {
    if (c.code == OpCode::create_token) expect_operands(c, 0);
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        if (c.operands[i].kind() != ir::TypeKind::token) refuse(c, "operands " + text_of(c.operands) + ", expected tokens");
    return one(Type::token());
}

/// The values that are there go through a barrier of their own; the others stay none.
Values barrier_of(Builder& builder, const Op& op, std::span<const Value> values) {
    SmallVector<Value, 4> given;
    for (const Value& v : values)
        if (v) given.push_back(v);
    const Values passed = emit_like(builder, op, given);
    Values out;
    std::size_t next = 0;
    for (const Value& v : values) out.push_back(v ? passed[next++] : Value());
    return out;
}

Values jvp_barrier(const JvpContext& c) { return barrier_of(c.builder, c.op, c.tangents); }

Values transpose_barrier(const TransposeContext& c) {
    Values cotangents;
    for (std::size_t i = 0; i < c.cotangents.size(); ++i) cotangents.push_back(c.linear[i] ? c.cotangents[i] : Value());
    return barrier_of(c.builder, c.op, cotangents);
}

Values batch_barrier(const BatchContext& c) {
    for (std::size_t i = 0; i < c.operands.size(); ++i) c.out_batched[i] = c.batched[i];
    return emit_like(c.builder, c.op, c.operands);
}

Values batch_token(const BatchContext& c) { return emit_like(c.builder, c.op, c.operands); }
} // namespace

Rule find_token(OpCode code) {
    switch (code) {
    case OpCode::optimization_barrier: return {infer_barrier, jvp_barrier, transpose_barrier, batch_barrier};
    case OpCode::create_token:
    case OpCode::after_all: return {infer_token, nullptr, nullptr, batch_token};
    default: return {};
    }
}

} // namespace stithy::ops
