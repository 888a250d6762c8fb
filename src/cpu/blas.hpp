#pragma once
#include "runtime/native.hpp"

#include <cstdint>

/// Matrix products for compiled code and the executor. All matrices are row-major; leading dimensions and batch strides count elements.
/// `ta`, `tb` nonzero: the operand is stored transposed. `c` must not overlap the operands. They return 0 or a status of
/// cpu/libraries.hpp with the record filled, and throw nothing. The same call gives the same bits whatever the number of threads.
extern "C" {

/// c = op(a) op(b) + beta c, with op(a) m x k, op(b) k x n, c m x n, for each of `batch` triples; a batch stride may be 0.
/// beta = 0 does not read c. k = 0 gives beta c.
std::int32_t stithy_gemm_f64(stithy::runtime::Runtime*, std::int64_t ta, std::int64_t tb, std::int64_t m, std::int64_t n, std::int64_t k,
                             const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc,
                             std::int64_t batch, std::int64_t stride_a, std::int64_t stride_b, std::int64_t stride_c);
std::int32_t stithy_gemm_f32(stithy::runtime::Runtime*, std::int64_t ta, std::int64_t tb, std::int64_t m, std::int64_t n, std::int64_t k,
                             const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc,
                             std::int64_t batch, std::int64_t stride_a, std::int64_t stride_b, std::int64_t stride_c);

/// y = op(a) x + beta y, with a stored as m rows of n; x and y are contiguous (`ta`: x has m elements and y n, else the other way round).
std::int32_t stithy_gemv_f64(stithy::runtime::Runtime*, std::int64_t ta, std::int64_t m, std::int64_t n, const double* a, std::int64_t lda,
                             const double* x, double beta, double* y);
std::int32_t stithy_gemv_f32(stithy::runtime::Runtime*, std::int64_t ta, std::int64_t m, std::int64_t n, const float* a, std::int64_t lda,
                             const float* x, float beta, float* y);

/// a = x y^T + beta a, a m x n.
std::int32_t stithy_ger_f64(stithy::runtime::Runtime*, std::int64_t m, std::int64_t n, const double* x, const double* y, double beta,
                            double* a, std::int64_t lda);
std::int32_t stithy_ger_f32(stithy::runtime::Runtime*, std::int64_t m, std::int64_t n, const float* x, const float* y, float beta, float* a,
                            std::int64_t lda);

/// *result = sum x[i] y[i].
std::int32_t stithy_dot_f64(stithy::runtime::Runtime*, std::int64_t n, const double* x, const double* y, double* result);
std::int32_t stithy_dot_f32(stithy::runtime::Runtime*, std::int64_t n, const float* x, const float* y, float* result);
}
