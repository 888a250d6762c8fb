#include "cpu/blas.hpp"

#include "cpu/blas_kernels.hpp"
#include "cpu/features.hpp"
#include "cpu/libraries.hpp"
#include "cpu/symbols.hpp"
#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstddef>

namespace stithy::cpu {

template <class T>
const BlasKernels<T>& blas_kernels() {
    static const BlasKernels<T>& chosen = features().isa == Isa::avx512 ? blas_kernels_avx512(T{})
                                          : features().isa == Isa::avx2 ? blas_kernels_avx2(T{})
                                                                        : blas_kernels_sse(T{});
    return chosen;
}
template const BlasKernels<double>& blas_kernels<double>();
template const BlasKernels<float>& blas_kernels<float>();

namespace {

using Int = std::int64_t;

// Sizes that decide how a product is cut. They depend on the shapes alone, never on the number of threads.
constexpr Int panel_bytes = 16384;            ///< a packed panel of the left operand: half of a first-level cache
constexpr Int block_bytes = 448 * 1024;       ///< packed columns of the right operand that a task works on: half of a second-level cache
constexpr Int outer_limit = 8192;             ///< rows, and columns, that are packed at a time
constexpr Int direct_limit = Int{1} << 24;    ///< products of m n k up to this read the operands where they are
constexpr Int parallel_work = Int{1} << 20;   ///< multiply-adds below which threads do not pay
constexpr Int vector_parallel = Int{1} << 18; ///< matrix elements below which a product with a vector stays on one thread

/// One matrix product without batch.
template <class T>
struct Product {
    bool ta, tb;
    Int m, n, k;
    const T* a;
    Int lda;
    const T* b;
    Int ldb;
    T beta;
    T* c;
    Int ldc;
};

/// Scratch memory of a call.
template <class T>
class Scratch {
public:
    explicit Scratch(Int count)
        : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
          memory_(count == 0 ? nullptr : static_cast<T*>(runtime::try_allocate(bytes_))) {}
    ~Scratch() { runtime::deallocate(memory_, bytes_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] T* get() const { return memory_; }

private:
    std::size_t bytes_;
    T* memory_;
};

constexpr Int round_up(Int value, Int multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr Int pieces(Int value, Int size) { return (value + size - 1) / size; }

/// c = beta c, for products with nothing to sum.
template <class T>
void scale(const Product<T>& p) {
    for (Int i = 0; i < p.m; ++i)
        for (Int j = 0; j < p.n; ++j) {
            T& c = p.c[i * p.ldc + j];
            c = p.beta == T{0} ? T{0} : p.beta * c;
        }
}

/// The left operand is read where it is, and so is the right one unless it is stored transposed. Rows of c are shared among threads when
/// `split`.
template <class T>
std::int32_t direct_product(const Product<T>& p, bool split) {
    const BlasKernels<T>& kernels = blas_kernels<T>();
    const Int a_row = p.ta ? 1 : p.lda, a_step = p.ta ? p.lda : 1, columns = kernels.columns;
    GemmBlock<T> whole{p.m, p.n, p.k, p.a, a_row, a_step, a_row * kernels.rows, p.b, p.ldb, columns, p.c, p.ldc, p.beta};
    alignas(64) T small[4096 / sizeof(T)];
    const Int packed_size = p.tb ? round_up(p.n, columns) * p.k : 0;
    const Scratch<T> large(packed_size * Int{sizeof(T)} > Int{sizeof small} ? packed_size : 0);
    if (p.tb) {
        T* packed = packed_size * Int{sizeof(T)} > Int{sizeof small} ? large.get() : small;
        if (packed == nullptr) return runtime::native_out_of_memory;
        kernels.pack(p.n, p.k, p.b, p.ldb, 1, kernels.columns, packed);
        whole.b = packed;
        whole.b_step = columns;
        whole.b_panel = columns * p.k;
    }
    const auto rows = [&](Int begin, Int end) {
        GemmBlock<T> block = whole;
        block.m = end - begin;
        block.a += begin * a_row;
        block.c += begin * p.ldc;
        kernels.gemm_block(block);
    };
    const Int chunk = round_up(pieces(p.m, 4), kernels.rows);
    if (!split || p.m * p.n * p.k < parallel_work || p.m <= chunk)
        rows(0, p.m);
    else
        return runtime::parallel_for(p.m, chunk, rows);
    return 0;
}

/// Packs a slice of both operands, in parallel, then works on blocks of c, in parallel; slices of the summed index one after the other.
template <class T>
std::int32_t packed_product(const Product<T>& p) {
    const BlasKernels<T>& kernels = blas_kernels<T>();
    const Int rows = kernels.rows, columns = kernels.columns, size = sizeof(T);
    const Int depth_limit = panel_bytes / (rows * size);
    // Slices of equal depth, so that none is thin.
    const Int depth = pieces(p.k, pieces(p.k, depth_limit));
    const Int row_block = std::clamp(round_up(pieces(p.m, 4), rows), rows, 16 * rows);
    const Int column_block = std::max<Int>(block_bytes / (depth * size * columns), 1) * columns;
    const Scratch<T> packed_a(round_up(p.m, rows) * depth), packed_b(round_up(p.n, columns) * depth);
    if (packed_a.get() == nullptr || packed_b.get() == nullptr) return runtime::native_out_of_memory;
    const Int a_row = p.ta ? 1 : p.lda, a_step = p.ta ? p.lda : 1, b_row = p.tb ? p.ldb : 1, b_step = p.tb ? 1 : p.ldb;
    const Int pack_rows = 8 * rows, pack_columns = 2 * columns;
    const Int a_tasks = pieces(p.m, pack_rows), b_tasks = pieces(p.n, pack_columns);
    const Int down = pieces(p.m, row_block), across = pieces(p.n, column_block);
    for (Int k0 = 0; k0 < p.k; k0 += depth) {
        const Int k = std::min(depth, p.k - k0);
        const auto pack_some = [&](Int begin, Int end) {
            for (Int t = begin; t < end; ++t) {
                if (t < a_tasks) {
                    const Int i = t * pack_rows;
                    kernels.pack(std::min(pack_rows, p.m - i), k, p.a + i * a_row + k0 * a_step, a_row, a_step, kernels.rows,
                                 packed_a.get() + i * k);
                } else {
                    const Int j = (t - a_tasks) * pack_columns;
                    kernels.pack(std::min(pack_columns, p.n - j), k, p.b + j * b_row + k0 * b_step, b_row, b_step, kernels.columns,
                                 packed_b.get() + j * k);
                }
            }
        };
        runtime::parallel_for(a_tasks + b_tasks, 1, pack_some);
        // Tasks that follow each other share their columns of b.
        const auto multiply = [&](Int begin, Int end) {
            for (Int t = begin; t < end; ++t) {
                const Int i = t % down * row_block, j = t / down * column_block;
                const GemmBlock<T> block{std::min(row_block, p.m - i),
                                         std::min(column_block, p.n - j),
                                         k,
                                         packed_a.get() + i * k,
                                         1,
                                         rows,
                                         rows * k,
                                         packed_b.get() + j * k,
                                         columns,
                                         columns * k,
                                         p.c + i * p.ldc + j,
                                         p.ldc,
                                         k0 == 0 ? p.beta : T{1}};
                kernels.gemm_block(block);
            }
        };
        runtime::parallel_for(down * across, 1, multiply);
    }
    return 0;
}

/// Blocks of fixed size whose sums are added up in f64: the order is fixed by the length, and the error does not grow with it as one long
/// chain's would.
template <class T>
std::int32_t dot_any(Int n, const T* x, const T* y, T* result) {
    const BlasKernels<T>& kernels = blas_kernels<T>();
    constexpr Int block = Int{1} << 12, chunk = Int{1} << 15;
    if (n <= block) {
        *result = kernels.dot(n, x, y);
        return 0;
    }
    const Scratch<double> parts(pieces(n, chunk));
    if (parts.get() == nullptr) return runtime::native_out_of_memory;
    const auto part = [&](Int begin, Int end) {
        double sum = 0;
        for (Int i = begin; i < end; i += block) sum += static_cast<double>(kernels.dot(std::min(block, end - i), x + i, y + i));
        parts.get()[begin / chunk] = sum;
    };
    const std::int32_t status = runtime::parallel_for(n, chunk, part);
    double sum = 0;
    for (Int i = 0; i < pieces(n, chunk); ++i) sum += parts.get()[i];
    *result = static_cast<T>(sum);
    return status;
}

template <class T>
std::int32_t gemv_any(bool ta, Int m, Int n, const T* a, Int lda, const T* x, T beta, T* y) {
    const BlasKernels<T>& kernels = blas_kernels<T>();
    const auto part = [&](Int begin, Int end) {
        if (ta)
            kernels.gemv_transposed(m, end - begin, a + begin, lda, x, beta, y + begin);
        else
            kernels.gemv(end - begin, n, a + begin * lda, lda, x, beta, y + begin);
    };
    if (!ta && m == 1) {
        T sum{0};
        const std::int32_t status = dot_any(n, a, x, &sum);
        *y = beta == T{0} ? sum : sum + beta * *y;
        return status;
    }
    const Int size = ta ? n : m, other = ta ? m : n;
    if (m * n < vector_parallel) {
        part(0, size);
        return 0;
    }
    return runtime::parallel_for(size, std::max<Int>(64, round_up(pieces(vector_parallel / 2, other), 64)), part);
}

/// `split`: may use threads.
template <class T>
std::int32_t product(const Product<T>& p, bool split) {
    if (p.m <= 0 || p.n <= 0) return 0;
    if (p.k <= 0) {
        scale(p);
        return 0;
    }
    const BlasKernels<T>& kernels = blas_kernels<T>();
    if (p.n == 1 && p.ldc == 1 && (p.tb || p.ldb == 1)) {
        const Int m = p.ta ? p.k : p.m, n = p.ta ? p.m : p.k;
        if (split) return gemv_any(p.ta, m, n, p.a, p.lda, p.b, p.beta, p.c);
        (p.ta ? kernels.gemv_transposed : kernels.gemv)(m, n, p.a, p.lda, p.b, p.beta, p.c);
        return 0;
    }
    if (p.m == 1 && (!p.ta || p.lda == 1)) {
        const Int m = p.tb ? p.n : p.k, n = p.tb ? p.k : p.n;
        if (split) return gemv_any(!p.tb, m, n, p.b, p.ldb, p.a, p.beta, p.c);
        (p.tb ? kernels.gemv : kernels.gemv_transposed)(m, n, p.b, p.ldb, p.a, p.beta, p.c);
        return 0;
    }
    if (p.m * p.n * p.k <= direct_limit) return direct_product(p, split);
    // Large operands go through scratch memory of bounded size.
    for (Int i = 0; i < p.m; i += outer_limit)
        for (Int j = 0; j < p.n; j += outer_limit) {
            Product<T> q = p;
            q.m = std::min(outer_limit, p.m - i);
            q.n = std::min(outer_limit, p.n - j);
            q.a += p.ta ? i : i * p.lda;
            q.b += p.tb ? j * p.ldb : j;
            q.c += i * p.ldc + j;
            if (const std::int32_t status = packed_product(q); status != 0) return status;
        }
    return 0;
}

std::int32_t report(runtime::Runtime* rt, std::int32_t status) {
    if (status != 0 && rt != nullptr) return rt->table->fail(rt, status, -1, 0, 0);
    return status;
}

template <class T>
std::int32_t gemm(runtime::Runtime* rt, const Product<T>& p, Int batch, Int stride_a, Int stride_b, Int stride_c) {
    const auto one = [&](Int i, bool split) {
        Product<T> q = p;
        q.a += i * stride_a;
        q.b += i * stride_b;
        q.c += i * stride_c;
        return product(q, split);
    };
    const Int work = std::max<Int>(p.m, 1) * std::max<Int>(p.n, 1) * std::max<Int>(p.k, 1);
    // Many small products share the threads; each large one has them all.
    if (batch > 1 && work <= 4 * parallel_work) {
        const auto some = [&](Int begin, Int end) -> std::int32_t {
            for (Int i = begin; i < end; ++i)
                if (const std::int32_t status = one(i, false); status != 0) return status;
            return 0;
        };
        if (batch * work < parallel_work) return report(rt, some(0, batch));
        return report(rt, runtime::parallel_for(batch, std::max<Int>(1, parallel_work / 4 / work), some));
    }
    for (Int i = 0; i < batch; ++i)
        if (const std::int32_t status = one(i, true); status != 0) return report(rt, status);
    return 0;
}

template <class T>
std::int32_t ger_any(Int m, Int n, const T* x, const T* y, T beta, T* a, Int lda) {
    const BlasKernels<T>& kernels = blas_kernels<T>();
    if (m * n < vector_parallel) {
        kernels.ger(m, n, x, y, beta, a, lda);
        return 0;
    }
    const auto rows = [&](Int begin, Int end) { kernels.ger(end - begin, n, x + begin, y, beta, a + begin * lda, lda); };
    return runtime::parallel_for(m, std::max<Int>(1, vector_parallel / 4 / n), rows);
}

} // namespace

std::span<const NativeSymbol> blas_symbols() {
    static const NativeSymbol list[] = {
        {"stithy_gemm_f64", reinterpret_cast<void*>(&stithy_gemm_f64)}, {"stithy_gemm_f32", reinterpret_cast<void*>(&stithy_gemm_f32)},
        {"stithy_gemv_f64", reinterpret_cast<void*>(&stithy_gemv_f64)}, {"stithy_gemv_f32", reinterpret_cast<void*>(&stithy_gemv_f32)},
        {"stithy_ger_f64", reinterpret_cast<void*>(&stithy_ger_f64)},   {"stithy_ger_f32", reinterpret_cast<void*>(&stithy_ger_f32)},
        {"stithy_dot_f64", reinterpret_cast<void*>(&stithy_dot_f64)},   {"stithy_dot_f32", reinterpret_cast<void*>(&stithy_dot_f32)},
    };
    return list;
}

} // namespace stithy::cpu

using std::int32_t;
using std::int64_t;
using stithy::runtime::Runtime;

int32_t stithy_gemm_f64(Runtime* rt, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b,
                        int64_t ldb, double beta, double* c, int64_t ldc, int64_t batch, int64_t stride_a, int64_t stride_b,
                        int64_t stride_c) {
    return stithy::cpu::gemm<double>(rt, {ta != 0, tb != 0, m, n, k, a, lda, b, ldb, beta, c, ldc}, batch, stride_a, stride_b, stride_c);
}
int32_t stithy_gemm_f32(Runtime* rt, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b,
                        int64_t ldb, float beta, float* c, int64_t ldc, int64_t batch, int64_t stride_a, int64_t stride_b,
                        int64_t stride_c) {
    return stithy::cpu::gemm<float>(rt, {ta != 0, tb != 0, m, n, k, a, lda, b, ldb, beta, c, ldc}, batch, stride_a, stride_b, stride_c);
}
int32_t stithy_gemv_f64(Runtime* rt, int64_t ta, int64_t m, int64_t n, const double* a, int64_t lda, const double* x, double beta,
                        double* y) {
    const bool t = ta != 0;
    return stithy::cpu::gemm<double>(rt, {t, false, t ? n : m, 1, t ? m : n, a, lda, x, 1, beta, y, 1}, 1, 0, 0, 0);
}
int32_t stithy_gemv_f32(Runtime* rt, int64_t ta, int64_t m, int64_t n, const float* a, int64_t lda, const float* x, float beta, float* y) {
    const bool t = ta != 0;
    return stithy::cpu::gemm<float>(rt, {t, false, t ? n : m, 1, t ? m : n, a, lda, x, 1, beta, y, 1}, 1, 0, 0, 0);
}
int32_t stithy_ger_f64(Runtime*, int64_t m, int64_t n, const double* x, const double* y, double beta, double* a, int64_t lda) {
    return stithy::cpu::ger_any(m, n, x, y, beta, a, lda);
}
int32_t stithy_ger_f32(Runtime*, int64_t m, int64_t n, const float* x, const float* y, float beta, float* a, int64_t lda) {
    return stithy::cpu::ger_any(m, n, x, y, beta, a, lda);
}
int32_t stithy_dot_f64(Runtime* rt, int64_t n, const double* x, const double* y, double* result) {
    return stithy::cpu::report(rt, stithy::cpu::dot_any(n, x, y, result));
}
int32_t stithy_dot_f32(Runtime* rt, int64_t n, const float* x, const float* y, float* result) {
    return stithy::cpu::report(rt, stithy::cpu::dot_any(n, x, y, result));
}
