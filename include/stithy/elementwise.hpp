#pragma once
#include "stithy/operand.hpp"

/// Elementwise functions: NumPy's names, broadcasting, and dtypes as the operators have them. Functions of real numbers turn integers into
/// f64.
namespace stithy {

[[nodiscard]] Array exp(const Operand& x);
[[nodiscard]] Array exp2(const Operand& x);
/// exp(x) - 1, precise near 0.
[[nodiscard]] Array expm1(const Operand& x);
[[nodiscard]] Array log(const Operand& x);
/// log(1 + x), precise near 0.
[[nodiscard]] Array log1p(const Operand& x);
[[nodiscard]] Array log2(const Operand& x);
[[nodiscard]] Array log10(const Operand& x);
[[nodiscard]] Array sqrt(const Operand& x);
/// 1 / sqrt(x).
[[nodiscard]] Array rsqrt(const Operand& x);
[[nodiscard]] Array cbrt(const Operand& x);
[[nodiscard]] Array sin(const Operand& x);
[[nodiscard]] Array cos(const Operand& x);
[[nodiscard]] Array tan(const Operand& x);
[[nodiscard]] Array asin(const Operand& x);
[[nodiscard]] Array acos(const Operand& x);
[[nodiscard]] Array atan(const Operand& x);
[[nodiscard]] Array sinh(const Operand& x);
[[nodiscard]] Array cosh(const Operand& x);
[[nodiscard]] Array tanh(const Operand& x);
/// 1 / (1 + exp(-x)); `logistic` is the same.
[[nodiscard]] Array sigmoid(const Operand& x);
[[nodiscard]] Array logistic(const Operand& x);
/// max(x, 0).
[[nodiscard]] Array relu(const Operand& x);
/// log(1 + exp(x)), without overflow.
[[nodiscard]] Array softplus(const Operand& x);
/// x * sigmoid(x).
[[nodiscard]] Array silu(const Operand& x);

/// Integers stay integers.
[[nodiscard]] Array abs(const Operand& x);
[[nodiscard]] Array negative(const Operand& x);
[[nodiscard]] Array sign(const Operand& x);
[[nodiscard]] Array square(const Operand& x);
[[nodiscard]] Array reciprocal(const Operand& x);
[[nodiscard]] Array floor(const Operand& x);
[[nodiscard]] Array ceil(const Operand& x);
/// To the nearest integer, halves to even.
[[nodiscard]] Array round(const Operand& x);
/// Toward zero.
[[nodiscard]] Array trunc(const Operand& x);
[[nodiscard]] Array isfinite(const Operand& x);
[[nodiscard]] Array isinf(const Operand& x);
[[nodiscard]] Array isnan(const Operand& x);

[[nodiscard]] Array add(const Operand& a, const Operand& b);
[[nodiscard]] Array subtract(const Operand& a, const Operand& b);
[[nodiscard]] Array multiply(const Operand& a, const Operand& b);
[[nodiscard]] Array divide(const Operand& a, const Operand& b);
/// floor(a / b), integers as integers.
[[nodiscard]] Array floor_divide(const Operand& a, const Operand& b);
/// The remainder with the sign of b (`mod`, `remainder`), or of a (`fmod`).
[[nodiscard]] Array mod(const Operand& a, const Operand& b);
[[nodiscard]] Array remainder(const Operand& a, const Operand& b);
[[nodiscard]] Array fmod(const Operand& a, const Operand& b);
/// a to the power b. A small integer number as b is done by multiplications.
[[nodiscard]] Array pow(const Operand& a, const Operand& b);
[[nodiscard]] Array power(const Operand& a, const Operand& b);
/// The angle of the point (x, y).
[[nodiscard]] Array atan2(const Operand& y, const Operand& x);
[[nodiscard]] Array arctan2(const Operand& y, const Operand& x);
/// sqrt(a * a + b * b), without overflow.
[[nodiscard]] Array hypot(const Operand& a, const Operand& b);
/// log(exp(a) + exp(b)), without overflow.
[[nodiscard]] Array logaddexp(const Operand& a, const Operand& b);
/// The greater or lesser of two; NaN where either is.
[[nodiscard]] Array maximum(const Operand& a, const Operand& b);
[[nodiscard]] Array minimum(const Operand& a, const Operand& b);
/// Kept within [low, high].
[[nodiscard]] Array clip(const Operand& x, const Operand& low, const Operand& high);
/// a where the condition holds, else b.
[[nodiscard]] Array where(const Operand& condition, const Operand& a, const Operand& b);

[[nodiscard]] Array equal(const Operand& a, const Operand& b);
[[nodiscard]] Array not_equal(const Operand& a, const Operand& b);
[[nodiscard]] Array less(const Operand& a, const Operand& b);
[[nodiscard]] Array less_equal(const Operand& a, const Operand& b);
[[nodiscard]] Array greater(const Operand& a, const Operand& b);
[[nodiscard]] Array greater_equal(const Operand& a, const Operand& b);

/// Anything but 0 counts as true.
[[nodiscard]] Array logical_and(const Operand& a, const Operand& b);
[[nodiscard]] Array logical_or(const Operand& a, const Operand& b);
[[nodiscard]] Array logical_xor(const Operand& a, const Operand& b);
[[nodiscard]] Array logical_not(const Operand& x);
[[nodiscard]] Array bitwise_and(const Operand& a, const Operand& b);
[[nodiscard]] Array bitwise_or(const Operand& a, const Operand& b);
[[nodiscard]] Array bitwise_xor(const Operand& a, const Operand& b);
[[nodiscard]] Array bitwise_not(const Operand& x);

/// x itself, as a constant to every derivative.
[[nodiscard]] Array stop_gradient(const Operand& x);
/// The same bits read as another dtype of the same size.
[[nodiscard]] Array bitcast(const Operand& x, DType dtype);

} // namespace stithy
