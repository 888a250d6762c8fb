#pragma once
#include "cpu/math/math_base.hpp"

/// exp, expm1, logistic, tanh. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

template <class T>
constexpr T exp_highest = sizeof(T) == 8 ? T(710.0) : T(89.0F);
template <class T>
constexpr T exp_lowest = sizeof(T) == 8 ? T(-746.0) : T(-104.0F);

template <class T>
constexpr T per_log2 = static_cast<T>(0x1.71547652b82fep0);

/// x = k log(2) + r; exp(r) - 1 is r + (rest + r^2 q(r)) with `rest` what r lost in rounding.
template <class T>
struct Reduced {
    Vector<T> k, r, rest;
    Integers<T> k_bits; ///< k in the low bits
};
template <class T>
STITHY_INLINE Reduced<T> reduce_exponent(Vector<T> x) {
    const Vector<T> rounder = all(IntegerOf<T>::rounder);
    const Vector<T> shifted = fma(x, all(per_log2<T>), rounder), k = shifted - rounder;
    const Vector<T> near = fnma(k, all(log2_parts<T>.high), x); // exact
    const Vector<T> r = fnma(k, all(log2_parts<T>.middle), near);
    return {k, r, fnma(k, all(log2_parts<T>.middle), near - r), bits<T>(shifted)};
}

/// exp(r) - 1 for the reduced argument.
template <class T>
STITHY_INLINE Vector<T> expm1_reduced(const Reduced<T>& reduced) {
    const Vector<T> r = reduced.r;
    return r + fma(r * r, polynomial(exp_terms<T>, r), reduced.rest);
}

/// exp(x) = 2^k fraction.
template <class T>
STITHY_INLINE Vector<T> exp_fraction(const Reduced<T>& reduced) {
    const Vector<T> r = reduced.r;
    return T{1} + fma(r * r, polynomial(exp_terms<T>, r), r);
}

/// fraction 2^k, 0.7 < fraction < 1.42, where subnormal results are put together from integers: arithmetic that makes them costs
/// processors a hundred cycles and more.
template <class T>
STITHY_INLINE Vector<T> scale_exp(Vector<T> fraction, Vector<T> k) {
    constexpr T lowest_normal = sizeof(T) == 8 ? T(-1022) : T(-126.0F), unit = sizeof(T) == 8 ? T(1074) : T(149.0F);
    constexpr T integers = sizeof(T) == 8 ? T(0x1p52) : T(0x1p23F); // adding it rounds to an integer, found in the low bits
    const Integers<T> small = k < lowest_normal;
    if (__builtin_expect(any(small), 0)) {
        const Vector<T> count = scale(fraction, (small != 0 ? k : all(-unit)) + unit) + integers; // in units of the smallest number
        const Vector<T> subnormal = value<T>(wrapping_difference(bits<T>(count), bits<T>(all(integers))));
        return small != 0 ? subnormal : scale(fraction, small != 0 ? Vector<T>{} : k);
    }
    return scale(fraction, k);
}

/// Where |x| is up to here, exp(x) and exp(-x) are neither infinite nor subnormal.
template <class T>
constexpr T exp_ordinary = sizeof(T) == 8 ? T(707.5) : T(87.0F);

/// exp(x) for |x| <= exp_ordinary: 2^(j/16) from a table leaves a short polynomial.
#if STITHY_SIMD_BYTES == 64
template <class T>
STITHY_INLINE Vector<T> exp_quick(Vector<T> x) {
    const Vector<T> rounder = all(IntegerOf<T>::rounder / 16); // rounds to sixteenths
    const Vector<T> shifted = fma(x, all(per_log2<T>), rounder), k = shifted - rounder;
    const Vector<T> r = fnma(k, all(log2_parts<T>.middle), fnma(k, all(log2_parts<T>.high), x));
    const Vector<T> p = fma(r * r, polynomial(exp_short_terms<T>, r), r);
    // 2^k: the bits of k moved to where an exponent has its integral part. What its sixteenths add to the fraction, the table has taken
    // off.
    const Integers<T> places = bits<T>(shifted) << (IntegerOf<T>::fraction_bits - 4);
    const Vector<T> power = value<T>(wrapping_sum(bits<T>(lookup(exp2_sixteenths_less<T>.at, bits<T>(shifted))), places));
    return fma(power, p, power);
}
#else
STITHY_INLINE F64 exp_quick(F64 x) {
    const Reduced<double> reduced = reduce_exponent<double>(x);
    const F64 r = reduced.r;
    const F64 power = value<double>(wrapping_sum(reduced.k_bits, Integers<double>{} + 1023) << 52);
    return (1.0 + fma(r * r, polynomial(exp_terms<double>, r), r)) * power;
}
STITHY_INLINE F32 exp_quick(F32 x) {
    const F32 rounder = all(IntegerOf<float>::rounder / 8);
    const F32 shifted = fma(x, all(per_log2<float>), rounder), k = shifted - rounder;
    const F32 r = fnma(k, all(log2_parts<float>.middle), fnma(k, all(log2_parts<float>.high), x));
    const F32 p = fma(r * r, polynomial(exp_short_terms<float>, r), r);
    const Integers<float> whole = (bits<float>(shifted) >> 3) << 23;
    const F32 power = value<float>(wrapping_sum(bits<float>(lookup(exp2_eighths_f32, bits<float>(shifted))), whole));
    return fma(power, p, power);
}
template <class T>
STITHY_INLINE Vector<T> exp_quick(Vector<T> x) {
    return exp_quick(x);
}
#endif

