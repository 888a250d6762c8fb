#pragma once
#include "ops/rules.hpp"

#include <string>
#include <string_view>

/// What the shape rules of all families share: refusals and small checks. Texts are built only when something is refused.
namespace stithy::ops {

/// Throws Error "operation: text (file:line)".
[[noreturn]] void refuse(const InferContext& context, std::string_view text);
/// "[1,2]", for messages.
std::string text_of(const Dims& dims);
/// "f64[2,3], f32[4] and i32[]".
std::string text_of(TypeRefs types);

/// The types of one result.
inline Types one(Type type) {
    Types types;
    types.push_back(std::move(type));
    return types;
}

/// Checks the number of operands.
void expect_operands(const InferContext& context, std::size_t count);
/// Checks that every operand is a tensor.
void expect_tensors(const InferContext& context);
/// Checks that the caller stated one tensor type as result; returns it. Extents must not be negative, nor their product too large.
const Type& declared_tensor(const InferContext& context);
/// Checks that axis is in [0, rank); `what` names it ("axis", "iota dimension").
void expect_axis(const InferContext& context, std::int64_t axis, std::size_t rank, std::string_view what);
/// Checks that the axes lie in [0, rank) and that none comes twice.
void expect_axes(const InferContext& context, const Dims& axes, std::size_t rank, std::string_view what);
/// Checks that no extent is negative and that the bytes can be counted.
void expect_extents(const InferContext& context, const Type& result);
/// What is wrong with the extents of a tensor: one is negative, or there are 2^58 bytes or more (zeros count as ones). Null when they are
/// fine.
const char* fault_of_extents(DType dtype, const Shape& shape);

} // namespace stithy::ops
