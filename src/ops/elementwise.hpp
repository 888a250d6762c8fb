#pragma once
#include "ops/rules.hpp"

/// The pieces of the elementwise family; its table is in elementwise.cpp.
namespace stithy::ops {

/// Sets of dtypes, a bit for each code.
using Kinds = std::uint16_t;
constexpr Kinds kind(DType dtype) { return static_cast<Kinds>(1U << dtype.code()); }
inline constexpr Kinds bools = kind(boolean);
inline constexpr Kinds signed_integers = kind(i8) | kind(i16) | kind(i32) | kind(i64);
inline constexpr Kinds unsigned_integers = kind(u8) | kind(u16) | kind(u32) | kind(u64);
inline constexpr Kinds integers = signed_integers | unsigned_integers;
inline constexpr Kinds floats = kind(f32) | kind(f64);
inline constexpr Kinds numbers = integers | floats;
inline constexpr Kinds any_kind = bools | numbers;

/// The dtypes that the operation takes (of select: its branches).
Kinds kinds_of(OpCode code);

// shape rules: elementwise_infer.cpp
Types infer_unary(const InferContext& context);
Types infer_is_finite(const InferContext& context);
Types infer_convert(const InferContext& context);
Types infer_binary(const InferContext& context);
Types infer_compare(const InferContext& context);
Types infer_select(const InferContext& context);
Types infer_clamp(const InferContext& context);

// derivatives of several operands: elementwise_jvp.cpp
Values jvp_add(const JvpContext& context);
Values jvp_subtract(const JvpContext& context);
Values jvp_multiply(const JvpContext& context);
Values jvp_divide(const JvpContext& context);
Values jvp_remainder(const JvpContext& context);
Values jvp_maximum(const JvpContext& context);
Values jvp_minimum(const JvpContext& context);
Values jvp_power(const JvpContext& context);
Values jvp_atan2(const JvpContext& context);
Values jvp_select(const JvpContext& context);
Values jvp_clamp(const JvpContext& context);
Values jvp_convert(const JvpContext& context);

// transposes of what is linear: elementwise_transpose.cpp
Values transpose_add(const TransposeContext& context);
Values transpose_subtract(const TransposeContext& context);
Values transpose_negate(const TransposeContext& context);
Values transpose_multiply(const TransposeContext& context);
Values transpose_divide(const TransposeContext& context);
Values transpose_select(const TransposeContext& context);
Values transpose_convert(const TransposeContext& context);

/// Functions that cost as much as a dozen multiplications: not worth doing again to save a load.
bool is_transcendental(OpCode code);

// batching: elementwise_batch.cpp
Values batch_elementwise(const BatchContext& context);

} // namespace stithy::ops
