#pragma once
#include "stithy/operand.hpp"

#include <initializer_list>
#include <string_view>

/// Products that sum over axes. Dtypes promote. Error, of each, when the extents of summed axes differ or there are none.
namespace stithy {

/// Matrix product by NumPy's rules: the last axis of a with the last but one of b; axes before are batches and broadcast; rank 1 is a
/// vector.
[[nodiscard]] Array matmul(const Operand& a, const Operand& b);
/// Sum over the last axis of a and the last but one (or only) axis of b.
[[nodiscard]] Array dot(const Operand& a, const Operand& b);
/// Sum over the last axes of both.
[[nodiscard]] Array inner(const Operand& a, const Operand& b);
/// All products of elements of two vectors (other ranks are flattened): [n, m].
[[nodiscard]] Array outer(const Operand& a, const Operand& b);
/// Sum over the last `axes` axes of a and the first ones of b.
[[nodiscard]] Array tensordot(const Operand& a, const Operand& b, int axes = 2);
/// Einstein's convention for one or two arrays: `einsum("bij,bjk->bik", a, b)`; `...` is not supported.
/// Error for a formula of another form, or letters that do not fit the ranks and extents.
[[nodiscard]] Array einsum(std::string_view formula, const Operand& a);
[[nodiscard]] Array einsum(std::string_view formula, const Operand& a, const Operand& b);

/// Sum of the diagonal of the last two axes. Error for rank below 2.
[[nodiscard]] Array trace(const Operand& x);

} // namespace stithy
