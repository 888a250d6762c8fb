// Gradients, their nesting, trees, auxiliary output, and what they say of mistakes.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <cmath>
#include <map>
#include <optional>

namespace st = stithy;
using st::Array;
using st::test::expect_all_near;
using st::test::expect_parts;
using st::test::message;
using st::test::value;

namespace {

struct Weights {
    Array w, b;
    int layers = 2;
};
struct Model {
    Weights inner;
    std::vector<Array> more;
    std::map<std::string, Array> named;
    std::optional<Array> maybe, nothing;
    double scale = 0.5;
};

TEST(Grad, OfOneArgument) {
    EXPECT_NEAR(value(st::grad([](Array x) { return st::sin(x) * x; })(Array(0.7))), std::cos(0.7) * 0.7 + std::sin(0.7), 1e-12);
    expect_all_near(st::grad([](Array x) { return st::sum(x * x * x); })(st::array({1.0, -2.0})), {3, 12});
    EXPECT_NEAR(value(st::grad([](Array x) { return x * 0.0 + 2.0; })(Array(1.0))), 0, 0);
    EXPECT_NEAR(value(st::grad([](Array) { return Array(3.0); })(Array(1.0))), 0, 0); // does not depend
    EXPECT_NEAR(value(st::grad([](Array x) { return x; })(Array(1.0))), 1, 0);
}

TEST(Grad, NumbersAreTracedWhereArraysAreTaken) {
    EXPECT_NEAR(value(st::grad([](Array x) { return x * x; })(3.0)), 6, 1e-12);
}

TEST(Grad, OfChosenArguments) {
    const auto f = [](Array a, Array b, double c) { return a * b * c; };
    EXPECT_NEAR(value(st::grad<1>(f)(Array(2.0), Array(3.0), 4.0)), 8, 1e-12);
    auto [b, a] = st::grad<1, 0>(f)(Array(2.0), Array(3.0), 4.0);
    EXPECT_NEAR(value(a), 12, 1e-12);
    EXPECT_NEAR(value(b), 8, 1e-12);
    auto [v, g] = st::value_and_grad(f)(Array(2.0), Array(3.0), 4.0);
    EXPECT_NEAR(value(v), 24, 1e-12);
    EXPECT_NEAR(value(g), 12, 1e-12);
}

TEST(Grad, OfTrees) {
    Model m{{Array(2.0), st::array({1.0, 2.0})}, {Array(0.5), Array(0.25)}, {{"p", Array(3.0)}}, Array(4.0), std::nullopt};
    const auto f = [](const Model& x) {
        return x.inner.w * st::sum(x.inner.b) * static_cast<double>(x.inner.layers) + x.more[0] * x.more[1] + x.named.at("p") * x.scale +
               st::square(*x.maybe);
    };
    const Model g = st::grad(f)(m);
    EXPECT_NEAR(value(g.inner.w), 6, 1e-12);
    expect_all_near(g.inner.b, {4, 4});
    EXPECT_EQ(g.inner.layers, 2);
    EXPECT_NEAR(value(g.more[0]), 0.25, 1e-12);
    EXPECT_NEAR(value(g.named.at("p")), 0.5, 1e-12);
    EXPECT_NEAR(value(*g.maybe), 8, 1e-12);
    EXPECT_FALSE(g.nothing.has_value());
    EXPECT_EQ(g.scale, 0.5);
    const Model h = st::jit(st::grad(f))(m);
    EXPECT_NEAR(value(h.inner.w), 6, 1e-12);
    EXPECT_NEAR(value(*h.maybe), 8, 1e-12);
}

TEST(Grad, WithAuxiliaryOutput) {
    const auto f = [](Array x) { return std::pair{st::sum(x * x), std::vector<Array>{x + 1.0, Array(7)}}; };
    auto [both, g] = st::value_and_grad_aux(f)(st::array({1.0, 2.0}));
    EXPECT_NEAR(value(both.first), 5, 1e-12);
    expect_all_near(both.second[0], {2, 3});
    EXPECT_EQ(both.second[1].item<int>(), 7);
    expect_all_near(g, {2, 4});
    expect_all_near((both.second[0] * 2.0), {4, 6}); // usable after
}

TEST(Grad, BranchesOnValues) {
    const auto f = [](Array x) {
        if (x > 1.0) return x * x;
        if (x.item<double>() < 0) return -x;
        return x * 3.0;
    };
    const std::pair<double, double> expected[] = {{2.0, 4.0}, {0.5, 3.0}, {-1.0, -1.0}};
    for (auto [x, d] : expected) EXPECT_NEAR(value(st::grad(f)(Array(x))), d, 1e-12);
    EXPECT_NEAR(value(st::grad(st::grad(f))(Array(2.0))), 2, 1e-12);
    EXPECT_NEAR(value(st::grad(st::grad(f))(Array(0.5))), 0, 1e-12);
}

TEST(Grad, PerturbationsAreNotConfused) {
    // d/dx (x * d/dy (x + y)) = 1
    const auto f = [](Array x) { return x * st::grad([&](Array y) { return x + y; })(Array(1.0)); };
    EXPECT_NEAR(value(st::grad(f)(Array(3.0))), 1, 1e-12);
    const auto forward = [](Array x) {
        return x * std::get<1>(st::jvp([&](Array y) { return x + y; }, std::tuple{Array(1.0)}, std::tuple{Array(1.0)}));
    };
    EXPECT_NEAR(value(std::get<1>(st::jvp(forward, std::tuple{Array(3.0)}, std::tuple{Array(1.0)}))), 1, 1e-12);
    EXPECT_NEAR(value(st::grad(forward)(Array(3.0))), 1, 1e-12);
    EXPECT_NEAR(value(std::get<1>(st::jvp(f, std::tuple{Array(3.0)}, std::tuple{Array(1.0)}))), 1, 1e-12);
    // d/dx (x * d/dy (x * y)) = 2 x
    const auto g = [](Array x) { return x * st::grad([&](Array y) { return x * y; })(x); };
    EXPECT_NEAR(value(st::grad(g)(Array(3.0))), 6, 1e-12);
    EXPECT_NEAR(value(st::jit(st::grad(g))(Array(3.0))), 6, 1e-12);
}

TEST(Grad, OfGrad) {
    auto f = [](Array x) { return st::exp(2.0 * x) * st::sin(x); };
    const double x = 0.3, e = std::exp(2 * x);
    EXPECT_NEAR(value(st::grad(st::grad(f))(Array(x))), e * (3 * std::sin(x) + 4 * std::cos(x)), 1e-10);
    EXPECT_NEAR(value(st::jit(st::grad(st::grad(f)))(Array(x))), e * (3 * std::sin(x) + 4 * std::cos(x)), 1e-10);
    EXPECT_NEAR(value(st::grad(st::jit(st::grad(f)))(Array(x))), e * (3 * std::sin(x) + 4 * std::cos(x)), 1e-10);
    EXPECT_NEAR(value(st::grad(st::grad(st::jit(f)))(Array(x))), e * (3 * std::sin(x) + 4 * std::cos(x)), 1e-10);
}

TEST(Grad, JitInsideIsDifferentiatedThrough) {
    auto inner = st::jit([](Array a, Array b) { return std::pair{st::sin(a) * b, a.astype(st::i32)}; });
    const auto f = [&](Array x) {
        auto [y, n] = inner(x, x * x);
        return st::sum(y) + st::sum(n.astype(st::f64));
    };
    const Array x = st::array({0.5, 1.5});
    expect_all_near(st::grad(f)(x), {std::cos(0.5) * 0.25 + std::sin(0.5), std::cos(1.5) * 2.25 + std::sin(1.5) * 3});
    expect_all_near(st::jit(st::grad(f))(x), {std::cos(0.5) * 0.25 + std::sin(0.5), std::cos(1.5) * 2.25 + std::sin(1.5) * 3});
}

TEST(Grad, CapturedArraysAreConstants) {
    const Array w = st::array({2.0, 3.0});
    expect_all_near(st::grad([&](Array x) { return st::sum(x * w * w); })(st::ones({2})), {4, 9});
    expect_all_near(st::jit(st::grad([&](Array x) { return st::sum(x * w * w); }))(st::ones({2})), {4, 9});
}

TEST(Vjp, PullsBackOften) {
    auto [y, back] = st::vjp([](Array a, Array b) { return std::pair{a * b, a + b}; }, st::array({1.0, 2.0}), st::array({3.0, 4.0}));
    expect_all_near(y.first, {3, 8});
    for (int k = 0; k < 2; ++k) {
        auto [da, db] = back(std::pair{st::array({1.0, 10.0}), st::array({0.5, 0.5})});
        expect_all_near(da, {3.5, 40.5});
        expect_all_near(db, {1.5, 20.5});
    }
    auto [value_, derivative] = st::linearize([](Array a) { return st::sin(a); }, Array(0.3));
    EXPECT_NEAR(value(derivative(Array(2.0))), 2 * std::cos(0.3), 1e-12);
    EXPECT_NEAR(value(derivative(Array(-1.0))), -std::cos(0.3), 1e-12);
}

TEST(Vjp, OfSeveralDtypes) {
    auto [y, back] = st::vjp([](Array a) { return a.astype(st::f32) * 2.0f; }, st::array({1.0, 2.0}));
    EXPECT_EQ(y.dtype(), st::f32);
    const Array g = back(st::array({1.0f, 3.0f}));
    EXPECT_EQ(g.dtype(), st::f64);
    expect_all_near(g, {2, 6});
}

TEST(Jvp, FollowsTrees) {
    const Weights w{Array(2.0), Array(3.0)}, t{Array(1.0), Array(10.0)};
    auto [y, dy] = st::jvp([](const Weights& x) { return x.w * x.b; }, std::tuple{w}, std::tuple{t});
    EXPECT_NEAR(value(y), 6, 1e-12);
    EXPECT_NEAR(value(dy), 23, 1e-12);
    auto [z, dz] = st::jit([](Array a, Array da) { return st::jvp([](Array x) { return x * x; }, std::tuple{a}, std::tuple{da}); })(
        Array(3.0), Array(1.0));
    EXPECT_NEAR(value(z), 9, 1e-12);
    EXPECT_NEAR(value(dz), 6, 1e-12);
}

TEST(Grad, Mistakes) {
    expect_parts(message([] { return st::grad([](Array x) { return x * 2.0; })(st::ones({3})); }), {"grad", "f64[3]", "scalar"});
    expect_parts(message([] { return st::grad([](Array x) { return st::sum(x); })(st::arange(3)); }), {"grad", "i32[3]", "astype"});
    expect_parts(message([] { return st::grad([](Array x) { return (x > 0.0).astype(st::i32); })(Array(1.0)); }),
                 {"grad", "i32", "floating"});
    expect_parts(message([] {
                     auto [y, back] = st::vjp([](Array x) { return x * 2.0; }, st::ones({3}));
                     back(st::ones({2}));
                 }),
                 {"vjp", "f64[2]", "f64[3]"});
    Array escaped;
    st::grad([&](Array x) { return escaped = x * x; })(Array(1.0));
    expect_parts(message([&] { return (escaped + 1.0).item<double>(); }), {"trace that has ended", "grad"});
    EXPECT_NEAR(value(st::grad([](Array x) { return x * x; })(Array(1.0))), 2, 0); // and the library goes on
}

TEST(Grad, AThrowingFunctionLeavesNoTrace) {
    EXPECT_THROW(st::grad([](Array x) -> Array {
                     if (x > 0.0) throw std::runtime_error("mine");
                     return x;
                 })(Array(1.0)),
                 std::runtime_error);
    EXPECT_NEAR(value(Array(1.0) + 1.0), 2, 0);
}

} // namespace
