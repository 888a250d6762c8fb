#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

/// Vectors of floats for the files that are compiled once for each instruction set. A file defines STITHY_SIMD_BYTES (16, 32 or 64) and
/// includes cpu/simd_begin.hpp, then this, then its kernels, then cpu/simd_end.hpp. Everything is local to the file, so that code
/// for one instruction set is never merged with that for another; for the same reason nothing of the standard library is
/// called between begin and end.
namespace stithy::cpu {
namespace {

#define STITHY_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define STITHY_UNROLL _Pragma("unroll")
#else
#define STITHY_UNROLL _Pragma("GCC unroll 16")
#endif

constexpr int simd_bytes = STITHY_SIMD_BYTES;

template <class T>
struct VectorOf {
    typedef T Type __attribute__((vector_size(STITHY_SIMD_BYTES)));
    static constexpr int lanes = STITHY_SIMD_BYTES / static_cast<int>(sizeof(T));
};
template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
constexpr int lanes_of = VectorOf<T>::lanes;

template <class T>
STITHY_INLINE Vector<T> load(const T* p) {
    Vector<T> v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
STITHY_INLINE void store(T* p, Vector<T> v) {
    __builtin_memcpy(p, &v, sizeof v);
}
template <class T>
STITHY_INLINE Vector<T> broadcast(T value) {
    return value - Vector<T>{}; // value - 0 keeps -0
}

#if STITHY_SIMD_BYTES == 64
STITHY_INLINE Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) { return _mm512_fmadd_pd(a, b, c); }
STITHY_INLINE Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm512_fmadd_ps(a, b, c); }
/// The first `count` lanes; zero in the others. 0 <= count <= lanes.
STITHY_INLINE Vector<double> load_first(const double* p, int count) {
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), p);
}
STITHY_INLINE Vector<float> load_first(const float* p, int count) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), p);
}
STITHY_INLINE void store_first(double* p, Vector<double> v, int count) {
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << count) - 1U), v);
}
STITHY_INLINE void store_first(float* p, Vector<float> v, int count) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << count) - 1U), v);
}
#elif STITHY_SIMD_BYTES == 32
STITHY_INLINE Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) { return _mm256_fmadd_pd(a, b, c); }
STITHY_INLINE Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm256_fmadd_ps(a, b, c); }
STITHY_INLINE __m256i first_mask(int count, const double*) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
STITHY_INLINE __m256i first_mask(int count, const float*) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
STITHY_INLINE Vector<double> load_first(const double* p, int count) { return _mm256_maskload_pd(p, first_mask(count, p)); }
STITHY_INLINE Vector<float> load_first(const float* p, int count) { return _mm256_maskload_ps(p, first_mask(count, p)); }
STITHY_INLINE void store_first(double* p, Vector<double> v, int count) { _mm256_maskstore_pd(p, first_mask(count, p), v); }
STITHY_INLINE void store_first(float* p, Vector<float> v, int count) { _mm256_maskstore_ps(p, first_mask(count, p), v); }
#else
template <class V>
STITHY_INLINE V fma(V a, V b, V c) {
    return a * b + c;
}
template <class T>
STITHY_INLINE Vector<T> load_first(const T* p, int count) {
    Vector<T> v{};
    for (int i = 0; i < lanes_of<T>; ++i)
        if (i < count) v[i] = p[i];
    return v;
}
template <class T>
STITHY_INLINE void store_first(T* p, Vector<T> v, int count) {
    for (int i = 0; i < lanes_of<T>; ++i)
        if (i < count) p[i] = v[i];
}
#endif

/// Sum of the lanes, as a tree that halves the vector.
template <class T>
STITHY_INLINE T sum_lanes(Vector<T> v) {
    T part[lanes_of<T>];
    __builtin_memcpy(part, &v, sizeof v);
    STITHY_UNROLL
    for (int half = lanes_of<T> / 2; half > 0; half /= 2) {
        STITHY_UNROLL
        for (int i = 0; i < lanes_of<T> / 2; ++i)
            if (i < half) part[i] += part[i + half];
    }
    return part[0];
}

} // namespace
} // namespace stithy::cpu
