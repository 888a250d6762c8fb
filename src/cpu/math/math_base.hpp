#pragma once
#include "cpu/math/math_coefficients.hpp"
#include "cpu/simd.hpp"

#include <cstdint>

/// What the elementary functions are built from: operations on vectors of floats beside those of cpu/simd.hpp. Included between
/// simd_begin.hpp and simd_end.hpp, for 32- and 64-byte vectors. Code here relies on products and sums being rounded apart unless it
/// says fma (-ffp-contract=off).
namespace stithy::cpu {
namespace {

template <class T>
struct IntegerOf;
template <>
struct IntegerOf<double> {
    using Scalar = std::int64_t;
    typedef std::int64_t Type __attribute__((vector_size(STITHY_SIMD_BYTES)));
    static constexpr int fraction_bits = 52, bias = 1023;
    static constexpr double rounder = 0x1.8p52; ///< adding it rounds to an integer, found in the low bits
};
template <>
struct IntegerOf<float> {
    using Scalar = std::int32_t;
    typedef std::int32_t Type __attribute__((vector_size(STITHY_SIMD_BYTES)));
    static constexpr int fraction_bits = 23, bias = 127;
    static constexpr float rounder = 0x1.8p23F;
};
template <class T>
using Integers = typename IntegerOf<T>::Type;

template <class T>
STITHY_INLINE Integers<T> bits(Vector<T> x) {
    return reinterpret_cast<Integers<T>>(x);
}
template <class T>
STITHY_INLINE Vector<T> value(Integers<T> x) {
    return reinterpret_cast<Vector<T>>(x);
}

/// Sums of bit patterns, which may pass the largest integer.
template <class I>
STITHY_INLINE I wrapping_sum(I a, I b) {
    typedef std::uint64_t Words __attribute__((vector_size(STITHY_SIMD_BYTES)));
    typedef std::uint32_t Halves __attribute__((vector_size(STITHY_SIMD_BYTES)));
    if constexpr (sizeof(a[0]) == 8)
        return reinterpret_cast<I>(reinterpret_cast<Words>(a) + reinterpret_cast<Words>(b));
    else
        return reinterpret_cast<I>(reinterpret_cast<Halves>(a) + reinterpret_cast<Halves>(b));
}
template <class T>
STITHY_INLINE Integers<T> unsigned_shift_right(Integers<T> a, int count) {
    typedef std::uint64_t Words __attribute__((vector_size(STITHY_SIMD_BYTES)));
    typedef std::uint32_t Halves __attribute__((vector_size(STITHY_SIMD_BYTES)));
    if constexpr (sizeof(T) == 8)
        return reinterpret_cast<Integers<T>>(reinterpret_cast<Words>(a) >> static_cast<std::uint64_t>(count));
    else
        return reinterpret_cast<Integers<T>>(reinterpret_cast<Halves>(a) >> static_cast<std::uint32_t>(count));
}
template <class I>
STITHY_INLINE I wrapping_difference(I a, I b) {
    return wrapping_sum(a, wrapping_sum(~b, I{} + 1));
}

using F64 = Vector<double>;
using F32 = Vector<float>;

/// c - a b, rounded once.
#if STITHY_SIMD_BYTES == 64
STITHY_INLINE F64 fnma(F64 a, F64 b, F64 c) { return _mm512_fnmadd_pd(a, b, c); }
STITHY_INLINE F32 fnma(F32 a, F32 b, F32 c) { return _mm512_fnmadd_ps(a, b, c); }
#else
STITHY_INLINE F64 fnma(F64 a, F64 b, F64 c) { return _mm256_fnmadd_pd(a, b, c); }
STITHY_INLINE F32 fnma(F32 a, F32 b, F32 c) { return _mm256_fnmadd_ps(a, b, c); }
#endif

#if STITHY_SIMD_BYTES == 64
STITHY_INLINE F64 round_even(F64 x) { return _mm512_roundscale_pd(x, 8); }
STITHY_INLINE F32 round_even(F32 x) { return _mm512_roundscale_ps(x, 8); }
STITHY_INLINE F64 round_down(F64 x) { return _mm512_roundscale_pd(x, 9); }
STITHY_INLINE F32 round_down(F32 x) { return _mm512_roundscale_ps(x, 9); }
STITHY_INLINE F64 truncate(F64 x) { return _mm512_roundscale_pd(x, 11); }
STITHY_INLINE F32 truncate(F32 x) { return _mm512_roundscale_ps(x, 11); }
/// The smaller, the larger; a NaN in x stays.
STITHY_INLINE F64 at_most(F64 limit, F64 x) { return _mm512_min_pd(limit, x); }
STITHY_INLINE F32 at_most(F32 limit, F32 x) { return _mm512_min_ps(limit, x); }
STITHY_INLINE F64 at_least(F64 limit, F64 x) { return _mm512_max_pd(limit, x); }
STITHY_INLINE F32 at_least(F32 limit, F32 x) { return _mm512_max_ps(limit, x); }
/// x 2^k for any integer k; overflow and subnormal results are rounded once.
STITHY_INLINE F64 scale(F64 x, F64 k) { return _mm512_scalef_pd(x, k); }
STITHY_INLINE F32 scale(F32 x, F32 k) { return _mm512_scalef_ps(x, k); }
/// x = 2^exponent fraction with 1 <= |fraction| < 2, for subnormals too. Zero: exponent -inf, fraction 1; infinity: inf and 1; NaN: NaN.
STITHY_INLINE F64 exponent_of(F64 x) { return _mm512_getexp_pd(x); }
STITHY_INLINE F32 exponent_of(F32 x) { return _mm512_getexp_ps(x); }
STITHY_INLINE F64 fraction_of(F64 x) { return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src); }
STITHY_INLINE F32 fraction_of(F32 x) { return _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src); }
/// table[index mod 16]
STITHY_INLINE F64 lookup(const double* table, Integers<double> index) {
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), reinterpret_cast<__m512i>(index), _mm512_loadu_pd(table + 8));
}
STITHY_INLINE F32 lookup(const float* table, Integers<float> index) {
    return _mm512_permutexvar_ps(reinterpret_cast<__m512i>(index), _mm512_loadu_ps(table));
}
STITHY_INLINE bool any(Integers<double> mask) { return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0; }
STITHY_INLINE bool any(Integers<float> mask) { return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0; }
STITHY_INLINE F64 square_root(F64 x) { return _mm512_sqrt_pd(x); }
STITHY_INLINE F32 square_root(F32 x) { return _mm512_sqrt_ps(x); }
/// 1 / x to three digits or more.
STITHY_INLINE F64 rough_inverse(F64 x) { return _mm512_rcp14_pd(x); }
STITHY_INLINE F32 rough_inverse(F32 x) { return _mm512_rcp14_ps(x); }
#else
STITHY_INLINE F64 round_even(F64 x) { return _mm256_round_pd(x, 8); }
STITHY_INLINE F32 round_even(F32 x) { return _mm256_round_ps(x, 8); }
STITHY_INLINE F64 round_down(F64 x) { return _mm256_round_pd(x, 9); }
STITHY_INLINE F32 round_down(F32 x) { return _mm256_round_ps(x, 9); }
STITHY_INLINE F64 truncate(F64 x) { return _mm256_round_pd(x, 11); }
STITHY_INLINE F32 truncate(F32 x) { return _mm256_round_ps(x, 11); }
STITHY_INLINE F64 at_most(F64 limit, F64 x) { return _mm256_min_pd(limit, x); }
STITHY_INLINE F32 at_most(F32 limit, F32 x) { return _mm256_min_ps(limit, x); }
STITHY_INLINE F64 at_least(F64 limit, F64 x) { return _mm256_max_pd(limit, x); }
STITHY_INLINE F32 at_least(F32 limit, F32 x) { return _mm256_max_ps(limit, x); }
STITHY_INLINE F64 square_root(F64 x) { return _mm256_sqrt_pd(x); }
STITHY_INLINE F32 square_root(F32 x) { return _mm256_sqrt_ps(x); }
STITHY_INLINE F64 rough_inverse(F64 x) { return 1.0 / x; }
STITHY_INLINE F32 rough_inverse(F32 x) { return _mm256_rcp_ps(x); }
STITHY_INLINE bool any(Integers<double> mask) { return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask)) != 0; }
STITHY_INLINE bool any(Integers<float> mask) { return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0; }
STITHY_INLINE F64 lookup(const double* table, Integers<double> index) {
    return _mm256_i64gather_pd(table, reinterpret_cast<__m256i>(index & 15), 8);
}
/// table[index mod 8]
STITHY_INLINE F32 lookup(const float* table, Integers<float> index) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), reinterpret_cast<__m256i>(index));
}

