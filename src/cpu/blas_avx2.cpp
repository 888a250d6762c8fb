#define STITHY_SIMD_BYTES 32
#include "cpu/blas_kernels.hpp"

#include <immintrin.h>

#include <utility>

#include "cpu/simd_begin.hpp"

#include "cpu/gemm_tiles.hpp"
#include "cpu/vector_products.hpp"

namespace stithy::cpu {

namespace {
template <class T>
constexpr BlasKernels<T> kernels = {tile_rows, tile_vectors* lanes_of<T>, gemm_block<T>, pack<T>,
                                    gemv<T>,   gemv_transposed<T>,        ger<T>,        dot<T>};
} // namespace

const BlasKernels<double>& blas_kernels_avx2(double) { return kernels<double>; }
const BlasKernels<float>& blas_kernels_avx2(float) { return kernels<float>; }

} // namespace stithy::cpu

#include "cpu/simd_end.hpp"
