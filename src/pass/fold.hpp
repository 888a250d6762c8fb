#pragma once
#include "ir/function.hpp"

#include <optional>

namespace stithy::pass {

/// The bits of an elementwise operation on splat constants, where they are the same on every machine: integer and bool arithmetic,
/// comparisons, conversions between them, and + - * / negate, minimum and maximum of floats. Nothing for others (functions are left to run
/// time).
std::optional<std::uint64_t> fold_splats(const ir::Op& op, const ir::Literal* const* operands, DType result);

} // namespace stithy::pass
