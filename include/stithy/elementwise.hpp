#pragma once
#include "stithy/operand.hpp"

/// Elementwise functions: NumPy's names and broadcasting. Operands are arrays of any shape and dtype, or C++ numbers; dtypes meet as the
/// operators have them (operand.hpp). "Real" below: the result has the operand's floating dtype, and f64 for integers and bools. Errors, of
/// each: a default-made operand; shapes that do not broadcast; a number that does not fit the arrays' dtype.
namespace stithy {

/// e to the power x. Real.
[[nodiscard]] Array exp(const Operand& x);
/// 2 to the power x. Real.
[[nodiscard]] Array exp2(const Operand& x);
/// exp(x) - 1, precise near 0. Real.
[[nodiscard]] Array expm1(const Operand& x);
/// Natural logarithm; NaN below 0. Real.
[[nodiscard]] Array log(const Operand& x);
/// log(1 + x), precise near 0. Real.
[[nodiscard]] Array log1p(const Operand& x);
/// Logarithm to base 2. Real.
[[nodiscard]] Array log2(const Operand& x);
/// Logarithm to base 10. Real.
[[nodiscard]] Array log10(const Operand& x);
/// Square root; NaN below 0. Real.
[[nodiscard]] Array sqrt(const Operand& x);
/// 1 / sqrt(x). Real.
[[nodiscard]] Array rsqrt(const Operand& x);
/// Cube root, of negative numbers too. Real.
[[nodiscard]] Array cbrt(const Operand& x);
/// Sine of an angle in radians. Real.
[[nodiscard]] Array sin(const Operand& x);
/// Cosine. Real.
[[nodiscard]] Array cos(const Operand& x);
/// Tangent. Real.
[[nodiscard]] Array tan(const Operand& x);
/// Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1]. Real.
[[nodiscard]] Array asin(const Operand& x);
/// Inverse cosine, in [0, pi]; NaN outside [-1, 1]. Real.
[[nodiscard]] Array acos(const Operand& x);
/// Inverse tangent, in [-pi/2, pi/2]. Real.
[[nodiscard]] Array atan(const Operand& x);
/// Hyperbolic sine. Real.
[[nodiscard]] Array sinh(const Operand& x);
/// Hyperbolic cosine. Real.
[[nodiscard]] Array cosh(const Operand& x);
/// Hyperbolic tangent. Real.
[[nodiscard]] Array tanh(const Operand& x);
/// 1 / (1 + exp(-x)). Real.
[[nodiscard]] Array sigmoid(const Operand& x);
/// The same as sigmoid.
[[nodiscard]] Array logistic(const Operand& x);
/// max(x, 0), in x's dtype.
[[nodiscard]] Array relu(const Operand& x);
/// log(1 + exp(x)), without overflow. Real.
[[nodiscard]] Array softplus(const Operand& x);
/// x * sigmoid(x). Real.
[[nodiscard]] Array silu(const Operand& x);

/// Magnitude, in x's dtype.
[[nodiscard]] Array abs(const Operand& x);
/// -x, in x's dtype. Error for bool.
[[nodiscard]] Array negative(const Operand& x);
/// -1, 0 or 1, in x's dtype; NaN stays. Error for bool.
[[nodiscard]] Array sign(const Operand& x);
/// x * x, in x's dtype.
[[nodiscard]] Array square(const Operand& x);
/// 1 / x. Real.
[[nodiscard]] Array reciprocal(const Operand& x);
/// The greatest integer that is not greater, in x's dtype.
[[nodiscard]] Array floor(const Operand& x);
/// The least integer that is not less, in x's dtype.
[[nodiscard]] Array ceil(const Operand& x);
/// To the nearest integer, halves to even, in x's dtype.
[[nodiscard]] Array round(const Operand& x);
/// Toward zero, in x's dtype.
[[nodiscard]] Array trunc(const Operand& x);
/// Whether neither infinite nor NaN, as bool.
[[nodiscard]] Array isfinite(const Operand& x);
/// Whether infinite, as bool.
[[nodiscard]] Array isinf(const Operand& x);
/// Whether NaN, as bool.
[[nodiscard]] Array isnan(const Operand& x);

/// a + b, in the common dtype.
[[nodiscard]] Array add(const Operand& a, const Operand& b);
/// a - b, in the common dtype. Error for bools.
[[nodiscard]] Array subtract(const Operand& a, const Operand& b);
/// a * b, in the common dtype.
[[nodiscard]] Array multiply(const Operand& a, const Operand& b);
/// a / b; integers and bools are divided as f64.
[[nodiscard]] Array divide(const Operand& a, const Operand& b);
/// floor(a / b), in the common dtype.
[[nodiscard]] Array floor_divide(const Operand& a, const Operand& b);
/// The remainder of a / b with the sign of b, in the common dtype.
[[nodiscard]] Array mod(const Operand& a, const Operand& b);
/// The same as mod.
[[nodiscard]] Array remainder(const Operand& a, const Operand& b);
/// The remainder of a / b with the sign of a, in the common dtype.
[[nodiscard]] Array fmod(const Operand& a, const Operand& b);
/// a to the power b, in the common dtype. A small integer number as b is done by multiplications.
[[nodiscard]] Array pow(const Operand& a, const Operand& b);
/// The same as pow.
[[nodiscard]] Array power(const Operand& a, const Operand& b);
/// The angle of the point (x, y), in [-pi, pi]. Real.
[[nodiscard]] Array atan2(const Operand& y, const Operand& x);
/// The same as atan2.
[[nodiscard]] Array arctan2(const Operand& y, const Operand& x);
/// sqrt(a * a + b * b), without overflow. Real.
[[nodiscard]] Array hypot(const Operand& a, const Operand& b);
/// log(exp(a) + exp(b)), without overflow. Real.
[[nodiscard]] Array logaddexp(const Operand& a, const Operand& b);
/// The greater of two, in the common dtype; NaN where either is.
[[nodiscard]] Array maximum(const Operand& a, const Operand& b);
/// The lesser of two, in the common dtype; NaN where either is.
[[nodiscard]] Array minimum(const Operand& a, const Operand& b);
/// Kept within [low, high], in the common dtype.
[[nodiscard]] Array clip(const Operand& x, const Operand& low, const Operand& high);
/// a where the condition holds (is not 0), else b, in the common dtype of a and b.
[[nodiscard]] Array where(const Operand& condition, const Operand& a, const Operand& b);

/// a == b, as bool; NaN equals nothing. The operators ==, !=, <, <=, >, >= do the same as this and the following.
[[nodiscard]] Array equal(const Operand& a, const Operand& b);
/// a != b, as bool.
[[nodiscard]] Array not_equal(const Operand& a, const Operand& b);
/// a < b, as bool.
[[nodiscard]] Array less(const Operand& a, const Operand& b);
/// a <= b, as bool.
[[nodiscard]] Array less_equal(const Operand& a, const Operand& b);
/// a > b, as bool.
[[nodiscard]] Array greater(const Operand& a, const Operand& b);
/// a >= b, as bool.
[[nodiscard]] Array greater_equal(const Operand& a, const Operand& b);

/// Whether both are true (not 0), as bool.
[[nodiscard]] Array logical_and(const Operand& a, const Operand& b);
/// Whether either is true (not 0), as bool.
[[nodiscard]] Array logical_or(const Operand& a, const Operand& b);
/// Whether just one is true (not 0), as bool.
[[nodiscard]] Array logical_xor(const Operand& a, const Operand& b);
/// Whether 0, as bool.
[[nodiscard]] Array logical_not(const Operand& x);
/// Bits of both, in the common dtype. Error for floating operands.
[[nodiscard]] Array bitwise_and(const Operand& a, const Operand& b);
/// Bits of either, in the common dtype. Error for floating operands.
[[nodiscard]] Array bitwise_or(const Operand& a, const Operand& b);
/// Bits of just one, in the common dtype. Error for floating operands.
[[nodiscard]] Array bitwise_xor(const Operand& a, const Operand& b);
/// All bits turned, in x's dtype. Error for floating operands.
[[nodiscard]] Array bitwise_not(const Operand& x);

/// x itself, as a constant to every derivative.
[[nodiscard]] Array stop_gradient(const Operand& x);
/// The same bits read as another dtype. Error when that has another size.
[[nodiscard]] Array bitcast(const Operand& x, DType dtype);

} // namespace stithy
