#pragma once
#include "cpu/math/exponentials.hpp"
#include "cpu/math/logarithms.hpp"

/// pow. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

/// Puts right what exp(y log|x|) does not give: signs, and the table of special cases of the C standard.
template <class T>
STITHY_INLINE Vector<T> power_special(Vector<T> x, Vector<T> y, Vector<T> size) {
    const Vector<T> ax = magnitude<T>(x), ay = magnitude<T>(y);
    constexpr T all_even = sizeof(T) == 8 ? T(0x1p53) : T(0x1p24F); // from here on every number is an even integer
    const Vector<T> half = y * T{0.5};
    const auto integer = truncate(y) == y;
    const auto odd = integer & (truncate(half) != half) & (ay < all_even);
    // Zero and infinite bases, infinite exponents: 0 or infinity, by whether |x|^y grows.
    const auto grows = (ax > T{1}) == (y > T{0});
    const auto limit = (ax == T{0}) | (ax == infinity_of<T>) | (ay == infinity_of<T>);
    Vector<T> r = limit ? (grows ? all(infinity_of<T>) : Vector<T>{}) : size;
    r = odd ? with_sign<T>(r, x) : r;
    r = ((x < T{0}) & ~integer & (ax < infinity_of<T>)) ? all(nan_of<T>) : r;
    r = ((ax == T{1}) & (ay == infinity_of<T>)) ? all(T{1}) : r;
    const Vector<T> sum = x + y;
    const auto unordered = (x != x) | (y != y);
    r = unordered ? sum : r;
    return ((y == T{0}) | (x == T{1})) ? all(T{1}) : r;
}

#if STITHY_SIMD_BYTES == 64
STITHY_INLINE F64 widen_low(F32 x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
STITHY_INLINE F64 widen_high(F32 x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
STITHY_INLINE F32 narrow(F64 low, F64 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
#else
STITHY_INLINE F64 widen_low(F32 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
STITHY_INLINE F64 widen_high(F32 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
STITHY_INLINE F32 narrow(F64 low, F64 high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}
#endif

/// For x that was an f32: normal, or a special case that is dealt with after.
STITHY_INLINE F64 power_by_log(F64 x, F64 y) {
#if STITHY_SIMD_BYTES == 64
    const Split<double> s = split<double>(x);
#else
    const Split<double> s = split_normal<double>(x);
#endif
    return vector_exp<double>(y * log_core<false>(s, F64{}, log_short_terms));
}

/// In f64, which leaves no error worth the name.
STITHY_INLINE F32 vector_power(F32 x, F32 y) {
    const F32 a = magnitude<float>(x);
    return power_special<float>(x, y, narrow(power_by_log(widen_low(a), widen_low(y)), power_by_log(widen_high(a), widen_high(y))));
}

} // namespace
} // namespace stithy::cpu
