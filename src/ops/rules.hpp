#pragma once
#include "ops/value.hpp"

#include <optional>

namespace stithy::ops {

/// What a shape rule sees.
struct InferContext {
    OpCode code;
    std::span<const Type> operands;
    const AttrPtr& attr;
    std::span<const FunctionPtr> regions;
    const Location& location;
};
/// Result types; throws Error (operation, what was given, what was expected, the user's line).
using InferRule = std::vector<Type> (*)(const InferContext&);

/// Tangents of the results, one each, `Value()` for zero. `operands` and `results` are the primal values in the builder where the tangents are to be emitted;
/// tangents[i] is Value() where operand i has a zero tangent; at least one is not zero. Write the rule in terms of `results` where that saves work (tanh, exp, sqrt).
struct JvpContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const Value> results;
    std::span<const Value> tangents;
};
using JvpRule = Values (*)(const JvpContext&);

/// Cotangents of the operands. operands[i] is the value of a non-linear operand (known), Value() for a linear one; cotangents[r] is Value() where the cotangent of result r is zero
/// (at least one is not). Returns one entry per operand: Value() for non-linear operands and for zero cotangents. types[i] is the type of operand i.
struct TransposeContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const Type> types;
    std::span<const bool> linear;
    std::span<const Value> cotangents;
};
using TransposeRule = Values (*)(const TransposeContext&);

/// Batched form. batched[i] tells whether operands[i] carries the batch as its leading axis (of extent `size`). Returns the results; sets out_batched[r].
/// A result that does not depend on a batched operand may stay unbatched.
struct BatchContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const bool> batched;
    std::int64_t size;
    std::vector<bool>& out_batched;
};
using BatchRule = Values (*)(const BatchContext&);

/// The rules of one operation. A null transpose: never linear. Structured operations (while, case, if, call, loop, custom_call) have null jvp, transpose and batch here: transform/ does them.
struct Rule {
    InferRule infer = nullptr;
    JvpRule jvp = nullptr;
    TransposeRule transpose = nullptr;
    BatchRule batch = nullptr;
};
/// The table (explicit, constant).
const Rule& rule(OpCode code);

/// Shape rule of any operation.
std::vector<Type> infer(const InferContext& context);

/// The dtype of tangents: the dtype itself for floating types; none for integers and bool (their tangents are always zero).
bool is_differentiable(const Type& type);

} // namespace stithy::ops
