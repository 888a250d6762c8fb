#pragma once
#include "cpu/math/math_base.hpp"

/// exp, expm1, logistic, tanh. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

template <class T>
constexpr T exp_highest = sizeof(T) == 8 ? T(710.0) : T(89.0F);
template <class T>
constexpr T exp_lowest = sizeof(T) == 8 ? T(-746.0) : T(-104.0F);

/// x = k log(2) + r; `expm1` of r is r + (rest + r^2 q(r)) with `rest` what r lost in rounding.
template <class T>
struct Reduced {
    Vector<T> k, r, rest;
};
template <class T>
STITHY_INLINE Reduced<T> reduce_exponent(Vector<T> x) {
    constexpr T per_log2 = static_cast<T>(0x1.71547652b82fep0);
    const Vector<T> k = round_even(x * all(per_log2)), minus = -k;
    const Vector<T> near = fma(minus, all(log2_parts<T>.high), x); // exact
    const Vector<T> r = fma(minus, all(log2_parts<T>.middle), near);
    return {k, r, fma(minus, all(log2_parts<T>.middle), near - r)};
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
        const Vector<T> subnormal = value<T>(bits<T>(count) - bits<T>(all(integers)));
        return small != 0 ? subnormal : scale(fraction, small != 0 ? Vector<T>{} : k);
    }
    return scale(fraction, k);
}

template <class T>
STITHY_INLINE Vector<T> vector_exp(Vector<T> x) {
    const Reduced<T> reduced = reduce_exponent<T>(at_most(all(exp_highest<T>), at_least(all(exp_lowest<T>), x)));
    return scale_exp<T>(exp_fraction(reduced), reduced.k);
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

/// 1 / (1 + exp(-x)), by exp(-|x|), which does not overflow.
template <class T>
STITHY_INLINE Vector<T> vector_logistic(Vector<T> x) {
    const Reduced<T> reduced = reduce_exponent<T>(at_least(all(exp_lowest<T>), -magnitude<T>(x)));
    const Vector<T> r = reduced.r;
    const Vector<T> fraction = T{1} + (r + fma(r * r, polynomial(exp_terms<T>, r), reduced.rest));
    const Vector<T> e = scale_exp<T>(fraction, reduced.k);
    const Vector<T> numerator = x < T{0} ? e : all(T{1});
    return numerator / (T{1} + e);
}

/// t / (t + 2) with t = exp(2|x|) - 1; from t = 2 on, 1 - 2 / (t + 2), where errors count less.
template <class T>
STITHY_INLINE Vector<T> vector_tanh(Vector<T> x) {
    constexpr T highest = sizeof(T) == 8 ? T(22.0) : T(10.0F); // from here on it is 1
    constexpr typename IntegerOf<T>::Scalar bias = IntegerOf<T>::bias;
    const Vector<T> a = at_most(all(highest), magnitude<T>(x));
    const Reduced<T> reduced = reduce_exponent<T>(a + a);
    const Vector<T> r = reduced.r;
    const Vector<T> tail = fma(r * r, polynomial(exp_terms<T>, r), reduced.rest);
    const Vector<T> p = r + tail, lost = (r - p) + tail; // exp(r) - 1 = p + lost
    const Integers<T> k = low_bits<T>(reduced.k) - bits<T>(all(IntegerOf<T>::rounder));
    const Vector<T> power = value<T>((k + bias) << IntegerOf<T>::fraction_bits); // 1 ... 2^64
    const Vector<T> t = fma(power, p, power - T{1}), d = fma(power, p, power + T{1});
    const auto large = t > T{2};
    const Vector<T> q = (large ? all(T{-2}) : fma(power, lost, t)) / d;
    return with_sign<T>(large ? q + T{1} : q, x);
}

} // namespace
} // namespace stithy::cpu
