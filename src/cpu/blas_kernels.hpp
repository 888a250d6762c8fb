#pragma once
#include <cstdint>

namespace stithy::cpu {

/// A product c = a b + beta c of one block, cut into tiles. Row i, column p of `a` is at a[(i / rows) * a_panel + (i % rows) * a_row + p *
/// a_step], where `rows` is the kernels' tile height; row p, column j of `b` at b[(j / columns) * b_panel + p * b_step + j % columns].
/// Packed operands and plain matrices are both of this form.
template <class T>
struct GemmBlock {
    std::int64_t m, n, k;
    const T* a;
    std::int64_t a_row, a_step, a_panel;
    const T* b;
    std::int64_t b_step, b_panel;
    T* c;
    std::int64_t ldc;
    T beta;
};

/// The kernels of one instruction set and type.
template <class T>
struct BlasKernels {
    int rows, columns; ///< the tile of the matrix product
    void (*gemm_block)(const GemmBlock<T>& block);
    /// Packs rows [0, m) x [0, k) of an operand whose element (i, p) is at source[i * row + p * step] into panels of `width` rows,
    /// element (i, p) at target[(i / width) * width * k + p * width + i % width]; rows beyond m are zero.
    void (*pack)(std::int64_t m, std::int64_t k, const T* source, std::int64_t row, std::int64_t step, int width, T* target);
    /// y[i] = sum_j a[i][j] x[j] + beta y[i], a of m rows and n columns.
    void (*gemv)(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y);
    /// y[j] = sum_i a[i][j] x[i] + beta y[j].
    void (*gemv_transposed)(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, const T* x, T beta, T* y);
    /// a[i][j] = x[i] y[j] + beta a[i][j].
    void (*ger)(std::int64_t m, std::int64_t n, const T* x, const T* y, T beta, T* a, std::int64_t lda);
    T (*dot)(std::int64_t n, const T* x, const T* y);
};

const BlasKernels<double>& blas_kernels_avx512(double);
const BlasKernels<float>& blas_kernels_avx512(float);
const BlasKernels<double>& blas_kernels_avx2(double);
const BlasKernels<float>& blas_kernels_avx2(float);
const BlasKernels<double>& blas_kernels_sse(double);
const BlasKernels<float>& blas_kernels_sse(float);

/// The kernels for the instruction set in use.
template <class T>
const BlasKernels<T>& blas_kernels();

} // namespace stithy::cpu
