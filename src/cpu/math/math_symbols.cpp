#include "cpu/math/math_functions.hpp"
#include "cpu/symbols.hpp"

#include <cmath>

// The vector functions take and give vectors that this file need not know: only their addresses are used.
#define STITHY_FUNCTIONS(row)                                                                                                              \
    row(exp) row(expm1) row(log) row(log1p) row(cbrt) row(sin) row(cos) row(tan) row(tanh) row(logistic) row(rsqrt) row(atan2) row(power)  \
        row(remainder)
#define STITHY_DECLARE(name)                                                                                                               \
    void stithy_##name##_f64x4();                                                                                                          \
    void stithy_##name##_f64x8();                                                                                                          \
    void stithy_##name##_f32x8();                                                                                                          \
    void stithy_##name##_f32x16();
#define STITHY_LIST(name)                                                                                                                  \
    {"stithy_" #name "_f64x4", reinterpret_cast<void*>(&stithy_##name##_f64x4)},                                                           \
        {"stithy_" #name "_f64x8", reinterpret_cast<void*>(&stithy_##name##_f64x8)},                                                       \
        {"stithy_" #name "_f32x8", reinterpret_cast<void*>(&stithy_##name##_f32x8)},                                                       \
        {"stithy_" #name "_f32x16", reinterpret_cast<void*>(&stithy_##name##_f32x16)},

extern "C" {
STITHY_FUNCTIONS(STITHY_DECLARE)
}

namespace stithy::cpu {

std::span<const NativeSymbol> math_symbols() {
    static const NativeSymbol list[] = {
        STITHY_FUNCTIONS(STITHY_LIST){"stithy_cbrt_f64", reinterpret_cast<void*>(&stithy_cbrt_f64)},
        {"stithy_rsqrt_f64", reinterpret_cast<void*>(&stithy_rsqrt_f64)},
        {"stithy_rsqrt_f32", reinterpret_cast<void*>(&stithy_rsqrt_f32)},
        {"stithy_logistic_f64", reinterpret_cast<void*>(&stithy_logistic_f64)},
        {"stithy_logistic_f32", reinterpret_cast<void*>(&stithy_logistic_f32)},
    };
    return list;
}

} // namespace stithy::cpu

#undef STITHY_FUNCTIONS
#undef STITHY_DECLARE
#undef STITHY_LIST

namespace {

template <class T>
T logistic(T x) {
    const T e = std::exp(-std::fabs(x));
    return (x < T{0} ? e : T{1}) / (T{1} + e);
}

} // namespace

// The C library's cbrt is off by up to 3 ULP; one more step of Newton's method with an exact residual mends that.
double stithy_cbrt_f64(double x) {
    if (!std::isfinite(x) || x == 0.0) return x;
    const bool tiny = std::fabs(x) < 0x1p-900;
    const double scaled = tiny ? x * 0x1p210 : x;
    const double y = std::cbrt(scaled);
    const double square = y * y, rest = std::fma(y, y, -square);
    const double residual = std::fma(square, y, -scaled) + rest * y;
    const double fine = y - residual / (3.0 * square);
    return tiny ? fine * 0x1p-70 : fine;
}

double stithy_rsqrt_f64(double x) { return 1.0 / std::sqrt(x); }
float stithy_rsqrt_f32(float x) { return 1.0F / std::sqrt(x); }
double stithy_logistic_f64(double x) { return logistic(x); }
float stithy_logistic_f32(float x) { return logistic(x); }
