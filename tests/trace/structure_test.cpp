// Structures of carries and branches, static arguments under nested transformations, and derivatives of products at zero.
#include <stithy/stithy.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace st = stithy;
using st::Array;

namespace {

struct Tagged {
    Array a;
    int n = 0;
};

template <class F>
std::string message(F f) {
    try {
        f();
    } catch (const st::Error& e) {
        return e.what();
    }
    return "";
}

Array scaled_sum(Array x, double k) { return st::sum(x) * k; }

TEST(Structure, StaticValuesOfCarriesStay) {
    const auto counts = [](Array, Tagged s) {
        ++s.n;
        return s;
    };
    EXPECT_NE(message([&] { (void)st::fori_loop(0, 5, counts, Tagged{Array(0.0), 0}); }).find("fori_loop"), std::string::npos);
    const auto jumps = [](Tagged s) {
        s.n = 7;
        return s;
    };
    EXPECT_NE(message([&] { (void)st::while_loop([](Tagged s) { return s.a < 1.0; }, jumps, Tagged{Array(0.0), 0}); }).find("while_loop"),
              std::string::npos);
}

TEST(Structure, CarriesThatGrowAreRefused) {
    using V = std::vector<Array>;
    const auto grows = [](V v, Array x) {
        v.push_back(x);
        return std::pair{v, x};
    };
    EXPECT_NE(message([&] { (void)st::scan(grows, V{Array(1.0)}, st::arange(3.0)); }).find("scan"), std::string::npos);
    const auto bare = [](V v, Array x) {
        v.push_back(x);
        return v;
    };
    EXPECT_NE(message([&] { (void)st::scan(bare, V{Array(1.0)}, st::arange(3.0)); }).find("scan"), std::string::npos);
    const auto renames = [](Array, std::map<std::string, Array> m) { return std::map<std::string, Array>{{"other", m.begin()->second}}; };
    EXPECT_NE(message([&] { (void)st::fori_loop(0, 2, renames, std::map<std::string, Array>{{"x", Array(1.0)}}); }).find("fori_loop"),
              std::string::npos);
}

TEST(Structure, BranchesAgreeInStaticValues) {
    auto f = st::jit([](Array p) { return st::cond(p > 0, [] { return Tagged{Array(1.0), 1}; }, [] { return Tagged{Array(2.0), 2}; }); });
    EXPECT_NE(message([&] { f(Array(1.0)); }).find("cond"), std::string::npos);
    auto same =
        st::jit([](Array p) { return st::cond(p > 0, [] { return Tagged{Array(1.0), 3}; }, [] { return Tagged{Array(2.0), 3}; }); });
    EXPECT_EQ(same(Array(-1.0)).a.item<double>(), 2);
    EXPECT_EQ(same(Array(-1.0)).n, 3);
}

TEST(Structure, StaticNumbersPassThroughNestedTransformations) {
    EXPECT_EQ(st::jit(st::grad(scaled_sum))(Array(1.0), 2.0).item<double>(), 2);
    EXPECT_EQ(st::grad(st::jit(scaled_sum))(Array(1.0), 2.0).item<double>(), 2);
    EXPECT_EQ(st::jit(st::vmap(scaled_sum))(st::ones({3}), 2.0).to_vector<double>(), (std::vector<double>{2, 2, 2}));
    EXPECT_EQ(st::vmap(st::jit(st::grad(scaled_sum)))(st::ones({2}), 4.0).to_vector<double>(), (std::vector<double>{4, 4}));
}

TEST(Structure, CountedWhileDifferentiatesInsideJit) {
    auto w = [](Array x) {
        return st::while_loop([](std::pair<Array, Array> c) { return c.first < 5; },
                              [&](std::pair<Array, Array> c) { return std::pair{c.first + 1, st::sin(c.second) * x}; },
                              std::pair{0, Array(0.5)})
            .second;
    };
    const double eager = st::grad(w)(Array(0.9)).item<double>();
    EXPECT_NEAR(st::jit(st::grad(w))(Array(0.9)).item<double>(), eager, 1e-12);
}

TEST(Structure, SizesThatCannotBeCountedAreRefused) {
    EXPECT_NE(message([] { (void)st::zeros({std::int64_t{1} << 62, 4}); }).find("zeros"), std::string::npos);
    EXPECT_NE(message([] { (void)st::eye(std::int64_t{1} << 33); }).find("eye"), std::string::npos);
    const auto stacks = [](Array c, std::tuple<>) { return std::pair{c + 1.0, st::broadcast_to(c, {16})}; };
    EXPECT_FALSE(message([&] { (void)st::scan(stacks, Array(0.0), std::tuple<>{}, {.length = std::int64_t{1} << 60}); }).empty());
}

TEST(Structure, AHandleGivenAwayTwice) {
    auto f = st::jit([](Array a, Array b) { return std::pair(a + 1.0, b * 2.0); }, {.donate = {0, 1}});
    Array x = st::arange(4.0);
    auto [sum, product] = f(std::move(x), std::move(x));
    EXPECT_EQ(sum.to_vector<double>(), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(product.to_vector<double>(), (std::vector<double>{0, 2, 4, 6}));
}

TEST(Structure, SpilledRowsOfAFusedReductionStayApart) {
    auto h = [](Array v) {
        Array l = st::sum(st::exp(v)), c = st::cos(v + l), d = st::sin(v * l), g = st::sum(c) + st::sum(d * v);
        return c + d * l + g * st::exp(v);
    };
    for (int n : {3, 64, 500}) {
        Array x = st::sin(st::arange(n).astype(st::f64));
        EXPECT_LT(st::max(st::abs(st::jit(h)(x) - h(x)) / (1 + st::abs(h(x)))).item<double>(), 1e-9) << n;
    }
}

TEST(Structure, SecondDerivativesOfProductsAtZero) {
    auto p = [](Array x) { return st::prod(x); };
    EXPECT_EQ(st::hessian(p)(st::array({2.0, 0.0, 3.0})).to_vector<double>(), (std::vector<double>{0, 3, 0, 3, 0, 2, 0, 2, 0}));
    EXPECT_EQ(st::hessian(p)(st::array({0.0, 0.0, 3.0})).to_vector<double>(), (std::vector<double>{0, 3, 0, 3, 0, 0, 0, 0, 0}));
    EXPECT_EQ(st::grad(p)(st::array({2.0, 0.0, 3.0, 4.0, 5.0})).to_vector<double>(), (std::vector<double>{0, 120, 0, 0, 0}));
}

} // namespace