template <class V>
struct ElementOf {
    using Type = double;
};
template <>
struct ElementOf<F32> {
    using Type = float;
};

/// Two steps, of which only the second rounds. |k| < 2^11 (f64), 2^8 (f32).
template <class V>
STITHY_INLINE V scale(V x, V k) {
    using T = typename ElementOf<V>::Type;
    constexpr int shift = IntegerOf<T>::fraction_bits;
    constexpr typename IntegerOf<T>::Scalar bias = IntegerOf<T>::bias;
    const V half = round_down(k * T{0.5});
    const Integers<T> magic = bits<T>(V{} + IntegerOf<T>::rounder);
    const Integers<T> first = wrapping_difference(bits<T>(half + IntegerOf<T>::rounder), magic);
    const Integers<T> second = wrapping_difference(bits<T>((k - half) + IntegerOf<T>::rounder), magic);
    return x * value<T>(wrapping_sum(first, Integers<T>{} + bias) << shift) * value<T>(wrapping_sum(second, Integers<T>{} + bias) << shift);
}

template <class V>
STITHY_INLINE V exponent_of(V x) {
    using T = typename ElementOf<V>::Type;
    using Int = typename IntegerOf<T>::Scalar;
    constexpr int shift = IntegerOf<T>::fraction_bits;
    constexpr Int bias = IntegerOf<T>::bias;
    constexpr T smallest = sizeof(T) == 8 ? T(0x1p-1022) : T(0x1p-126F), up = sizeof(T) == 8 ? T(0x1p54) : T(0x1p24F);
    constexpr T infinity = static_cast<T>(__builtin_inf());
    const V size = value<T>(bits<T>(x) & ~(Int{1} << (sizeof(T) * 8 - 1)));
    const auto tiny = size < smallest;
    const V normal = tiny ? size * up : size;
    // The biased exponent as a number: its bits below those of 2^fraction_bits.
    constexpr Int one = Int{bias + shift} << shift;
    const V number = value<T>((bits<T>(normal) >> shift) | one) - value<T>(Integers<T>{} + one);
    const V exponent = number - (tiny ? V{} + static_cast<T>(bias + (sizeof(T) == 8 ? 54 : 24)) : V{} + static_cast<T>(bias));
    const V finite = size == T{0} ? V{} - infinity : exponent;
    return size < infinity ? finite : size;
}
template <class V>
STITHY_INLINE V fraction_of(V x) {
    using T = typename ElementOf<V>::Type;
    using Int = typename IntegerOf<T>::Scalar;
    constexpr Int sign = Int{1} << (sizeof(T) * 8 - 1), bias = IntegerOf<T>::bias, fraction = (Int{1} << IntegerOf<T>::fraction_bits) - 1;
    constexpr T smallest = sizeof(T) == 8 ? T(0x1p-1022) : T(0x1p-126F), up = sizeof(T) == 8 ? T(0x1p54) : T(0x1p24F);
    constexpr T infinity = static_cast<T>(__builtin_inf());
    const V size = value<T>(bits<T>(x) & ~sign);
    const V normal = size < smallest ? x * up : x;
    const V one = value<T>((bits<T>(normal) & (fraction | sign)) | (bias << IntegerOf<T>::fraction_bits));
    const V zero = size == T{0} ? V{} + T{1} : one;
    const V plain = size == infinity ? V{} + T{1} : zero;
    return x == x ? plain : x;
}
#endif

