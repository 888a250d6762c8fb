#pragma once
#include "cpu/simd.hpp"

/// Products with vectors: bound by how fast the matrix can be read. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

template <class T>
T dot(std::int64_t n, const T* x, const T* y) {
    constexpr int lanes = lanes_of<T>, unroll = 8;
    Vector<T> sum[unroll] = {};
    std::int64_t i = 0;
    for (; i + unroll * lanes <= n; i += unroll * lanes) {
        STITHY_UNROLL
        for (int u = 0; u < unroll; ++u) sum[u] = fma(load(x + i + u * lanes), load(y + i + u * lanes), sum[u]);
    }
    for (int u = 0; i < n; i += lanes, u = (u + 1) % unroll) {
        const int count = static_cast<int>(n - i < lanes ? n - i : lanes);
        sum[u] = fma(load_first(x + i, count), load_first(y + i, count), sum[u]);
    }
    return sum_lanes<T>(((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7])));
}

template <class T>
STITHY_INLINE void put(T& y, T value, T beta) {
    y = beta == T{0} ? value : value + beta * y;
}

/// Rows at a time; each lane sums its share of a row, the lanes are joined at the end.
template <class T, int Rows>
STITHY_INLINE void gemv_rows(std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y) {
    constexpr int lanes = lanes_of<T>;
    Vector<T> even[Rows] = {}, odd[Rows] = {};
    std::int64_t j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes) {
        const Vector<T> x0 = load(x + j), x1 = load(x + j + lanes);
        STITHY_UNROLL
        for (int r = 0; r < Rows; ++r) {
            even[r] = fma(load(a + r * lda + j), x0, even[r]);
            odd[r] = fma(load(a + r * lda + j + lanes), x1, odd[r]);
        }
    }
    for (int half = 0; j < n; j += lanes, ++half) {
        const int count = static_cast<int>(n - j < lanes ? n - j : lanes);
        const Vector<T> x0 = load_first(x + j, count);
        STITHY_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const Vector<T> values = load_first(a + r * lda + j, count);
            if (half == 0)
                even[r] = fma(values, x0, even[r]);
            else
                odd[r] = fma(values, x0, odd[r]);
        }
    }
    STITHY_UNROLL
    for (int r = 0; r < Rows; ++r) put(y[r], sum_lanes<T>(even[r] + odd[r]), beta);
}

template <class T>
void gemv(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y) {
    std::int64_t i = 0;
    for (; i + 4 <= m; i += 4) gemv_rows<T, 4>(n, a + i * lda, lda, x, beta, y + i);
    for (; i < m; ++i) gemv_rows<T, 1>(n, a + i * lda, lda, x, beta, y + i);
}

/// y += the sum of Rows rows, each times its element of x; First: y is beta y before.
template <class T, int Rows, bool First>
STITHY_INLINE void add_rows(std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y) {
    constexpr int lanes = lanes_of<T>;
    Vector<T> factor[Rows];
    STITHY_UNROLL
    for (int r = 0; r < Rows; ++r) factor[r] = broadcast(x[r]);
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        Vector<T> sum = First ? (beta == T{0} ? Vector<T>{} : beta * load(y + j)) : load(y + j);
        STITHY_UNROLL
        for (int r = 0; r < Rows; ++r) sum = fma(load(a + r * lda + j), factor[r], sum);
        store(y + j, sum);
    }
    if (j < n) {
        const int count = static_cast<int>(n - j);
        Vector<T> sum = First ? (beta == T{0} ? Vector<T>{} : beta * load_first(y + j, count)) : load_first(y + j, count);
        STITHY_UNROLL
        for (int r = 0; r < Rows; ++r) sum = fma(load_first(a + r * lda + j, count), factor[r], sum);
        store_first(y + j, sum, count);
    }
}

template <class T>
void gemv_transposed(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y) {
    std::int64_t i = 0;
    if (m >= 8) {
        add_rows<T, 8, true>(n, a, lda, x, beta, y);
        i = 8;
    } else {
        add_rows<T, 0 + 1, true>(n, a, lda, x, beta, y);
        i = 1;
    }
    for (; i + 8 <= m; i += 8) add_rows<T, 8, false>(n, a + i * lda, lda, x + i, beta, y);
    for (; i < m; ++i) add_rows<T, 1, false>(n, a + i * lda, lda, x + i, beta, y);
}

template <class T>
void ger(std::int64_t m, std::int64_t n, const T* x, const T* y, T beta, T* a, std::int64_t lda) {
    constexpr int lanes = lanes_of<T>;
    for (std::int64_t i = 0; i < m; ++i, a += lda) {
        const Vector<T> factor = broadcast(x[i]);
        for (std::int64_t j = 0; j < n; j += lanes) {
            const int count = static_cast<int>(n - j < lanes ? n - j : lanes);
            if (count == lanes) {
                const Vector<T> old = beta == T{0} ? Vector<T>{} : beta * load(a + j);
                store(a + j, fma(factor, load(y + j), old));
            } else {
                const Vector<T> old = beta == T{0} ? Vector<T>{} : beta * load_first(a + j, count);
                store_first(a + j, fma(factor, load_first(y + j, count), old), count);
            }
        }
    }
}

} // namespace
} // namespace stithy::cpu
