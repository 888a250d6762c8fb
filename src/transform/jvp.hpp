#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// The forward derivative of a function. Parameters: those of f, then a tangent for each active one; results: those of f, then a tangent
/// for each active result.
struct JvpFunction {
    FunctionPtr function;
    Mask active_results;
};
/// active[i]: parameter i has a tangent (false for integer and bool parameters). Memoised on f.
JvpFunction jvp(const FunctionPtr& f, const Mask& active);

/// Emits f and its derivative into a builder. tangents[i] is Value() for zero. On return `results` and `result_tangents` hold one entry per
/// result of f.
void jvp_inline(Builder& builder, const Function& f, std::span<const Value> primals, std::span<const Value> tangents, Values& results,
                Values& result_tangents);

/// Derivative of one structured operation (call, case, if, while, loop); at least one tangent is not zero. Emits the operation with its
/// derivative as one.
void jvp_structured(Builder& builder, const Function& f, const Op& op, std::span<const Value> operands, std::span<const Value> tangents,
                    Values& results, Values& result_tangents);

} // namespace stithy::transform
