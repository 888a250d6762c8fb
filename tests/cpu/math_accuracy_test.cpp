// The vector and scalar elementary functions against MPFR. More points and a table of the largest errors:
//   STITHY_MATH_POINTS=200000 test_cpu --gtest_filter='Math*'
#include "cpu/features.hpp"
#include "cpu/math/math_table.hpp"
#include "cpu/symbols.hpp"

#include <gtest/gtest.h>

#if defined(STITHY_HAS_MPFR)
#include <mpfr.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace stithy;
using cpu::MathFunction;

// Calls a function of one or two vectors, which travel in zmm0 and zmm1 (ymm0 and ymm1). In assembly, since a compiler passes wide
// vectors in registers only where it may use those registers.
void call_vector(void* f, int bytes, const void* a, const void* b, void* out) {
#define STITHY_CALL(register)                                                                                                              \
    asm volatile("vmovups (%[a]), %%" register "0\n\tvmovups (%[b]), %%" register "1\n\t"                                                  \
                                                                                  "mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-64, "      \
                                                                                  "%%rsp\n\tcall *%[f]\n\tmov %%rbx, %%rsp\n\t"            \
                                                                                  "vmovups %%" register "0, (%[out])\n\tvzeroupper"        \
                 :                                                                                                                         \
                 : [f] "r"(f), [a] "r"(a), [b] "r"(b), [out] "r"(out)                                                                      \
                 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",     \
                   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
    if (bytes == 64)
        STITHY_CALL("zmm");
    else
        STITHY_CALL("ymm");
#undef STITHY_CALL
}

/// One way to compute a function: vectors of 64 or 32 bytes, or single values (0).
template <class T>
void evaluate(void* f, int bytes, int arity, const std::vector<T>& x, const std::vector<T>& y, std::vector<T>& out) {
    const auto lanes = static_cast<std::size_t>(bytes) / sizeof(T);
    for (std::size_t i = 0; i < x.size(); i += bytes == 0 ? 1 : lanes) {
        if (bytes != 0)
            call_vector(f, bytes, &x[i], &y[i], &out[i]);
        else
            out[i] = arity == 1 ? reinterpret_cast<T (*)(T)>(f)(x[i]) : reinterpret_cast<T (*)(T, T)>(f)(x[i], y[i]);
    }
}

class Exact {
public:
    Exact() { mpfr_inits2(160, x_, y_, r_, static_cast<mpfr_ptr>(nullptr)); }
    ~Exact() { mpfr_clears(x_, y_, r_, static_cast<mpfr_ptr>(nullptr)); }
    Exact(const Exact&) = delete;
    Exact& operator=(const Exact&) = delete;

    void compute(MathFunction function, double x, double y) {
        mpfr_set_d(x_, x, MPFR_RNDN);
        mpfr_set_d(y_, y, MPFR_RNDN);
        switch (function) {
        case MathFunction::exp: mpfr_exp(r_, x_, MPFR_RNDN); return;
        case MathFunction::expm1: mpfr_expm1(r_, x_, MPFR_RNDN); return;
        case MathFunction::log: mpfr_log(r_, x_, MPFR_RNDN); return;
        case MathFunction::log1p: mpfr_log1p(r_, x_, MPFR_RNDN); return;
        case MathFunction::cbrt: mpfr_cbrt(r_, x_, MPFR_RNDN); return;
        case MathFunction::sin: mpfr_sin(r_, x_, MPFR_RNDN); return;
        case MathFunction::cos: mpfr_cos(r_, x_, MPFR_RNDN); return;
        case MathFunction::tan: mpfr_tan(r_, x_, MPFR_RNDN); return;
        case MathFunction::tanh: mpfr_tanh(r_, x_, MPFR_RNDN); return;
        case MathFunction::logistic:
            mpfr_neg(r_, x_, MPFR_RNDN);
            mpfr_exp(r_, r_, MPFR_RNDN);
            mpfr_add_ui(r_, r_, 1, MPFR_RNDN);
            mpfr_ui_div(r_, 1, r_, MPFR_RNDN);
            return;
        case MathFunction::rsqrt:
            mpfr_sqrt(r_, x_, MPFR_RNDN);
            mpfr_ui_div(r_, 1, r_, MPFR_RNDN); // -0 gives -inf, as IEEE has it
            return;
        case MathFunction::atan2: mpfr_atan2(r_, x_, y_, MPFR_RNDN); return;
        case MathFunction::power: mpfr_pow(r_, x_, y_, MPFR_RNDN); return;
        case MathFunction::remainder: mpfr_fmod(r_, x_, y_, MPFR_RNDN); return;
        }
    }

    /// Distance of a computed value in units in the last place of the exact one; huge where class or sign of zero differ.
    template <class T>
    double error(T got) {
        const T exact = sizeof(T) == 8 ? static_cast<T>(mpfr_get_d(r_, MPFR_RNDN)) : static_cast<T>(mpfr_get_flt(r_, MPFR_RNDN));
        constexpr double wrong = 1e30;
        if (std::isnan(exact)) return std::isnan(got) ? 0 : wrong;
        if (std::isinf(exact) || std::isinf(got)) return exact == got ? 0 : wrong;
        if (got == exact && got == T{0}) return std::signbit(exact) == std::signbit(got) ? 0 : wrong;
        int exponent = 0;
        std::frexp(exact, &exponent);
        const int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - digits;
        mpfr_sub_d(y_, r_, static_cast<double>(got), MPFR_RNDN);
        mpfr_mul_2si(y_, y_, -(exact == T{0} ? lowest : std::max(exponent - digits, lowest)), MPFR_RNDN);
        return std::fabs(mpfr_get_d(y_, MPFR_RNDN));
    }

private:
    mpfr_t x_, y_, r_;
};

struct Range {
    double low, high;
};

/// Ranges that matter for a function, beside all bit patterns, all magnitudes and special values.
std::vector<Range> ranges(MathFunction function) {
    switch (function) {
    case MathFunction::exp: return {{-1, 1}, {-10, 10}, {-110, 95}, {-750, 720}, {-746, -707}};
    case MathFunction::expm1: return {{-0.4, 0.4}, {-2, 2}, {-45, 45}, {-100, 95}, {-750, 720}};
    case MathFunction::log: return {{0.5, 2}, {0.97, 1.03}, {0, 1e-300}, {0, 1e-39}, {0, 1e10}, {0, 1e-310}};
    case MathFunction::log1p: return {{-1, 1}, {-0.3, 0.5}, {-1, -0.99}, {0, 1e10}};
    case MathFunction::cbrt: return {{-8, 8}, {0, 1e-310}, {0, 1e-40}};
    case MathFunction::sin:
    case MathFunction::cos:
    case MathFunction::tan: return {{-0.8, 0.8}, {-3.2, 3.2}, {-100, 100}, {-1e5, 1e5}, {-6e8, 6e8}, {-1e30, 1e30}};
    case MathFunction::tanh: return {{-0.3, 0.3}, {-1, 1}, {-3, 3}, {-25, 25}};
    case MathFunction::logistic: return {{-1, 1}, {-10, 10}, {-40, 40}, {-105, -85}, {-750, 40}};
    case MathFunction::rsqrt: return {{0, 1}, {0, 1e10}, {0, 1e-310}};
    case MathFunction::atan2: return {{-1, 1}, {-1e5, 1e5}, {0, 1e-310}, {0, 1e-40}};
    case MathFunction::power: return {{0, 2}, {0, 10}, {-5, 5}, {0, 200}};
    case MathFunction::remainder: return {{-1, 1}, {-1e5, 1e5}, {0, 1e-310}};
    }
    return {};
}

template <class T>
struct Points {
    std::vector<T> x, y;
};

/// A multiple of 16 points: special values in all combinations, multiples of pi/2, then `count` of each kind.
template <class T>
Points<T> points(MathFunction function, int count) {
    using Limits = std::numeric_limits<T>;
    Points<T> p;
    const auto add = [&](double x, double y) {
        p.x.push_back(static_cast<T>(x));
        p.y.push_back(static_cast<T>(y));
    };
    std::vector<double> special = {0.0,
                                   1.0,
                                   0.5,
                                   2.0,
                                   3.0,
                                   20.0,
                                   22.0,
                                   1.0 / 3,
                                   1e-5,
                                   1e5,
                                   1e10,
                                   1e20,
                                   709.78,
                                   709.79,
                                   745.13,
                                   745.14,
                                   708.4,
                                   88.72,
                                   88.73,
                                   103.9,
                                   103.98,
                                   87.34,
                                   HUGE_VAL,
                                   static_cast<double>(Limits::max()),
                                   static_cast<double>(Limits::min()),
                                   static_cast<double>(Limits::denorm_min()),
                                   static_cast<double>(Limits::min()) / 3,
                                   static_cast<double>(Limits::max()) / 3,
                                   1.0 + static_cast<double>(Limits::epsilon()),
                                   1.0 - static_cast<double>(Limits::epsilon()) / 2};
    for (std::size_t i = special.size(); i-- > 0;) special.push_back(-special[i]);
    special.push_back(std::nan(""));
    for (double x : special)
        for (double y : special)
            if (cpu::math_function_arity(function) == 2 || y == 1.0) add(x, y);
    for (int k = -300; k <= 300; ++k) add(k * 1.5707963267948966, k % 7 + 0.5);
    std::mt19937_64 random(static_cast<unsigned>(function) + 1);
    const auto any_bits = [&] {
        if constexpr (sizeof(T) == 8) {
            const std::uint64_t bits = random();
            double v = 0;
            std::memcpy(&v, &bits, 8);
            return v;
        } else {
            const auto bits = static_cast<std::uint32_t>(random());
            float v = 0;
            std::memcpy(&v, &bits, 4);
            return static_cast<double>(v);
        }
    };
    std::uniform_real_distribution<double> magnitude(-40, 40);
    for (int i = 0; i < count; ++i) add(any_bits(), any_bits());
    for (int i = 0; i < count; ++i) {
        const double x = std::exp2(magnitude(random)), y = std::exp2(magnitude(random) / 4);
        add((random() & 1) != 0 ? x : -x, (random() & 1) != 0 ? y : -y);
    }
    for (const Range& r : ranges(function)) {
        std::uniform_real_distribution<double> uniform(r.low, r.high);
        for (int i = 0; i < count; ++i) add(uniform(random), uniform(random));
    }
    while (p.x.size() % 16 != 0) add(1.0, 1.0);
    return p;
}

int point_count() {
    const char* wanted = std::getenv("STITHY_MATH_POINTS");
    return wanted == nullptr ? 700 : std::atoi(wanted);
}

/// What each function promises, in units in the last place.
double promised(MathFunction function) { return function == MathFunction::remainder ? 0.0 : 2.5; }

template <class T>
void check(MathFunction function) {
    const DType dtype = dtype_of<T>;
    const int arity = cpu::math_function_arity(function);
    const Points<T> p = points<T>(function, point_count());
    struct Way {
        int bytes;
        const char* symbol;
        double worst = 0, x = 0, y = 0, got = 0;
        std::vector<T> out;
    };
    std::vector<Way> ways;
    ways.push_back({0, cpu::scalar_math_symbol(function, dtype), 0, 0, 0, 0, {}});
    if (cpu::features().machine >= cpu::Isa::avx2)
        ways.push_back({32, cpu::vector_math_symbol(function, dtype, 32 / static_cast<int>(sizeof(T))), 0, 0, 0, 0, {}});
    if (cpu::features().machine >= cpu::Isa::avx512)
        ways.push_back({64, cpu::vector_math_symbol(function, dtype, 64 / static_cast<int>(sizeof(T))), 0, 0, 0, 0, {}});
    for (Way& way : ways) {
        ASSERT_NE(way.symbol, nullptr);
        void* f = cpu::find_symbol(way.symbol);
        ASSERT_NE(f, nullptr) << way.symbol;
        way.out.resize(p.x.size());
        evaluate(f, way.bytes, arity, p.x, p.y, way.out);
    }
    Exact exact;
    for (std::size_t i = 0; i < p.x.size(); ++i) {
        exact.compute(function, static_cast<double>(p.x[i]), static_cast<double>(p.y[i]));
        for (Way& way : ways) {
            const double error = exact.error(way.out[i]);
            if (error > way.worst) {
                way.worst = error;
                way.x = static_cast<double>(p.x[i]);
                way.y = static_cast<double>(p.y[i]);
                way.got = static_cast<double>(way.out[i]);
            }
        }
    }
    for (const Way& way : ways) {
        if (std::getenv("STITHY_MATH_POINTS") != nullptr)
            std::printf("%-24s %8.3f ULP at %.9g, %.9g\n", way.symbol, way.worst, way.x, way.y);
        EXPECT_LE(way.worst, promised(function)) << way.symbol << " at " << way.x << ", " << way.y << " gives " << way.got;
    }
}

class MathAccuracy : public testing::TestWithParam<int> {};

TEST_P(MathAccuracy, AgainstMpfr) {
    const auto function = static_cast<MathFunction>(GetParam());
    check<double>(function);
    check<float>(function);
}

INSTANTIATE_TEST_SUITE_P(All, MathAccuracy, testing::Range(0, cpu::math_function_count),
                         [](const auto& row) { return std::string(cpu::math_function_name(static_cast<MathFunction>(row.param))); });

TEST(MathTable, LanesWithoutAVectorFunctionHaveNone) {
    EXPECT_EQ(cpu::vector_math_symbol(MathFunction::exp, f64, 2), nullptr);
    EXPECT_EQ(cpu::vector_math_symbol(MathFunction::exp, f32, 4), nullptr);
    EXPECT_EQ(cpu::vector_math_symbol(MathFunction::exp, f64, 3), nullptr);
    EXPECT_STREQ(cpu::vector_math_symbol(MathFunction::exp, f64, 8), "stithy_exp_f64x8");
    EXPECT_EQ(cpu::find_symbol("system"), nullptr);
    EXPECT_NE(cpu::find_symbol("memcpy"), nullptr);
    EXPECT_NE(cpu::find_symbol("stithy_gemm_f64"), nullptr);
}

} // namespace
#endif