template <class T>
STITHY_INLINE Vector<T> all(T x) {
    return broadcast<T>(x);
}
template <class T>
constexpr typename IntegerOf<T>::Scalar sign_bit =
    static_cast<typename IntegerOf<T>::Scalar>(typename IntegerOf<T>::Scalar{1} << (sizeof(T) * 8 - 1));

/// An integer in all lanes, read from memory. Compilers otherwise move it through a general register, which costs a unit that wide
/// arithmetic needs.
template <class T>
STITHY_INLINE Integers<T> from_memory(const typename IntegerOf<T>::Scalar& word) {
    const typename IntegerOf<T>::Scalar* place = &word;
    asm("" : "+r"(place)); // hides what stands there
    return Integers<T>{} + *place;
}
template <class T>
constexpr typename IntegerOf<T>::Scalar sign_word = sign_bit<T>;
template <class T>
constexpr typename IntegerOf<T>::Scalar magnitude_word = ~sign_bit<T>;

template <class T>
STITHY_INLINE Vector<T> magnitude(Vector<T> x) {
    return value<T>(bits<T>(x) & from_memory<T>(magnitude_word<T>));
}
/// x with the sign of y.
template <class T>
STITHY_INLINE Vector<T> with_sign(Vector<T> x, Vector<T> y) {
    const Integers<T> mask = from_memory<T>(sign_word<T>);
#if STITHY_SIMD_BYTES == 64
    const auto merged =
        _mm512_ternarylogic_epi64(reinterpret_cast<__m512i>(mask), reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), 0xac);
    return reinterpret_cast<Vector<T>>(merged);
