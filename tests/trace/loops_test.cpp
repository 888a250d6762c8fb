// Loops and branches as users write them: eager, jitted, differentiated, batched.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <array>
#include <cmath>

namespace st = stithy;
using st::Array;
using st::test::expect_all_near;
using st::test::expect_parts;
using st::test::message;
using st::test::value;

namespace {

struct State {
    Array position, velocity;
    double mass = 2;
};

/// f eager, jitted, and stepped through gives the same number.
template <class F>
void everywhere(F f, double x, double expected, double derivative) {
    EXPECT_NEAR(value(f(Array(x))), expected, 1e-9);
    EXPECT_NEAR(value(st::jit(f)(Array(x))), expected, 1e-9);
    {
        st::disable_jit scope;
        EXPECT_NEAR(value(f(Array(x))), expected, 1e-9);
    }
    EXPECT_NEAR(value(st::grad(f)(Array(x))), derivative, 1e-7);
    EXPECT_NEAR(value(st::jit(st::grad(f))(Array(x))), derivative, 1e-7);
    EXPECT_NEAR(value(st::grad(st::jit(f))(Array(x))), derivative, 1e-7);
    EXPECT_NEAR(value(std::get<1>(st::jvp(f, std::tuple{Array(x)}, std::tuple{Array(1.0)}))), derivative, 1e-7);
    const Array xs = st::array({x, x}); // two examples
    expect_all_near(st::vmap(f)(xs), {expected, expected});
    expect_all_near(st::vmap(st::grad(f))(xs), {derivative, derivative}, 1e-7);
    expect_all_near(st::jit(st::vmap(st::grad(f)))(xs), {derivative, derivative}, 1e-7);
}

TEST(Fori, Everywhere) {
    everywhere([](Array t) { return st::fori_loop(0, 5, [&](Array, Array p) { return p * t; }, st::ones_like(t)); }, 1.1, std::pow(1.1, 5),
               5 * std::pow(1.1, 4));
    everywhere([](Array t) { return st::fori_loop(2, 5, [&](Array i, Array p) { return p + t * t * i.astype(st::f64); }, t); }, 0.5,
               0.5 + 0.25 * 9, 1 + 9.0);
    everywhere([](Array t) { return st::fori_loop(3, 3, [&](Array, Array p) { return p * 7.0; }, t * t); }, 0.5, 0.25, 1.0);
    everywhere([](Array t) { return st::fori_loop(5, 3, [&](Array, Array p) { return p * 7.0; }, t * t); }, 0.5, 0.25, 1.0);
}

TEST(Fori, Nested) {
    everywhere(
        [](Array t) {
            return st::fori_loop(
                0, 3,
                [&](Array i, Array a) {
                    return st::fori_loop(0, 2, [&](Array j, Array b) { return b + t * (i * 2 + j).astype(st::f64); }, a * 0.5);
                },
                t);
        },
        0.8,
        [] {
            double a = 0.8;
            for (int i = 0; i < 3; ++i) {
                a *= 0.5;
                for (int j = 0; j < 2; ++j) a += 0.8 * (2 * i + j);
            }
            return a;
        }(),
        [] {
            double a = 1;
            for (int i = 0; i < 3; ++i) {
                a *= 0.5;
                for (int j = 0; j < 2; ++j) a += 2 * i + j;
            }
            return a;
        }());
}

TEST(Fori, StructsAndNumbersAsCarries) {
    const auto f = [](Array k) {
        const State end = st::fori_loop(
            0, 10,
            [&](Array, State s) {
                const Array v = s.velocity - 0.1 * k * s.position / s.mass;
                return State{s.position + 0.1 * v, v, s.mass};
            },
            State{Array(1.0), Array(0.0)});
        return end.position;
    };
    const auto in_c = [](double k) {
        double p = 1, v = 0;
        for (int i = 0; i < 10; ++i) {
            v -= 0.1 * k * p / 2;
            p += 0.1 * v;
        }
        return p;
    };
    everywhere(f, 3.0, in_c(3), (in_c(3 + 1e-5) - in_c(3 - 1e-5)) / 2e-5);
    auto [a, b] =
        st::fori_loop(0, 3, [](Array, std::pair<Array, Array> s) { return std::pair{s.first + 1.0, s.second * 2.0}; }, std::pair{0.0, 1.0});
    EXPECT_NEAR(value(a), 3, 0);
    EXPECT_NEAR(value(b), 8, 0);
}

TEST(Fori, ABoundThatIsData) {
    auto count = st::jit([](Array n) { return st::fori_loop(0, n, [](Array i, Array s) { return s + i; }, Array(0)); });
    for (int n : {0, 1, 5, -2}) EXPECT_EQ(count(Array(n)).item<int>(), n > 0 ? n * (n - 1) / 2 : 0);
    EXPECT_EQ(st::fori_loop(Array(1), Array(4), [](Array i, Array s) { return s + i; }, Array(0)).item<int>(), 6);
}

TEST(While, CountsAndStops) {
    // counted: differentiates in reverse
    everywhere(
        [](Array t) {
            auto [n, y] = st::while_loop([](std::pair<Array, Array> s) { return s.first < 4; },
                                         [&](std::pair<Array, Array> s) { return std::pair{s.first + 1, s.second * t}; },
                                         std::pair{Array(0), st::ones_like(t)});
            return y;
        },
        1.3, std::pow(1.3, 4), 4 * std::pow(1.3, 3));
    const auto root = [](Array a) {
        return st::while_loop([&](Array s) { return st::abs(s * s - a) > 1e-12 * a; }, [&](Array s) { return 0.5 * (s + a / s); }, a);
    };
    EXPECT_NEAR(value(root(Array(2.0))), std::sqrt(2.0), 1e-9);
    EXPECT_NEAR(value(st::jit(root)(Array(9.0))), 3, 1e-9);
    expect_all_near(st::vmap(root)(st::array({0.25, 2.0, 1e6})), {0.5, std::sqrt(2.0), 1e3}, 1e-6);
    EXPECT_NEAR(value(std::get<1>(st::jvp(root, std::tuple{Array(2.0)}, std::tuple{Array(1.0)}))), 0.5 / std::sqrt(2.0), 1e-6);
    expect_parts(message([&] { return st::grad(root)(Array(2.0)); }), {"while_loop", "unknown length", "fori_loop", "loops_test.cpp"});
}

TEST(Scan, StacksAndReverses) {
    const Array xs = st::array({1.0, 2.0, 3.0});
    const auto body = [](Array c, Array x) { return std::pair{c * 2.0 + x, c}; };
    auto [end, ys] = st::scan(body, Array(0.5), xs);
    EXPECT_NEAR(value(end), 15, 1e-12);
    expect_all_near(ys, {0.5, 2, 6});
    auto [back, zs] = st::scan(body, Array(0.5), xs, {.reverse = true});
    EXPECT_NEAR(value(back), ((0.5 * 2 + 3) * 2 + 2) * 2 + 1, 1e-12);
    expect_all_near(zs, {10, 4, 0.5});
    const Array bare = st::scan([](Array c, Array x) { return c + x; }, Array(0.0), xs);
    EXPECT_NEAR(value(bare), 6, 0);
    const auto f = [&](Array x) {
        auto [e, y] = st::scan([](Array c, Array v) { return std::pair{st::sin(c) * v, c * v}; }, Array(0.7), x);
        return e + st::sum(y * y);
    };
    const Array g = st::grad(f)(xs), h = st::jit(st::grad(f))(xs);
    for (int i = 0; i < 3; ++i) {
        const Array step = st::zeros({3}).at(i).set(1e-5);
        const double slope = (value(f(xs + step)) - value(f(xs - step))) / 2e-5;
        EXPECT_NEAR(value(g(i)), slope, 1e-6);
        EXPECT_NEAR(value(h(i)), slope, 1e-6);
    }
}

TEST(Scan, TreesAndNothing) {
    struct In {
        Array a, b;
    };
    const In xs{st::array({1.0, 2.0}), st::ones({2, 3})};
    auto [end, ys] =
        st::scan([](std::array<Array, 2> c, In x) { return std::pair{std::array{c[0] + x.a, c[1] + st::sum(x.b)}, In{c[0], x.b * 2.0}}; },
                 std::array{Array(0.0), Array(0.0)}, xs);
    EXPECT_NEAR(value(end[0]), 3, 0);
    EXPECT_NEAR(value(end[1]), 6, 0);
    EXPECT_EQ(ys.b.shape(), st::Shape({2, 3}));
    auto [still, none] = st::scan([](Array c, Array x) { return std::pair{c + x, x}; }, Array(1.0), st::zeros({0}));
    EXPECT_NEAR(value(still), 1, 0);
    EXPECT_EQ(none.shape(), st::Shape({0}));
}

TEST(Cond, Everywhere) {
    for (double x : {0.5, -0.7})
        everywhere([](Array t) { return st::cond(t > 0.0, [&] { return t * t; }, [&] { return -3.0 * t; }); }, x, x > 0 ? x * x : -3 * x,
                   x > 0 ? 2 * x : -3);
    everywhere(
        [](Array t) {
            return st::fori_loop(
                0, 6,
                [&](Array i, Array s) { return st::cond(i % 2 == 0, [](Array a) { return a * a; }, [&](Array a) { return a * t; }, s); },
                t);
        },
        0.9, std::pow(0.9, 15), 15 * std::pow(0.9, 14)); // ((((t^2)t)^2 t)^2 t): 2,3,6,7,14,15
}

TEST(Switch, ClampsItsIndex) {
    const auto f = [](Array i, Array x) {
        return st::switch_(i, std::tuple{[](Array a) { return a; }, [](Array a) { return a * 2.0; }, [](Array a) { return a * 3.0; }}, x);
    };
    for (int i : {-5, 0, 1, 2, 9}) {
        const double expected = 1.5 * (std::clamp(i, 0, 2) + 1);
        EXPECT_NEAR(value(f(Array(i), Array(1.5))), expected, 1e-12);
        EXPECT_NEAR(value(st::jit(f)(Array(i), Array(1.5))), expected, 1e-12);
    }
    expect_all_near(st::vmap(f, {.in_axes = {0, st::unmapped}})(st::array({-1, 1, 7}), Array(1.0)), {1, 2, 3});
}

TEST(Loops, WindowsInPlace) {
    const auto fill = [](Array v) { return st::fori_loop(0, 4, [](Array i, Array s) { return s.at(i).set(s(i) * s(i)); }, v); };
    expect_all_near(fill(st::array({1.0, 2.0, 3.0, 4.0})), {1, 4, 9, 16});
    expect_all_near(st::grad([&](Array v) { return st::sum(fill(v)); })(st::array({1.0, 2.0, 3.0, 4.0})), {2, 4, 6, 8});
    expect_all_near(st::jit(st::grad([&](Array v) { return st::sum(fill(v)); }))(st::array({1.0, 2.0, 3.0, 4.0})), {2, 4, 6, 8});
    const auto rows = [](Array m) { return st::fori_loop(0, 3, [&](Array i, Array s) { return s + st::sum(st::sin(m(i))); }, Array(0.0)); };
    const Array m = st::reshape(st::linspace(0.0, 1.0, 6), {3, 2});
    const Array expected = st::cos(m);
    expect_all_near(st::reshape(st::grad(rows)(m), {6}), st::reshape(expected, {6}).to_vector<double>());
    expect_all_near(st::reshape(st::jit(st::grad(rows))(m), {6}), st::reshape(expected, {6}).to_vector<double>());
}

TEST(Loops, Mistakes) {
    expect_parts(message([] { return st::fori_loop(0, 3, [](Array, Array s) { return s.astype(st::f32); }, Array(1.0)); }),
                 {"fori_loop", "f64", "f32", "loops_test.cpp"});
    expect_parts(message([] { return st::fori_loop(0, 3, [](Array, Array s) { return s * 0.5; }, Array(0)); }),
                 {"fori_loop", "i32", "f64", "0.0"});
    expect_parts(message([] {
                     return st::scan([](Array c, std::vector<Array> x) { return c + x[0] * x[1]; }, Array(0.0),
                                     std::vector{st::ones({3}), st::ones({4})});
                 }),
                 {"scan", "3", "4"});
    expect_parts(message([] { return st::while_loop([](Array s) { return s; }, [](Array s) { return s; }, Array(1.0)); }),
                 {"while_loop", "bool"});
    expect_parts(message([] { return st::cond(Array(1.0), [] { return Array(1.0); }, [] { return Array(2.0); }); }),
                 {"cond", "f64[]", "bool"});
    expect_parts(message([] {
                     return st::jit([](Array p) { return st::cond(p, [] { return Array(1.0); }, [] { return Array(2.0f); }); })(
                         Array(true));
                 }),
                 {"cond", "f32", "f64"});
    EXPECT_EQ(st::fori_loop(0, 3, [](Array, Array s) { return s + 1; }, Array(0)).item<int>(), 3);
}

} // namespace
