#include "cpu/blas.hpp"
#include "cpu/blas_kernels.hpp"
#include "cpu/features.hpp"
#include "runtime/parallel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace stithy;

template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& v : values) v = static_cast<T>(uniform(engine));
    return values;
}

template <class T>
std::int32_t call_gemm(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                       std::int64_t ldb, T beta, T* c, std::int64_t ldc, std::int64_t batch = 1, std::int64_t sa = 0, std::int64_t sb = 0,
                       std::int64_t sc = 0) {
    if constexpr (sizeof(T) == 8)
        return stithy_gemm_f64(nullptr, ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc, batch, sa, sb, sc);
    else
        return stithy_gemm_f32(nullptr, ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc, batch, sa, sb, sc);
}

/// Compares one product with sums in long double; rows are longer than needed, and what lies beyond must stay as it is.
template <class T>
void check_gemm(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T beta) {
    const std::int64_t lda = (ta ? m : k) + 3, ldb = (tb ? k : n) + 2, ldc = n + 5;
    const auto a = numbers<T>((ta ? k : m) * lda, 1), b = numbers<T>((tb ? n : k) * ldb, 2), before = numbers<T>(m * ldc, 3);
    std::vector<T> c = before;
    ASSERT_EQ(call_gemm<T>(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, beta, c.data(), ldc), 0);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const double tolerance = (sizeof(T) == 8 ? 1e-15 : 6e-7) * (static_cast<double>(k) + 2);
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            long double sum = beta == T{0} ? 0.0L : static_cast<long double>(beta) * static_cast<long double>(before[at(i * ldc + j)]);
            for (std::int64_t p = 0; p < k; ++p)
                sum += static_cast<long double>(a[at(ta ? p * lda + i : i * lda + p)]) *
                       static_cast<long double>(b[at(tb ? j * ldb + p : p * ldb + j)]);
            ASSERT_NEAR(static_cast<double>(c[at(i * ldc + j)]), static_cast<double>(sum), tolerance)
                << m << "x" << n << "x" << k << " ta " << ta << " tb " << tb << " at " << i << "," << j;
        }
        for (std::int64_t j = n; j < ldc; ++j) ASSERT_EQ(c[at(i * ldc + j)], before[at(i * ldc + j)]);
    }
}

TEST(Blas, ProductsOfAllFormsAndSizes) {
    const std::int64_t shapes[][3] = {{1, 1, 1},   {0, 3, 2},    {3, 0, 2},     {3, 2, 0},     {1, 7, 5},
                                      {7, 1, 5},   {5, 7, 1},    {8, 24, 16},   {9, 25, 17},   {4, 48, 3},
                                      {31, 33, 7}, {64, 16, 64}, {17, 100, 30}, {100, 3, 257}, {130, 140, 135}};
    for (const auto& s : shapes)
        for (int form = 0; form < 4; ++form)
            for (const double beta : {0.0, 1.0, -0.5}) {
                check_gemm<double>((form & 1) != 0, (form & 2) != 0, s[0], s[1], s[2], beta);
                check_gemm<float>((form & 1) != 0, (form & 2) != 0, s[0], s[1], s[2], static_cast<float>(beta));
            }
}

TEST(Blas, LargeProductsArePacked) {
    for (int form = 0; form < 4; ++form) {
        check_gemm<double>((form & 1) != 0, (form & 2) != 0, 203, 211, 601, 0.0);
        check_gemm<float>((form & 1) != 0, (form & 2) != 0, 203, 211, 1100, 1.0F);
    }
}

TEST(Blas, ZeroBetaDoesNotReadTheResult) {
    std::vector<double> a = numbers<double>(40 * 40, 1), c(40 * 40, std::nan(""));
    ASSERT_EQ(call_gemm<double>(false, false, 40, 40, 40, a.data(), 40, a.data(), 40, 0.0, c.data(), 40), 0);
    for (double v : c) ASSERT_FALSE(std::isnan(v));
    std::vector<double> y(40, std::nan(""));
    ASSERT_EQ(stithy_gemv_f64(nullptr, 1, 40, 40, a.data(), 40, a.data(), 0.0, y.data()), 0);
    for (double v : y) ASSERT_FALSE(std::isnan(v));
}

