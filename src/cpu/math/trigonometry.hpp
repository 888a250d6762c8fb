#pragma once
#include "cpu/math/math_base.hpp"

/// sin, cos, tan, atan2. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

/// Up to here two parts of pi/2 reduce an argument, but next to its multiples; beyond, and there, the C library does it, lane by lane.
template <class T>
constexpr T reducible = sizeof(T) == 8 ? T(0x1p29) : T(100000.0F);

/// x - q unit in two parts, for x >= 0 and integral or half-integral q, and the lanes for which that did not work.
template <class T>
struct Angle {
    Vector<T> r, rest;
    unsigned failed; ///< a bit a lane
};

#if STITHY_SIMD_BYTES == 64
/// Lanes in which not both x <= limit and y >= least, as bits.
STITHY_INLINE unsigned lanes_without(F64 x, F64 limit, F64 y, F64 least) {
    const __mmask8 small = _mm512_cmp_pd_mask(x, limit, _CMP_LE_OQ);
    return 0xffU ^ _mm512_mask_cmp_pd_mask(small, y, least, _CMP_GE_OQ);
}
STITHY_INLINE unsigned lanes_without(F32 x, F32 limit, F32 y, F32 least) {
    const __mmask16 small = _mm512_cmp_ps_mask(x, limit, _CMP_LE_OQ);
    return 0xffffU ^ _mm512_mask_cmp_ps_mask(small, y, least, _CMP_GE_OQ);
}
#else
STITHY_INLINE unsigned lanes_without(F64 x, F64 limit, F64 y, F64 least) {
    const __m256d both = _mm256_and_pd(_mm256_cmp_pd(x, limit, _CMP_LE_OQ), _mm256_cmp_pd(y, least, _CMP_GE_OQ));
    return 0xfU ^ static_cast<unsigned>(_mm256_movemask_pd(both));
}
STITHY_INLINE unsigned lanes_without(F32 x, F32 limit, F32 y, F32 least) {
    const __m256 both = _mm256_and_ps(_mm256_cmp_ps(x, limit, _CMP_LE_OQ), _mm256_cmp_ps(y, least, _CMP_GE_OQ));
    return 0xffU ^ static_cast<unsigned>(_mm256_movemask_ps(both));
}
#endif
template <class T>
STITHY_INLINE Angle<T> subtract_multiple(Vector<T> x, Vector<T> q, T high, T middle) {
    // Twice what the second product is at most, q unit being about x.
    const T guard = 4 * (middle < 0 ? -middle : middle) / high;
    const Vector<T> near = fnma(q, all(high), x); // exact, but for rounding that does not matter when x < 1
    const Vector<T> r = fnma(q, all(middle), near);
    // near - r is exact unless the second product nearly cancels the rest.
    const Vector<T> rest = fnma(q, all(middle), near - r);
    return {r, rest, lanes_without(x, all(reducible<T>), magnitude<T>(near), x * guard)};
}

/// sin(r + rest), |r| <= pi/2.
template <class T>
STITHY_INLINE Vector<T> sin_wide_reduced(const Angle<T>& angle) {
    const Vector<T> r = angle.r, square = r * r, square_rest = fma(r, r, -square);
    // The rest counts times about cos(r), what the square lost times about -r/6.
    const Vector<T> rest = fma(square * T{-0.5}, angle.rest, angle.rest);
    const Vector<T> fine = fma(r * static_cast<T>(-0x1.5555555555555p-3), square_rest, rest);
    return r + fma(r, square * polynomial(sin_wide<T>, square), fine);
}

/// A function of its own, which the vector functions leave to: so they need no frame.
template <class T, class Scalar>
__attribute__((noinline, cold)) Vector<T> mend_lanes(Vector<T> y, Vector<T> x, unsigned failed) {
    for (int i = 0; i < lanes_of<T>; ++i)
        if ((failed >> i & 1U) != 0) y[i] = Scalar()(x[i]);
    return y;
}
template <class T, class Scalar>
STITHY_INLINE Vector<T> mend(Vector<T> y, Vector<T> x, unsigned failed, Scalar) {
    return __builtin_expect(failed != 0, 0) ? mend_lanes<T, Scalar>(y, x, failed) : y;
}

template <class T>
constexpr T per_pi = static_cast<T>(0x1.45f306dc9c883p-2);

template <class T, class Scalar>
STITHY_INLINE Vector<T> vector_sin(Vector<T> x, Scalar scalar) {
    const Vector<T> a = magnitude<T>(x), rounder = all(IntegerOf<T>::rounder);
    const Vector<T> shifted = fma(a, all(per_pi<T>), rounder);
    const Angle<T> angle = subtract_multiple<T>(a, shifted - rounder, 2 * half_pi_parts<T>.high, 2 * half_pi_parts<T>.middle);
    const Integers<T> sign = (bits<T>(shifted) << (sizeof(T) * 8 - 1)) ^ (bits<T>(x) & from_memory<T>(sign_word<T>));
    return mend<T>(value<T>(bits<T>(sin_wide_reduced(angle)) ^ sign), x, angle.failed, scalar);
}