/// exp of anything.
template <class T>
STITHY_INLINE Vector<T> exp_whole(Vector<T> x) {
    const Reduced<T> reduced = reduce_exponent<T>(at_most(all(exp_highest<T>), at_least(all(exp_lowest<T>), x)));
    return scale_exp<T>(exp_fraction(reduced), reduced.k);
}

template <class T>
STITHY_INLINE Vector<T> vector_exp(Vector<T> x) {
    const Integers<T> far = ~(magnitude<T>(x) <= exp_ordinary<T>);
    return __builtin_expect(any(far), 0) ? exp_whole<T>(x) : exp_quick<T>(x);
}

template <class T>
STITHY_INLINE Vector<T> vector_expm1(Vector<T> x) {
    // Below the lower limit the result is -1; there 2^-k is still finite.
    constexpr T lowest = sizeof(T) == 8 ? T(-50.0) : T(-20.0F);
    const Reduced<T> reduced = reduce_exponent<T>(at_most(all(exp_highest<T>), at_least(all(lowest), x)));
    constexpr T bound = sizeof(T) == 8 ? T(1000) : T(100.0F); // 2^-k no longer matters, and is not yet subnormal
    // (exp(r) - 1) + (1 - 2^-k), times 2^k
    const Vector<T> y = expm1_reduced(reduced) + (T{1} - scale(all(T{1}), -at_most(all(bound), reduced.k)));
    return with_sign<T>(scale(y, reduced.k), x);
}

/// 1 / (1 + exp(-x)), by exp(-|x|), which does not overflow; a little more exact than exp itself, since two more roundings follow.
template <class T>
STITHY_INLINE Vector<T> vector_logistic(Vector<T> x) {
    const Reduced<T> reduced = reduce_exponent<T>(at_least(all(exp_lowest<T>), -magnitude<T>(x)));
    const Vector<T> r = reduced.r;
    const Vector<T> fraction = T{1} + (r + fma(r * r, polynomial(exp_terms<T>, r), reduced.rest));
    const Vector<T> e = scale_exp<T>(fraction, reduced.k);
    return (x < T{0} ? e : all(T{1})) / (T{1} + e);
}

/// 2|x| = n step + 2u, and exp(2|x|) = w (1 + h) / (1 - h) with w from n and h = tanh(u): tanh|x| = ((w - 1) + (w + 1) h) / ((w + 1) + (w -
/// 1) h). Both sides are taken times c, about 1/w, so that nothing is large: lower = (w - 1) c, upper = (w + 1) c.
template <class T>
struct TanhParts {
    Vector<T> u, lower, upper;
};

/// The reduced argument's tanh, for `terms` that are those of (tanh(u)/u - 1) / u^2.
template <class T, std::size_t N>
STITHY_INLINE Vector<T> tanh_reduced(Vector<T> u, const Coefficients<T, N>& terms) {
    const Vector<T> square = u * u;
    return fma(square * u, polynomial(terms, square), u);
}

/// The step is log(2); w is 2^n, c is 2^-n: exact.
template <class T>
STITHY_INLINE TanhParts<T> tanh_parts(Vector<T> a) {
    constexpr int shift = IntegerOf<T>::fraction_bits;
    const Vector<T> rounder = all(IntegerOf<T>::rounder + IntegerOf<T>::bias);
    const Vector<T> shifted = fnma(a, all(2 * per_log2<T>), rounder), n = shifted - rounder; // minus the n above
    Vector<T> u = fma(n, all(log2_parts<T>.high / 2), a);
    if constexpr (sizeof(T) == 8) u = fma(n, all(log2_parts<T>.middle / 2), u);
    const Vector<T> c = value<T>(bits<T>(shifted) << shift);
    return {u, T{1} - c, T{1} + c};
}

#if STITHY_SIMD_BYTES == 64
/// The step is log(2) / 16, rounded down so that nothing cancels. The bits of n below the exponent's remain in c's fraction, which makes it
/// 2^-floor(n/16) (1 - (n mod 16)/32); the table has what w c differs from 1 by, times a
/// factor on which it depends where roundings cost most.
STITHY_INLINE TanhParts<double> tanh_parts_by_table(F64 a) {
    const F64 rounder = all(IntegerOf<double>::rounder + 16 * IntegerOf<double>::bias);
    const F64 shifted = _mm512_fnmadd_round_pd(a, all(32 * per_log2<double>), rounder, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const F64 n = shifted - rounder, u = fma(n, all(log2_parts<double>.high / 32), a);
    const F64 c = value<double>(bits<double>(shifted) << 48);
    constexpr double factor = tanh_table_factor;
    const F64 lower = lookup(tanh_sixteenths, bits<double>(shifted)) + fnma(c, all(factor), all(factor));
    return {u, lower, fma(c, all(2 * factor), lower)};
}
#endif

template <class T>
STITHY_INLINE Vector<T> vector_tanh(Vector<T> x) {
    constexpr T highest = sizeof(T) == 8 ? T(20.0) : T(10.0F); // from here on it is 1
    const Vector<T> a = at_most(all(highest), magnitude<T>(x));
    constexpr bool table = sizeof(T) == 8 && simd_bytes == 64;
    TanhParts<T> parts;
    Vector<T> h;
    if constexpr (table) {
        parts = tanh_parts_by_table(a);
        h = tanh_reduced<T>(parts.u, tanh_short_terms);
    } else {
        parts = tanh_parts<T>(a);
        h = tanh_reduced<T>(parts.u, tanh_terms<T>);
    }
    // The first is not above the second, so that the quotient does not pass 1.
    return with_sign<T>(fma(parts.upper, h, parts.lower) / fma(parts.lower, h, parts.upper), x);
}

} // namespace
} // namespace stithy::cpu
