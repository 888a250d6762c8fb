#pragma once
#include "cpu/blas_kernels.hpp"
#include "cpu/simd.hpp"

#include <utility>

/// Matrix products by tiles that stay in registers. Included between simd_begin.hpp and simd_end.hpp.
namespace stithy::cpu {
namespace {

#if STITHY_SIMD_BYTES == 64
constexpr int tile_rows = 8, tile_vectors = 3; // 24 accumulators of 32 registers
#else
constexpr int tile_rows = 4, tile_vectors = STITHY_SIMD_BYTES == 32
                                                ? 3
                                                : 2; // 12 of 16; with 16 bytes no fused multiply-add: a product needs a register too
#endif

template <class T>
struct Tile {
    const T *a, *b;
    T* c;
    std::int64_t k, a_row, a_step, b_step, ldc;
    T beta;
    int last; // lanes in use of the last vector
};

/// One tile of Rows x Vectors. Tail: the last vector has fewer lanes, which are neither read nor written.
template <class T, int Rows, int Vectors, bool Tail>
void tile(const Tile<T>& t) {
    constexpr int lanes = lanes_of<T>;
    Vector<T> sum[Rows][Vectors];
    STITHY_UNROLL
    for (int r = 0; r < Rows; ++r) {
        __builtin_prefetch(t.c + r * t.ldc, 1);
        STITHY_UNROLL
        for (int v = 0; v < Vectors; ++v) sum[r][v] = Vector<T>{};
    }
    const T *a = t.a, *b = t.b;
    const std::int64_t a_row = t.a_row, a_step = t.a_step, b_step = t.b_step;
    const int last = t.last;
    for (std::int64_t p = t.k; p > 0; --p) {
        Vector<T> x[Vectors];
        STITHY_UNROLL
        for (int v = 0; v < Vectors; ++v) x[v] = Tail && v == Vectors - 1 ? load_first(b + v * lanes, last) : load(b + v * lanes);
        STITHY_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const Vector<T> y = broadcast(a[r * a_row]);
            STITHY_UNROLL
            for (int v = 0; v < Vectors; ++v) sum[r][v] = fma(y, x[v], sum[r][v]);
        }
        a += a_step;
        b += b_step;
    }
    STITHY_UNROLL
    for (int r = 0; r < Rows; ++r) {
        STITHY_UNROLL
        for (int v = 0; v < Vectors; ++v) {
            T* c = t.c + r * t.ldc + v * lanes;
            const bool partial = Tail && v == Vectors - 1;
            Vector<T> value = sum[r][v];
            if (t.beta != T{0}) value = fma(broadcast(t.beta), partial ? load_first(c, last) : load(c), value);
            if (partial)
                store_first(c, value, last);
            else
                store(c, value);
        }
    }
}

template <class T>
using TileFunction = void (*)(const Tile<T>&);

/// tiles[rows - 1][vectors - 1][tail]
template <class T>
struct TileTable {
    TileFunction<T> at[tile_rows][tile_vectors][2];
};

template <class T, int Rows>
constexpr void fill_rows(TileTable<T>& table) {
    table.at[Rows - 1][0][0] = tile<T, Rows, 1, false>;
    table.at[Rows - 1][0][1] = tile<T, Rows, 1, true>;
    table.at[Rows - 1][1][0] = tile<T, Rows, 2, false>;
    table.at[Rows - 1][1][1] = tile<T, Rows, 2, true>;
    if constexpr (tile_vectors > 2) {
        table.at[Rows - 1][2][0] = tile<T, Rows, 3, false>;
        table.at[Rows - 1][2][1] = tile<T, Rows, 3, true>;
    }
    if constexpr (Rows > 1) fill_rows<T, Rows - 1>(table);
}

template <class T>
constexpr TileTable<T> make_tiles() {
    TileTable<T> table{};
    fill_rows<T, tile_rows>(table);
    return table;
}

template <class T>
constexpr TileTable<T> tiles = make_tiles<T>();

/// A row of tiles after the other: a panel of `a` stays in the first cache while `b` streams from the second.
template <class T>
void gemm_block(const GemmBlock<T>& g) {
    constexpr int lanes = lanes_of<T>, columns = tile_vectors * lanes;
    Tile<T> t{};
    t.k = g.k;
    t.a_row = g.a_row;
    t.a_step = g.a_step;
    t.b_step = g.b_step;
    t.ldc = g.ldc;
    t.beta = g.beta;
    const T* a = g.a;
    for (std::int64_t i = 0; i < g.m; i += tile_rows, a += g.a_panel) {
        const int rows = static_cast<int>(g.m - i < tile_rows ? g.m - i : tile_rows);
        const T* b = g.b;
        for (std::int64_t j = 0; j < g.n; j += columns, b += g.b_panel) {
            const int width = static_cast<int>(g.n - j < columns ? g.n - j : columns);
            const int vectors = (width + lanes - 1) / lanes;
            t.a = a;
            t.b = b;
            t.c = g.c + i * g.ldc + j;
            t.last = width - (vectors - 1) * lanes;
            tiles<T>.at[rows - 1][vectors - 1][t.last != lanes ? 1 : 0](t);
        }
    }
}

/// Transposes a square of vectors by interleaving halves, once for each bit of the lane's number.
template <class T, std::size_t... I>
STITHY_INLINE void transpose_lanes(Vector<T>* v, std::index_sequence<I...>) {
    constexpr int lanes = lanes_of<T>;
    STITHY_UNROLL
    for (int stage = 1; stage < lanes; stage *= 2) {
        Vector<T> next[lanes];
        STITHY_UNROLL
        for (int i = 0; i < lanes / 2; ++i) {
            next[2 * i] = __builtin_shufflevector(v[i], v[i + lanes / 2], (I / 2 + I % 2 * lanes)...);
            next[2 * i + 1] = __builtin_shufflevector(v[i], v[i + lanes / 2], (I / 2 + lanes / 2 + I % 2 * lanes)...);
        }
        STITHY_UNROLL
        for (int i = 0; i < lanes; ++i) v[i] = next[i];
    }
}

template <class T>
STITHY_INLINE void copy_transposed(const T* source, std::int64_t row, T* target, std::int64_t width) {
    constexpr int lanes = lanes_of<T>;
    Vector<T> v[lanes];
    STITHY_UNROLL
    for (int i = 0; i < lanes; ++i) v[i] = load(source + i * row);
    transpose_lanes<T>(v, std::make_index_sequence<lanes>());
    STITHY_UNROLL
    for (int i = 0; i < lanes; ++i) store(target + i * width, v[i]);
}

/// Rows that are contiguous (row 1), or whose elements are (step 1), go by vectors.
template <class T>
void pack_panel(std::int64_t rows, std::int64_t k, const T* source, std::int64_t row, std::int64_t step, int width, T* target) {
    if (row == 1 && rows == width) {
        for (std::int64_t p = 0; p < k; ++p, target += width, source += step)
            __builtin_memcpy(target, source, static_cast<std::size_t>(width) * sizeof(T));
        return;
    }
    constexpr std::int64_t lanes = lanes_of<T>;
    const std::int64_t square_rows = step == 1 ? rows / lanes * lanes : 0, square_steps = step == 1 ? k / lanes * lanes : 0;
    for (std::int64_t i = 0; i < square_rows; i += lanes)
        for (std::int64_t p = 0; p < square_steps; p += lanes) copy_transposed(source + i * row + p, row, target + p * width + i, width);
    for (std::int64_t i = 0; i < width; ++i) {
        const T* from = source + i * row;
        if (i >= rows)
            for (std::int64_t p = 0; p < k; ++p) target[p * width + i] = T{0};
        else
            for (std::int64_t p = i < square_rows ? square_steps : 0; p < k; ++p) target[p * width + i] = from[p * step];
    }
}

template <class T>
void pack(std::int64_t m, std::int64_t k, const T* source, std::int64_t row, std::int64_t step, int width, T* target) {
    for (std::int64_t i = 0; i < m; i += width) {
        pack_panel(m - i < width ? m - i : width, k, source + i * row, row, step, width, target);
        target += width * k;
    }
}

} // namespace
} // namespace stithy::cpu
