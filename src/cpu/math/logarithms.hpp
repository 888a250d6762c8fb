#pragma once
#include "cpu/math/math_base.hpp"

/// log and log1p. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

/// x = 2^exponent fraction with 3/4 <= fraction < 3/2, so that logarithms near 1 have exponent 0.
template <class T>
struct Split {
    Vector<T> exponent, fraction;
};
template <class T>
STITHY_INLINE Split<T> split(Vector<T> x) {
    const Vector<T> e = exponent_of(x), m = fraction_of(x);
    const auto large = m >= T{1.5};
    return {large ? e + T{1} : e, large ? m * T{0.5} : m};
}

/// log(x + rest), where rest is too small to be added to x.
template <bool WithRest, class Terms>
STITHY_INLINE F64 log_core(F64 x, F64 rest, const Terms& terms) {
    const Split<double> s = split<double>(x);
    const Integers<double> index = bits<double>(s.fraction) >> 48;
    const F64 inverse = lookup(log_inverse, index);
    F64 r = fma(s.fraction, inverse, all(-1.0));
    // Arguments with a rest are below 2^60 in effect: above, the rest is zero.
    if constexpr (WithRest) r = fma(rest * inverse, scale(all(1.0), -at_most(all(1000.0), s.exponent)), r);
    const F64 high = fma(s.exponent, all(log2_high), lookup(log_high, index)); // exact
    const F64 low = fma(s.exponent, all(log2_low), lookup(log_low, index));
    const F64 square = r * r;
    const F64 series = fma(square * r, polynomial(terms, r), low);
    return high + (r + fma(square, all(-0.5), series));
}

template <bool WithRest>
STITHY_INLINE F64 log_core(F64 x, F64 rest) {
    return log_core<WithRest>(x, rest, log_terms<double>);
}

template <bool WithRest>
STITHY_INLINE F32 log_core(F32 x, F32 rest) {
    const Split<float> s = split<float>(x);
    F32 r = s.fraction - 1.0F; // exact
    if constexpr (WithRest) r = fma(rest, scale(all(1.0F), -at_most(all(120.0F), s.exponent)), r);
    const F32 square = r * r;
    const F32 series = fma(square * r, polynomial(log_terms<float>, r), s.exponent * all(log2_low_f32));
    const F32 near = r + fma(square, all(-0.5F), series);
    return fma(s.exponent, all(log2_high_f32), near);
}

template <class T>
STITHY_INLINE Vector<T> vector_log(Vector<T> x) {
    const Vector<T> y = log_core<false>(x, Vector<T>{});
#if STITHY_SIMD_BYTES == 64
    // Zero and infinity have come out right.
    return x < T{0} ? all(nan_of<T>) : y;
#else
    const Vector<T> positive = x == T{0} ? all(-infinity_of<T>) : x == infinity_of<T> ? x : y;
    return x < T{0} ? all(nan_of<T>) : positive;
#endif
}

template <class T>
STITHY_INLINE Vector<T> vector_log1p(Vector<T> x) {
    const Vector<T> u = T{1} + x;
    // The rounding error of that sum, exactly, whichever term is larger.
    const Vector<T> added = u - T{1};
    const Vector<T> rest = (T{1} - (u - added)) + (x - added);
    const Vector<T> y = log_core<true>(u, rest);
    const Vector<T> regular = x < infinity_of<T> ? with_sign<T>(y, x) : x; // keeps -0, infinity and NaN
    const Vector<T> edge = x == T{-1} ? all(-infinity_of<T>) : regular;
    return x < T{-1} ? all(nan_of<T>) : edge;
}

} // namespace
} // namespace stithy::cpu