/// cos(x) = -sin(x - pi/2): an odd multiple of pi/2 is taken off.
template <class T, class Scalar>
STITHY_INLINE Vector<T> vector_cos(Vector<T> x, Scalar scalar) {
    const Vector<T> a = magnitude<T>(x), rounder = all(IntegerOf<T>::rounder);
    const Vector<T> shifted = fma(a, all(per_pi<T>), all(T{-0.5})) + rounder;
    const Angle<T> angle = subtract_multiple<T>(a, (shifted - rounder) + T{0.5}, 2 * half_pi_parts<T>.high, 2 * half_pi_parts<T>.middle);
    const Integers<T> sign = ~bits<T>(shifted) << (sizeof(T) * 8 - 1);
    return mend<T>(value<T>(bits<T>(sin_wide_reduced(angle)) ^ sign), x, angle.failed, scalar);
}

template <class T, class Scalar>
STITHY_INLINE Vector<T> vector_tan(Vector<T> x, Scalar scalar) {
    const Vector<T> a = magnitude<T>(x), rounder = all(IntegerOf<T>::rounder);
    const Vector<T> shifted = fma(a, all(2 * per_pi<T>), rounder);
    const Angle<T> angle = subtract_multiple<T>(a, shifted - rounder, half_pi_parts<T>.high, half_pi_parts<T>.middle);
    const Vector<T> r = angle.r, square = r * r;
    const Vector<T> sine = r + fma(square * r, polynomial(sin_terms<T>, square), angle.rest);
    const Vector<T> half = square * T{0.5}, near = T{1} - half;
    const Vector<T> tail = fma(square * square, polynomial(cos_terms<T>, square), -(r * angle.rest));
    const Vector<T> cosine = near + (((T{1} - near) - half) + tail);
    const Integers<T> odd = bits<T>(shifted) << (sizeof(T) * 8 - 1);
    // The quotient, turned over in odd quarters; the sign of that and of x joins at the end.
    const Vector<T> y = (odd < 0 ? cosine : sine) / (odd < 0 ? sine : cosine);
    return mend<T>(value<T>(bits<T>(y) ^ odd ^ (bits<T>(x) & from_memory<T>(sign_word<T>))), x, angle.failed, scalar);
}

/// The angle of (x, y). q = smaller / larger of the magnitudes, folded to [-tan(pi/8), tan(pi/8)] by atan(q) = pi/4 + atan((q - 1)/(q +
/// 1)).
template <class T>
STITHY_INLINE Vector<T> vector_atan2(Vector<T> y, Vector<T> x) {
    const Vector<T> ay = magnitude<T>(y), ax = magnitude<T>(x);
    const auto steep = ay > ax;
    Vector<T> large = steep ? ay : ax, small = steep ? ax : ay;
    constexpr T low_end = sizeof(T) == 8 ? T(0x1p-900) : T(0x1p-80F), high_end = sizeof(T) == 8 ? T(0x1p1000) : T(0x1p120F);
    const Integers<T> extreme = ~((large > low_end) & (large < high_end));
    if (__builtin_expect(any(extreme), 0)) {
        // Brings the larger to about 1, so that sums do not overflow and quotients lose nothing.
        const Vector<T> exponent = exponent_of(large);
        const Vector<T> shift = magnitude<T>(exponent) < infinity_of<T> ? -exponent : Vector<T>{};
        small = scale(small, shift);
        large = scale(large, shift);
        // Two infinities are at 45 degrees; two zeros count as (1, 0).
        small = large == infinity_of<T> ? (small == infinity_of<T> ? all(T{1}) : Vector<T>{}) : small;
        large = large == infinity_of<T> ? all(T{1}) : large;
        large = large == T{0} ? all(T{1}) : large;
    }
    const auto fold = small > large * static_cast<T>(0x1.a827999fcef34p-2);
    const Vector<T> difference = small - large, sum = small + large;
    // What the difference and the sum lost.
    const Vector<T> difference_rest = small - (difference + large), sum_rest = small - (sum - large);
    const Vector<T> numerator = fold ? difference : small, denominator = fold ? sum : large;
    const Vector<T> q = numerator / denominator;
    const Vector<T> rest = fold ? (difference_rest - q * sum_rest) * rough_inverse(denominator) : Vector<T>{};
    // Angle = eighths pi/4 +- atan(q)
    Vector<T> eighths = fold ? all(T{1}) : Vector<T>{};
    eighths = steep ? T{2} - eighths : eighths;
    const auto left = bits<T>(x) < 0;
    eighths = left ? T{4} - eighths : eighths;
    const Integers<T> flips = (steep & 1) ^ (left & 1);
    const Vector<T> square = q * q;
    const Vector<T> part = negate_odd<T>(q, flips);
    const Vector<T> tail = negate_odd<T>(fma(square * q, polynomial(atan_terms<T>, square), rest), flips);
    const Vector<T> high = eighths * quarter_pi_parts<T>.high; // exact
    const Vector<T> sum_high = high + part, lost = part - (sum_high - high);
    const Vector<T> total = high == T{0} ? part + tail : sum_high + (fma(eighths, all(quarter_pi_parts<T>.middle), tail) + lost);
    const Vector<T> result = with_sign<T>(total, y);
    const Vector<T> invalid = x + y;
    return invalid == invalid ? result : (x == x ? (y == y ? result : y) : x);
}

} // namespace
} // namespace stithy::cpu