#else
    return value<T>((bits<T>(x) & ~mask) | (bits<T>(y) & mask));
#endif
}
/// x, negated where the lowest bit of `odd` is set.
template <class T>
STITHY_INLINE Vector<T> negate_odd(Vector<T> x, Integers<T> odd) {
    return value<T>(bits<T>(x) ^ (odd << (sizeof(T) * 8 - 1)));
}
/// The low bits of an integral number below 2^fraction_bits / 2.
template <class T>
STITHY_INLINE Integers<T> low_bits(Vector<T> integral) {
    return bits<T>(integral + IntegerOf<T>::rounder);
}

template <class T>
constexpr T infinity_of = static_cast<T>(__builtin_inf());
template <class T>
constexpr T nan_of = static_cast<T>(__builtin_nan(""));

/// c[first] + c[first + 1] x + ..., `count` terms, as a tree: short chains of dependent operations. powers[i] = x^(2^i).
template <class T, std::size_t First, std::size_t Count, std::size_t N>
STITHY_INLINE Vector<T> tree(const Coefficients<T, N>& c, const Vector<T>* powers) {
    if constexpr (Count == 1) {
        return all<T>(c.at[First]);
    } else {
        constexpr int level = Count > 8 ? 3 : Count > 4 ? 2 : Count > 2 ? 1 : 0;
        constexpr std::size_t half = std::size_t{1} << level;
        return fma(tree<T, First + half, Count - half>(c, powers), powers[level], tree<T, First, half>(c, powers));
    }
}
template <class T, std::size_t N>
STITHY_INLINE Vector<T> polynomial(const Coefficients<T, N>& c, Vector<T> x) {
    Vector<T> powers[4];
    powers[0] = x;
    powers[1] = x * x;
    powers[2] = N > 4 ? powers[1] * powers[1] : x;
    powers[3] = N > 8 ? powers[2] * powers[2] : x;
    return tree<T, 0, N>(c, powers);
}

} // namespace
} // namespace stithy::cpu
