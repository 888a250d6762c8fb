// Transformations in transformations: gradients in loops, loops in gradients, batches of both, through jit.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <array>
#include <cmath>

namespace st = stithy;
using st::Array;

namespace {

double v(const Array& x) { return x.item<double>(); }

/// f() is the expected number.
template <class F>
void expect(const char* what, F f, double expected, double tolerance = 1e-6) {
    EXPECT_NEAR(f(), expected, tolerance * (1 + std::abs(expected))) << what;
}
template <class F>
double slope(F f, double x) {
    const double h = 1e-4;
    return (f(x + h) - f(x - h)) / (2 * h);
}

TEST(Compositions, GradientDescentInALoop) {
    auto descend = [](Array a) {
        return st::fori_loop(
            0, 20, [&](Array, Array x) { return x - 0.1 * st::grad([&](Array y) { return st::square(y - a) * a; })(x); }, Array(1.0));
    };
    auto dn = [](double a) {
        double x = 1;
        for (int i = 0; i < 20; ++i) x -= 0.1 * 2 * (x - a) * a;
        return x;
    };
    expect("descend", [&] { return v(descend(Array(0.7))); }, dn(0.7));
    expect("jit descend", [&] { return v(st::jit(descend)(Array(0.7))); }, dn(0.7));
    expect("grad descend", [&] { return v(st::grad(descend)(Array(0.7))); }, slope(dn, 0.7));
    expect("jit grad descend", [&] { return v(st::jit(st::grad(descend))(Array(0.7))); }, slope(dn, 0.7));
    expect(
        "grad grad descend", [&] { return v(st::jit(st::grad(st::grad(descend)))(Array(0.7))); },
        slope([&](double x) { return slope(dn, x); }, 0.7), 1e-4);
    expect("vmap grad descend", [&] { return v(st::sum(st::vmap(st::grad(descend))(st::array({0.7, 0.7})))); }, 2 * slope(dn, 0.7));
}

TEST(Compositions, Scans) {
    auto sc = [](Array xs) {
        auto [c, ys] = st::scan([](Array h, Array x) { return std::pair{st::sin(h) * x, h + x}; }, Array(0.3), xs);
        return c + st::sum(ys * ys);
    };
    Array xs = st::array({0.5, 1.5, -0.4});
    Array j = st::jacrev([&](Array x) {
        return std::get<1>(st::scan([](Array c, Array y) { return std::pair{st::sin(c) * y, c * y}; }, Array(0.3), x));
    })(xs);
    Array k = st::jacfwd([&](Array x) {
        return std::get<1>(st::scan([](Array c, Array y) { return std::pair{st::sin(c) * y, c * y}; }, Array(0.3), x));
    })(xs);
    expect("jacrev = jacfwd of scan", [&] { return v(st::max(st::abs(j - k))); }, 0);
    Array H = st::hessian(sc)(xs), H2 = st::jacrev(st::grad(sc))(xs), H3 = st::jit(st::hessian(sc))(xs);
    expect(
        "hessians of scan", [&] { return v(st::max(st::abs(H - H2))) + v(st::max(st::abs(H - H3))) + v(st::max(st::abs(H - H.T()))); }, 0);
    Array B = st::stack({xs, xs * 2.0});
    expect("vmap scan", [&] { return v(st::sum(st::vmap(sc)(B))); }, v(sc(xs)) + v(sc(xs * 2.0)));
    expect(
        "vmap grad scan", [&] { return v(st::sum(st::vmap(st::grad(sc))(B))); },
        v(st::sum(st::grad(sc)(xs))) + v(st::sum(st::grad(sc)(xs * 2.0))));
}

TEST(Compositions, WhilesInLoops) {
    auto wf = [](Array a) {
        return st::fori_loop(
            0, 3,
            [&](Array i, Array s) {
                return st::while_loop([&](Array q) { return q < a + i.astype(st::f64); }, [&](Array q) { return q * 1.5 + 0.1; }, s);
            },
            a * 0.1);
    };
    auto wn = [](double a) {
        double s = a * 0.1;
        for (int i = 0; i < 3; ++i)
            while (s < a + i) s = s * 1.5 + 0.1;
        return s;
    };
    expect("while in fori", [&] { return v(wf(Array(1.0))); }, wn(1));
    expect("vmap while in fori", [&] { return v(st::sum(st::vmap(wf)(st::array({1.0, 2.0, 5.0})))); }, wn(1) + wn(2) + wn(5));
    expect(
        "jvp while in fori", [&] { return v(std::get<1>(st::jvp(wf, std::tuple{Array(1.05)}, std::tuple{Array(1.0)}))); }, slope(wn, 1.05));
}

TEST(Compositions, JitInALoopInAGradient) {
    auto inner = st::jit([](Array m, Array i, Array c) { return st::sum(st::sin(m(i)) * c); });
    auto outer = [&](Array m) { return st::fori_loop(0, 4, [&](Array i, Array s) { return s + inner(m, i, s) * 0.1; }, Array(1.0)); };
    Array m = st::reshape(st::linspace(0.0, 1.0, 8), {4, 2});
    expect(
        "grad jit in loop", [&] { return v(st::sum(st::grad(outer)(m) * m)); },
        [&] {
            auto f = [&](double s) { return v(outer(m * s)); };
            return slope(f, 1.0);
        }());
    expect(
        "jit grad jit in loop", [&] { return v(st::sum(st::jit(st::grad(outer))(m) * m)); },
        [&] {
            auto f = [&](double s) { return v(outer(m * s)); };
            return slope(f, 1.0);
        }());
}

TEST(Compositions, GatheredElements) {
    Array idx = st::array({0, 3, 3, 1});
    auto ga = [&](Array x) { return st::sum(x(idx) * x(idx) * st::array({1.0, 2.0, 3.0, 4.0})); };
    expect("gather grad", [&] { return v(st::sum(st::grad(ga)(st::array({1.0, 2.0, 3.0, 4.0})))); }, 2 * 1 + 2 * 4 * 5 + 2 * 2 * 4);
    expect("vmap gather grad", [&] { return v(st::sum(st::vmap(st::grad(ga))(st::ones({3, 4})))); }, 3 * 20);
}

TEST(Compositions, BranchesOnCapturedValues) {
    auto cl = [](Array a) {
        return st::fori_loop(
            0, 5, [&](Array i, Array s) { return st::cond(s > a, [&] { return s * 0.5; }, [&] { return s + a * i.astype(st::f64); }); },
            Array(0.1));
    };
    auto cn = [](double a) {
        double s = 0.1;
        for (int i = 0; i < 5; ++i) s = s > a ? s * 0.5 : s + a * i;
        return s;
    };
    expect("cond loop", [&] { return v(cl(Array(0.73))); }, cn(0.73));
    expect("grad cond loop", [&] { return v(st::jit(st::grad(cl))(Array(0.73))); }, slope(cn, 0.73));
    expect(
        "vmap grad cond loop", [&] { return v(st::sum(st::vmap(st::grad(cl))(st::array({0.73, 0.2})))); },
        slope(cn, 0.73) + slope(cn, 0.2));
}

TEST(Compositions, ManyArguments) {
    std::vector<Array> many;
    for (int i = 0; i < 100; ++i) many.push_back(Array(i * 0.01));
    auto sumsq = [](const std::vector<Array>& q) {
        Array s = q[0] * q[0];
        for (std::size_t i = 1; i < q.size(); ++i) s = s + q[i] * q[i] * q[i - 1];
        return s;
    };
    expect("many", [&] { return v(st::grad(sumsq)(many)[50]); }, 2 * 0.5 * 0.49 + 0.51 * 0.51);
}

TEST(Compositions, ALongEagerChain) {
    expect(
        "long chain",
        [&] {
            return v(st::grad([](Array x) {
                for (int i = 0; i < 100000; ++i) x = x * 1.00001;
                return x;
            })(Array(1.0)));
        },
        std::pow(1.00001, 100000));
}

TEST(Compositions, ThirdDerivativesOfACountedWhile) {
    auto wc = [](Array x) {
        return std::get<1>(st::while_loop([](std::pair<Array, Array> s) { return s.first < 3; },
                                          [&](std::pair<Array, Array> s) { return std::pair{s.first + 1, s.second * x}; },
                                          std::pair{Array(0), x}));
    };
    expect("third of x^4", [&] { return v(st::grad(st::grad(st::grad(wc)))(Array(0.5))); }, 24 * 0.5);
    expect("third of x^4 jit", [&] { return v(st::jit(st::grad(st::grad(st::grad(wc))))(Array(0.5))); }, 24 * 0.5);
}

TEST(Compositions, SinglePrecision) {
    auto f32 = [](Array x) { return st::sum(st::fori_loop(0, 3, [&](Array, Array s) { return st::tanh(s) * x; }, x)); };
    expect(
        "f32 loop grad", [&] { return st::sum(st::grad(f32)(st::array({0.5f, 0.25f}))).item<float>(); },
        v(st::sum(st::grad(f32)(st::array({0.5, 0.25})))), 1e-5);
}

TEST(Compositions, ARecurrentNetwork) {
    auto rnn = [](Array W, Array X) {
        auto c = st::scan([&](Array h, Array x) { return st::tanh(st::matmul(h, W) + x); }, st::zeros({2, 3}), X);
        return st::sum(c * c);
    };
    Array W = st::reshape(st::linspace(-0.5, 0.5, 9), {3, 3}), X = st::reshape(st::sin(st::arange(240).astype(st::f64)), {40, 2, 3});
    auto [gW, gX] = st::jit(st::grad<0, 1>(rnn))(W, X);
    expect("rnn W", [&] { return v(st::sum(gW * W)); }, slope([&](double s) { return v(rnn(W * s, X)); }, 1.0));
    expect("rnn X", [&] { return v(st::sum(gX * X)); }, slope([&](double s) { return v(rnn(W, X * s)); }, 1.0));
}

} // namespace
