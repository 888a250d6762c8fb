#pragma once
#include "stithy/dtype.hpp"

namespace stithy::cpu {

/// The elementary functions that kernels call. `sqrt` is an instruction and is not here.
enum class MathFunction { exp, expm1, log, log1p, cbrt, sin, cos, tan, tanh, logistic, rsqrt, atan2, power, remainder };

inline constexpr int math_function_count = 14;

/// Short name: "exp", "atan2", ...
const char* math_function_name(MathFunction function);

/// Number of operands: 2 for atan2, power and remainder, else 1.
int math_function_arity(MathFunction function);

/// Name of the function that computes `lanes` values at once (f32: 4, 8, 16; f64: 2, 4, 8), or nullptr: then call the scalar one for each
/// lane. Operands and result are vectors of exactly that many lanes, passed as LLVM's C calling convention passes <lanes x float|double>;
/// the caller's module must be compiled for a level with registers of that width. The function is pure and reads no memory but constants.
const char* vector_math_symbol(MathFunction function, DType dtype, int lanes);

/// Name of the function of one value, C calling convention. Never nullptr for f32 and f64. It differs from the vector one by rounding only.
const char* scalar_math_symbol(MathFunction function, DType dtype);

} // namespace stithy::cpu
