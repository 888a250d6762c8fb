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

#if STITHY_SIMD_BYTES == 32
/// The same, quicker, for positive, finite, normal x.
template <class T>
STITHY_INLINE Split<T> split_normal(Vector<T> x) {
    using Int = typename IntegerOf<T>::Scalar;
    constexpr int shift = IntegerOf<T>::fraction_bits;
    constexpr Int one = Int{IntegerOf<T>::bias} << shift, half = Int{1} << (shift - 1), exponent_bits = ~((Int{1} << shift) - 1);
    const Integers<T> exponent = wrapping_sum(bits<T>(x), Integers<T>{} + half) & exponent_bits; // biased; from 1.5 on one more
    // As the low bits of a number next to 2^fraction_bits.
    constexpr Int large = Int{IntegerOf<T>::bias + shift} << shift;
    constexpr T subtracted = (sizeof(T) == 8 ? T(0x1p52) : T(0x1p23F)) + static_cast<T>(IntegerOf<T>::bias);
    return {value<T>(unsigned_shift_right<T>(exponent, shift) | large) - subtracted,
            value<T>(wrapping_sum(wrapping_difference(bits<T>(x), exponent), Integers<T>{} + one))};
}
template <class T>
STITHY_INLINE Integers<T> not_normal(Vector<T> x) {
    constexpr T smallest = sizeof(T) == 8 ? T(0x1p-1022) : T(0x1p-126F);
    return ~((x >= smallest) & (x < infinity_of<T>));
}
#endif

/// `rest` as a part of the fraction. Arguments with a rest are below 2^60 in effect: above, the rest does not count.
template <class T>
STITHY_INLINE Vector<T> scaled_rest(Vector<T> rest, const Split<T>& s) {
    constexpr T bound = sizeof(T) == 8 ? T(1000) : T(120.0F);
    return rest * scale(all(T{1}), -at_most(all(bound), s.exponent));
}

/// log(x + rest), where x has been split and `rest`, 0 without WithRest, is too small to be added to it.
#if STITHY_SIMD_BYTES == 64
template <bool WithRest, class Terms>
STITHY_INLINE F64 log_core(const Split<double>& s, F64 rest, const Terms& terms) {
    const Integers<double> index = bits<double>(s.fraction) >> 48;
    const F64 inverse = lookup(log_inverse, index);
    F64 r = fma(s.fraction, inverse, all(-1.0));
    if constexpr (WithRest) r = fma(scaled_rest<double>(rest, s), inverse, r);
    const F64 high = fma(s.exponent, all(log2_high), lookup(log_high, index)); // exact
    const F64 low = fma(s.exponent, all(log2_low), lookup(log_low, index));
    const F64 square = r * r;
    const F64 series = fma(square * r, polynomial(terms, r), low);
    return high + (r + fma(square, all(-0.5), series));
}
#else
// Tables in memory are slow to read lane by lane; a division is not. log(1 + r) = r - r^2/2 + q (r^2/2 + q^2 G(q^2)), q = r / (2 + r).
template <bool WithRest, class Terms>
STITHY_INLINE F64 log_core(const Split<double>& s, F64 rest, const Terms&) {
    F64 r = s.fraction - 1.0; // exact
    if constexpr (WithRest) r += scaled_rest<double>(rest, s);
    const F64 q = r / (2.0 + r), square = q * q, half = r * r * 0.5;
    const F64 series = fma(square, polynomial(log_quotient_terms, square), half);
    const F64 low = fma(q, series, s.exponent * log2_low);
    return fma(s.exponent, all(log2_high), r - (half - low));
}
#endif

template <bool WithRest>
STITHY_INLINE F64 log_core(const Split<double>& s, F64 rest) {
    return log_core<WithRest>(s, rest, log_terms<double>);
}

template <bool WithRest>
STITHY_INLINE F32 log_core(const Split<float>& s, F32 rest) {
    F32 r = s.fraction - 1.0F; // exact
    if constexpr (WithRest) r += scaled_rest<float>(rest, s);
    const F32 square = r * r;
    const F32 series = fma(square * r, polynomial(log_terms<float>, r), s.exponent * log2_low_f32);
    return fma(s.exponent, all(log2_high_f32), r + fma(square, all(-0.5F), series));
}

template <class T>
STITHY_INLINE Vector<T> vector_log(Vector<T> x) {
#if STITHY_SIMD_BYTES == 64
    const Vector<T> y = log_core<false>(split<T>(x), Vector<T>{});
    // Zero and infinity have come out right.
    return x < T{0} ? all(nan_of<T>) : y;
#else
    const Integers<T> odd = not_normal<T>(x);
    if (__builtin_expect(any(odd), 0)) {
        const Vector<T> y = log_core<false>(split<T>(x), Vector<T>{});
        const Vector<T> positive = x == T{0} ? all(-infinity_of<T>) : (x == infinity_of<T> ? x : y);
        return x < T{0} ? all(nan_of<T>) : positive;
    }
    return log_core<false>(split_normal<T>(x), Vector<T>{});
#endif
}

template <class T>
STITHY_INLINE Vector<T> vector_log1p(Vector<T> x) {
    const Vector<T> u = T{1} + x;
    // The rounding error of that sum, exactly, whichever term is larger.
    const Vector<T> added = u - T{1};
    const Vector<T> rest = (T{1} - (u - added)) + (x - added);
#if STITHY_SIMD_BYTES == 64
    const Vector<T> y = log_core<true>(split<T>(u), rest);
#else
    // Where u is not normal, the result is chosen below.
    const Vector<T> y = log_core<true>(split_normal<T>(u), rest);
#endif
    const Vector<T> regular = x < infinity_of<T> ? with_sign<T>(y, x) : x; // keeps -0, infinity and NaN
    const Vector<T> edge = x == T{-1} ? all(-infinity_of<T>) : regular;
    return x < T{-1} ? all(nan_of<T>) : edge;
}

} // namespace
} // namespace stithy::cpu
