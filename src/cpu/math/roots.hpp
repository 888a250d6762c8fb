#pragma once
#include "cpu/math/math_base.hpp"

/// cbrt, rsqrt, remainder. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

/// |x| = 2^(3q) m with 1 <= m < 8; an approximation of m^(-1/3) gives the root, which is corrected once with an exact residual.
template <class T>
STITHY_INLINE Vector<T> vector_cbrt(Vector<T> x) {
    const Vector<T> a = magnitude<T>(x);
    const Vector<T> e = exponent_of(a), f = fraction_of(a);
    const Vector<T> q = round_down((e + T{0.5}) * static_cast<T>(0x1.5555555555555p-2)), i = e - T{3} * q;
    const Vector<T> power = i == T{0} ? all(T{1}) : i == T{1} ? all(T{2}) : all(T{4});
    const Vector<T> inverse = i == T{0}   ? all(T{1})
                              : i == T{1} ? all(static_cast<T>(0x1.965fea53d6e3dp-1))
                                          : all(static_cast<T>(0x1.428a2f98d728bp-1));
    const Vector<T> m = f * power;
    Vector<T> y = polynomial(cube_terms<T>, f) * inverse;
    const Vector<T> error = fma(-(m * y), y * y, all(T{1}));
    const Vector<T> step = fma(error, all(static_cast<T>(0x1.c71c71c71c71cp-3)), all(static_cast<T>(0x1.5555555555555p-2))); // 1/3 + 2/9 e
    y = fma(y * error, step, y);
    const Vector<T> root = m * (y * y);
    const Vector<T> square = root * root, square_rest = fma(root, root, -square);
    const Vector<T> residual = fma(-square, root, m) - square_rest * root;
    const Vector<T> fine = fma(residual * static_cast<T>(0x1.5555555555555p-2), y * y, root);
    const Vector<T> regular = with_sign<T>(scale(fine, q), x);
    const Vector<T> finite = x == T{0} ? x : regular;
    return a < infinity_of<T> ? finite : x;
}

template <class T>
STITHY_INLINE Vector<T> vector_rsqrt(Vector<T> x) {
    return T{1} / square_root(x);
}

/// x - trunc(x / y) y where the quotient is small enough to be exact, else lane by lane.
template <class T, class Scalar>
STITHY_INLINE Vector<T> vector_remainder(Vector<T> x, Vector<T> y, Scalar scalar) {
    constexpr T exact = sizeof(T) == 8 ? T(0x1p52) : T(0x1p22F);
    const Vector<T> a = magnitude<T>(x), b = magnitude<T>(y);
    const Vector<T> quotient = a / b, q = truncate(quotient);
    Vector<T> r = fma(-q, b, a);
    r = r < T{0} ? r + b : r; // the quotient was rounded up to an integer
    Vector<T> result = with_sign<T>(r, x);
    // Zero, infinite and tiny divisors too: there the quotient is not small, not ordinary, or not exact.
    constexpr T smallest = sizeof(T) == 8 ? T(0x1p-960) : T(0x1p-100F);
    const Integers<T> odd = ~((quotient < exact) & (b > smallest) & (b < infinity_of<T>));
    if (__builtin_expect(any(odd), 0)) {
        for (int i = 0; i < lanes_of<T>; ++i)
            if (odd[i] != 0) result[i] = scalar(x[i], y[i]);
    }
    return result;
}

} // namespace
} // namespace stithy::cpu
