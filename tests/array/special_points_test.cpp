// Values and derivatives where formulas have seams: zeros, ties, overflow; loops of no steps.
#include "array/check.hpp"

#include <functional>
#include <limits>

namespace st = stithy;
using st::Array;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double slope(const std::function<Array(Array)>& f, double x) { return st::grad(f)(Array(x)).item<double>(); }
double curvature(const std::function<Array(Array)>& f, double x) { return st::grad(st::grad(f))(Array(x)).item<double>(); }
} // namespace

TEST(SpecialPoints, HyperbolicFunctions) {
    const auto sinh = [](Array x) { return st::sinh(x); };
    const auto cosh = [](Array x) { return st::cosh(x); };
    for (double x : {0.0, 1e-12, -1e-12, 0.3, -0.3, 5.0, -21.9, 22.1, -30.0, 700.0}) {
        EXPECT_NEAR(slope(sinh, x) / std::cosh(x), 1, 1e-13) << x;
        EXPECT_NEAR(curvature(cosh, x) / std::cosh(x), 1, 1e-13) << x;
        EXPECT_NEAR(slope(cosh, x), std::sinh(x), 1e-13 * std::abs(std::sinh(x))) << x;
        EXPECT_NEAR(curvature(sinh, x), std::sinh(x), 1e-13 * std::abs(std::sinh(x)) + 1e-16) << x;
        EXPECT_NEAR(st::sinh(Array(x)).item<double>(), std::sinh(x), 1e-14 * std::abs(std::sinh(x)));
    }
    EXPECT_NEAR(st::cosh(Array(710.4)).item<double>() / std::cosh(710.4), 1, 1e-13);
    EXPECT_NEAR(st::sinh(Array(-89.03f)).item<float>() / std::sinh(-89.03f), 1, 1e-5);
    EXPECT_EQ(st::sinh(Array(1e5)).item<double>(), infinity);
    EXPECT_EQ(slope(sinh, 1e5), infinity);
    EXPECT_TRUE(std::signbit(st::sinh(Array(-0.0)).item<double>()));
    EXPECT_TRUE(std::isnan(st::sinh(Array(not_a_number)).item<double>()));
    EXPECT_TRUE(std::isnan(st::cosh(Array(not_a_number)).item<double>()));
}

TEST(SpecialPoints, PowersOfTwoAreExact) {
    for (int n = -60; n <= 60; ++n) EXPECT_EQ(st::exp2(Array(static_cast<double>(n))).item<double>(), std::ldexp(1.0, n)) << n;
    EXPECT_NEAR(st::exp2(Array(100.0f)).item<float>() / std::ldexp(1.0f, 100), 1, 3e-7);
    EXPECT_NEAR(slope([](Array x) { return st::exp2(x); }, 0.0), std::log(2.0), 1e-15);
}

TEST(SpecialPoints, SoftplusAndLogaddexp) {
    const auto softplus = [](Array x) { return st::softplus(x); };
    EXPECT_NEAR(slope(softplus, 0), 0.5, 1e-15);
    EXPECT_NEAR(curvature(softplus, 0), 0.25, 1e-15);
    EXPECT_NEAR(curvature([](Array x) { return st::logaddexp(x, Array(1.5)); }, 1.5), 0.25, 1e-15);
    EXPECT_NEAR(st::logaddexp(Array(1000.0), Array(1000.0)).item<double>(), 1000 + std::log(2.0), 1e-12);
    EXPECT_EQ(st::logaddexp(Array(-infinity), Array(-infinity)).item<double>(), -infinity);
    EXPECT_EQ(st::logaddexp(Array(infinity), Array(3.0)).item<double>(), infinity);
    EXPECT_EQ(slope(softplus, -1000), 0);
    EXPECT_EQ(slope(softplus, 1000), 1);
}

TEST(SpecialPoints, Hypot) {
    const auto tie = [](Array x) { return st::hypot(x, Array(2.0)); };
    EXPECT_NEAR(curvature(tie, 2.0), 4 / std::pow(8.0, 1.5), 1e-15); // y^2 / r^3
    EXPECT_NEAR(curvature(tie, 0.0), 0.5, 1e-15);
    EXPECT_EQ(slope(tie, 0.0), 0);
    EXPECT_EQ(st::hypot(Array(infinity), Array(not_a_number)).item<double>(), infinity);
    EXPECT_EQ(st::hypot(Array(not_a_number), Array(-infinity)).item<double>(), infinity);
    EXPECT_TRUE(std::isnan(st::hypot(Array(not_a_number), Array(1.0)).item<double>()));
    EXPECT_FALSE(std::signbit(st::hypot(Array(-0.0), Array(-0.0)).item<double>()));
    EXPECT_EQ(st::hypot(Array(3e300), Array(-4e300)).item<double>(), 5e300);
}

TEST(SpecialPoints, PowersAtExponentZero) {
    // d/db d/da a^b = a^(b-1) (1 + b log a)
    const auto mixed = [](double a) {
        return st::grad([a](Array b) { return st::grad([b](Array x) { return st::pow(x, b); })(Array(a)); })(Array(0.0)).item<double>();
    };
    EXPECT_NEAR(mixed(2.0), 0.5, 1e-15);
    EXPECT_NEAR(curvature([](Array x) { return st::pow(x + 1.0, x); }, 0.0), 2, 1e-14);
    EXPECT_EQ(st::grad([](Array x) { return st::pow(x, Array(0.0)); })(Array(0.0)).item<double>(), 0);
}

TEST(SpecialPoints, Relu) {
    EXPECT_EQ(slope([](Array x) { return st::relu(x); }, 0.0), 0);
    EXPECT_EQ(slope([](Array x) { return st::relu(x); }, 1e-9), 1);
    EXPECT_TRUE(std::isnan(st::relu(Array(not_a_number)).item<double>()));
}

TEST(SpecialPoints, LoopsOfNoSteps) {
    const auto after = [](auto steps) {
        return [steps](Array a) { return st::fori_loop(0, steps, [&](Array, Array c) { return c + st::log(a); }, Array(5.0)); };
    };
    EXPECT_EQ(st::grad(after(0))(Array(0.0)).item<double>(), 0);
    EXPECT_EQ(st::jit(st::grad(after(0)))(Array(0.0)).item<double>(), 0);
    EXPECT_EQ(st::grad(after(3))(Array(2.0)).item<double>(), 1.5);
    const auto rows = [](Array a) {
        return st::sum(st::scan([&](Array c, Array r) { return c + r / st::norm(a); }, Array(1.0), st::zeros({0})));
    };
    EXPECT_EQ(st::grad(rows)(st::zeros({2})).to_vector<double>(), (std::vector<double>{0, 0}));
    // an inner while that would never end is not run where the outer loop makes no step
    const auto nested = st::jit([](Array a, Array n) {
        return st::fori_loop(
            0, n, [&](Array, Array c) { return c + st::while_loop([](Array k) { return k < 100.0; }, [](Array k) { return k * 2.0; }, a); },
            Array(0.0));
    });
    EXPECT_EQ(nested(Array(0.0), Array(0)).item<double>(), 0);
    EXPECT_EQ(nested(Array(1.0), Array(2)).item<double>(), 256);
}