TEST(Blas, NaNAndInfinityReachTheResult) {
    std::vector<double> a(9, 0.0), b(9, 1.0), c(9);
    a[4] = HUGE_VAL;
    b[3] = 0.0;
    ASSERT_EQ(call_gemm<double>(false, false, 3, 3, 3, a.data(), 3, b.data(), 3, 0.0, c.data(), 3), 0);
    EXPECT_TRUE(std::isnan(c[3]));
    EXPECT_TRUE(std::isinf(c[4]));
    EXPECT_EQ(c[0], 0.0);
}

TEST(Blas, BatchesWithAndWithoutStride) {
    const std::int64_t m = 5, n = 6, k = 7, batch = 11;
    const auto a = numbers<float>(batch * m * k, 1), b = numbers<float>(k * n, 2);
    std::vector<float> c(static_cast<std::size_t>(batch * m * n)), one(static_cast<std::size_t>(m * n));
    ASSERT_EQ(call_gemm<float>(false, false, m, n, k, a.data(), k, b.data(), n, 0.0F, c.data(), n, batch, m * k, 0, m * n), 0);
    for (std::int64_t i = 0; i < batch; ++i) {
        ASSERT_EQ(call_gemm<float>(false, false, m, n, k, a.data() + i * m * k, k, b.data(), n, 0.0F, one.data(), n), 0);
        EXPECT_EQ(std::memcmp(one.data(), c.data() + i * m * n, one.size() * sizeof(float)), 0);
    }
}

TEST(Blas, SameBitsForAnyNumberOfThreads) {
    const std::int64_t sizes[] = {130, 300};
    for (const std::int64_t n : sizes) {
        const auto a = numbers<double>(n * n, 1), b = numbers<double>(n * n, 2);
        std::vector<double> c(a.size()), d(a.size());
        ASSERT_EQ(call_gemm<double>(false, true, n, n, n, a.data(), n, b.data(), n, 0.0, c.data(), n), 0);
        const runtime::ThreadLimit limit(1);
        ASSERT_EQ(call_gemm<double>(false, true, n, n, n, a.data(), n, b.data(), n, 0.0, d.data(), n), 0);
        EXPECT_EQ(std::memcmp(c.data(), d.data(), c.size() * sizeof(double)), 0);
    }
}

template <class T>
void check_vectors(std::int64_t m, std::int64_t n) {
    const auto a = numbers<T>(m * (n + 1), 1), x = numbers<T>(std::max(m, n), 2), z = numbers<T>(std::max(m, n), 3);
    const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * (n + 1) + j); };
    const double tolerance = (sizeof(T) == 8 ? 1e-15 : 6e-7) * static_cast<double>(m + n + 2);
    for (const T beta : {T{0}, T{1}, T{0.5}})
        for (int ta = 0; ta < 2; ++ta) {
            std::vector<T> y = z;
            if constexpr (sizeof(T) == 8)
                ASSERT_EQ(stithy_gemv_f64(nullptr, ta, m, n, a.data(), n + 1, x.data(), beta, y.data()), 0);
            else
                ASSERT_EQ(stithy_gemv_f32(nullptr, ta, m, n, a.data(), n + 1, x.data(), beta, y.data()), 0);
            for (std::int64_t i = 0; i < (ta != 0 ? n : m); ++i) {
                const auto u = static_cast<std::size_t>(i);
                double sum = static_cast<double>(beta * z[u]);
                for (std::int64_t j = 0; j < (ta != 0 ? m : n); ++j)
                    sum += static_cast<double>(ta != 0 ? a[at(j, i)] : a[at(i, j)]) * static_cast<double>(x[static_cast<std::size_t>(j)]);
                ASSERT_NEAR(static_cast<double>(y[u]), sum, tolerance) << m << "x" << n << " ta " << ta;
            }
        }
    std::vector<T> r = a;
    T d{};
    const std::int64_t shared = std::min(m, n);
    if constexpr (sizeof(T) == 8) {
        ASSERT_EQ(stithy_ger_f64(nullptr, m, n, x.data(), z.data(), T{1}, r.data(), n + 1), 0);
        ASSERT_EQ(stithy_dot_f64(nullptr, shared, x.data(), z.data(), &d), 0);
    } else {
        ASSERT_EQ(stithy_ger_f32(nullptr, m, n, x.data(), z.data(), T{1}, r.data(), n + 1), 0);
        ASSERT_EQ(stithy_dot_f32(nullptr, shared, x.data(), z.data(), &d), 0);
    }
    double sum = 0;
    for (std::int64_t i = 0; i < shared; ++i)
        sum += static_cast<double>(x[static_cast<std::size_t>(i)]) * static_cast<double>(z[static_cast<std::size_t>(i)]);
    ASSERT_NEAR(static_cast<double>(d), sum, tolerance);
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
            ASSERT_NEAR(static_cast<double>(r[at(i, j)]),
                        static_cast<double>(a[at(i, j)] + x[static_cast<std::size_t>(i)] * z[static_cast<std::size_t>(j)]), 1e-6);
        ASSERT_EQ(r[at(i, n)], a[at(i, n)]);
    }
}

TEST(Blas, VectorsOfAllLengths) {
    for (const std::int64_t m : {1, 2, 3, 4, 5, 8, 9, 17, 64, 200})
        for (const std::int64_t n : {1, 2, 7, 8, 15, 16, 17, 33, 64, 130, 200}) {
            check_vectors<double>(m, n);
            check_vectors<float>(m, n);
        }
    check_vectors<double>(600, 700);
    check_vectors<float>(700, 600);
}

TEST(Blas, LongSumsKeepTheirDigits) {
    const std::int64_t n = 3'000'000;
    const std::vector<float> tenth(static_cast<std::size_t>(n), 0.1f), ones(static_cast<std::size_t>(n), 1.0f);
    const double expected = static_cast<double>(0.1f) * static_cast<double>(n);
    float dot = 0, product = 2;
    ASSERT_EQ(stithy_dot_f32(nullptr, n, tenth.data(), ones.data(), &dot), 0);
    EXPECT_NEAR(dot / expected, 1, 2e-6);
    ASSERT_EQ(stithy_gemv_f32(nullptr, 0, 1, n, tenth.data(), n, ones.data(), 0.5f, &product), 0);
    EXPECT_NEAR(product / (expected + 1), 1, 2e-6);
}

TEST(Blas, LongDotIsSummedInChunks) {
    const std::int64_t n = 200001;
    const auto x = numbers<double>(n, 1), y = numbers<double>(n, 2);
    double all = 0, one = 0, sum = 0;
    ASSERT_EQ(stithy_dot_f64(nullptr, n, x.data(), y.data(), &all), 0);
    const runtime::ThreadLimit limit(1);
    ASSERT_EQ(stithy_dot_f64(nullptr, n, x.data(), y.data(), &one), 0);
    EXPECT_EQ(all, one);
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    EXPECT_NEAR(all, sum, 1e-10);
}

template <class T>
void check_level(const cpu::BlasKernels<T>& kernels) {
    const std::int64_t n = 37, k = 19;
    const auto a = numbers<T>(n * k, 1), b = numbers<T>(k * n, 2);
    std::vector<T> c(static_cast<std::size_t>(n * n), T{7}), packed(static_cast<std::size_t>((n + 100) * k));
    kernels.gemm_block({n, n, k, a.data(), k, 1, k * kernels.rows, b.data(), n, kernels.columns, c.data(), n, T{0}});
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
                sum += static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
                       static_cast<double>(b[static_cast<std::size_t>(p * n + j)]);
            ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * n + j)]), sum, sizeof(T) == 8 ? 1e-14 : 1e-5);
        }
    kernels.pack(n, k, a.data(), k, 1, kernels.columns, packed.data());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < k; ++p)
            ASSERT_EQ(
                packed[static_cast<std::size_t>(i / kernels.columns * kernels.columns * k + p * kernels.columns + i % kernels.columns)],
                a[static_cast<std::size_t>(i * k + p)]);
    T value = kernels.dot(n, a.data(), b.data());
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    ASSERT_NEAR(static_cast<double>(value), sum, sizeof(T) == 8 ? 1e-14 : 1e-5);
}

TEST(Blas, EveryInstructionSet) {
    check_level(cpu::blas_kernels_sse(0.0));
    check_level(cpu::blas_kernels_sse(0.0F));
    if (cpu::features().machine >= cpu::Isa::avx2) {
        check_level(cpu::blas_kernels_avx2(0.0));
        check_level(cpu::blas_kernels_avx2(0.0F));
    }
    if (cpu::features().machine >= cpu::Isa::avx512) {
        check_level(cpu::blas_kernels_avx512(0.0));
        check_level(cpu::blas_kernels_avx512(0.0F));
    }
}

} // namespace
