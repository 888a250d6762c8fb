// Every operation gives the same eagerly, compiled, batched and under derivatives in any order; derivatives agree with central differences.
#include "array/check.hpp"

#include <functional>

namespace st = stithy;
using st::Array;
using st::end;
using st::range;

namespace {
using Function = std::function<Array(Array)>;

void expect_same(const std::string& what, const Array& got, const Array& expected, double tolerance = 1e-10) {
    ASSERT_EQ(got.shape().str(), expected.shape().str()) << what;
    ASSERT_EQ(got.dtype().name(), expected.dtype().name()) << what;
    if (got.size() == 0) return;
    const double difference = st::max(st::abs(got.astype(st::f64) - expected.astype(st::f64))).item<double>();
    EXPECT_LT(difference, tolerance) << what;
}

void agree_on_derivatives(const std::string& name, const Function& f, const Array& x, const Array& xs) {
    const auto g = [&](Array y) { return st::sum(st::sin(f(y))); };
    const Array gradient = st::grad(g)(x);
    expect_same(name + ", jit of grad", st::jit(st::grad(g))(x), gradient, 1e-8);
    expect_same(name + ", grad of jit", st::grad(st::jit(g))(x), gradient, 1e-8);
    const Array rows = st::vmap(st::grad(g))(xs);
    for (int i = 0; i < 3; ++i) expect_same(name + ", vmap of grad", rows(i), st::grad(g)(xs(i)), 1e-8);
    const double h = 1e-6;
    const Array direction = st::cos(st::reshape(st::arange(static_cast<double>(x.size())), x.shape()));
    const double slope = (g(x + h * direction).item<double>() - g(x - h * direction).item<double>()) / (2 * h);
    EXPECT_NEAR(st::sum(gradient * direction).item<double>(), slope, 1e-4 * (1 + std::abs(slope))) << name;
}

void agree(const std::string& name, const Function& f, const Array& x) {
    const Array value = f(x);
    expect_same(name + ", jit", st::jit(f)(x), value);
    const Array xs = st::stack({x, x * 1.25, x * 0.75});
    const Array rows = st::vmap(f)(xs);
    for (int i = 0; i < 3; ++i) expect_same(name + ", vmap", rows(i), f(xs(i)));
    if (value.dtype().is_floating()) agree_on_derivatives(name, f, x, xs);
}

Array grid() { return st::reshape(st::linspace(-1.3, 1.7, 12), {3, 4}); }
Array square_matrix() { return st::reshape(st::linspace(0.3, 3.0, 9), {3, 3}); }
Array positive() { return st::linspace(0.2, 2.0, 5); }
} // namespace

TEST(Agreement, Indexing) {
    const Array i2 = st::array({2, 0});
    const Array i3 = st::array({-1, 1, 1});
    agree("x(1)", [](Array a) { return a(1); }, grid());
    agree("x(:,1:3)", [](Array a) { return a(st::all, range(1, 3)); }, grid());
    agree("stride", [](Array a) { return a(range(0, end, 2), range(1, end, 2)); }, grid());
    agree("gather rows", [&](Array a) { return a(i2); }, grid());
    agree("gather both", [&](Array a) { return a(i3, i3); }, grid());
    agree("gather col", [&](Array a) { return a(range(1, end), i3); }, grid());
    agree("gather apart", [&](Array a) { return st::stack({a, a})(0, st::all, i3); }, grid());
    agree("dyn", [](Array a) { return a(Array(1), range(1, 3)); }, grid());
    agree("take", [&](Array a) { return st::take(a, i3, 1); }, grid());
    agree(
        "loop index",
        [](Array a) { return st::fori_loop(0, 3, [&](Array i, Array s) { return s + a(i) * a(st::all, 0)(i); }, st::zeros({4})); }, grid());
}

TEST(Agreement, Updates) {
    const Array i2 = st::array({2, 0});
    const Array i3 = st::array({-1, 1, 1});
    agree("at set", [](Array a) { return a.at(1).set(a(0) * 2.0); }, grid());
    agree("at add", [](Array a) { return a.at(st::all, 1).add(3.0); }, grid());
    agree("at mul", [](Array a) { return a.at(0, range(1, 3)).multiply(a(1, range(0, 2))); }, grid());
    agree("at stride", [](Array a) { return a.at(0, range(0, end, 2)).set(a(1, range(0, 2))); }, grid());
    agree("at scatter set", [&](Array a) { return a.at(i2).set(a(range(0, 2)) * 2.0); }, grid());
    agree("at scatter add", [&](Array a) { return a.at(i3).add(a); }, grid());
    agree("at scatter add window", [&](Array a) { return a.at(i3, range(1, 3)).add(a(st::all, range(0, 2))); }, grid());
    agree("at dyn set", [](Array a) { return a.at(Array(1), 2).set(a(0, 0) * a(0, 1)); }, grid());
    agree("at dyn out", [](Array a) { return a.at(Array(7)).set(a(0)); }, grid());
    agree(
        "loop at", [](Array a) { return st::fori_loop(0, 3, [&](Array i, Array s) { return s.at(i).add(s(i) * s(Array(0))); }, a); },
        grid());
}

TEST(Agreement, Reductions) {
    agree("softmax", [](Array a) { return st::softmax(a, 0); }, grid());
    agree("logsumexp", [](Array a) { return st::logsumexp(a, 1); }, grid());
    agree("log_softmax", [](Array a) { return st::log_softmax(a); }, grid());
    agree("var", [](Array a) { return st::var(a, 1); }, grid());
    agree("std", [](Array a) { return st::std(a); }, grid());
    agree("norm", [](Array a) { return st::norm(a, 0, st::keepdims); }, grid());
    agree("max", [](Array a) { return st::max(a, 0); }, grid());
    agree("min", [](Array a) { return st::min(a); }, grid());
    agree("prod", [](Array a) { return st::prod(a, 1); }, grid());
    agree("mean", [](Array a) { return st::mean(a, {0, 1}, st::keepdims); }, grid());
    agree("argmax", [](Array a) { return st::argmax(a, 1); }, grid());
    agree("argmin", [](Array a) { return st::argmin(a); }, grid());
    agree("cumsum", [](Array a) { return st::cumsum(a, 1); }, grid());
    agree("cumprod", [](Array a) { return st::cumprod(a, 0); }, grid());
    agree("any", [](Array a) { return st::any(a > 1.0, 0); }, grid());
}

TEST(Agreement, Shaping) {
    agree("transpose", [](Array a) { return a.T() * 2.0; }, grid());
    agree("concat", [](Array a) { return st::concatenate({a, a * a}, 1); }, grid());
    agree("stack", [](Array a) { return st::stack({a, st::sin(a)}, 1); }, grid());
    agree(
        "split",
        [](Array a) {
            auto p = st::split(a, 2, 1);
            return p[0] * p[1];
        },
        grid());
    agree("flip", [](Array a) { return st::flip(a, 1) * a; }, grid());
    agree("roll", [](Array a) { return st::roll(a, 1, 1) * a; }, grid());
    agree("pad", [](Array a) { return st::pad(a, {{1, 0}, {0, 2}}, 1.5); }, grid());
    agree("tile", [](Array a) { return st::tile(a, {2, 1}); }, grid());
    agree("repeat", [](Array a) { return st::repeat(a, 2, 1); }, grid());
    agree("broadcast", [](Array a) { return st::broadcast_to(a(0), {2, 4}); }, grid());
    agree("squeeze", [](Array a) { return st::squeeze(st::expand_dims(a, {0, 2})); }, grid());
    agree("tril", [](Array a) { return st::tril(a); }, square_matrix());
    agree("diag", [](Array a) { return st::diag(a) * st::diag(st::diag(a))(0); }, square_matrix());
}

TEST(Agreement, Products) {
    agree("matmul", [](Array a) { return st::matmul(a, a.T()); }, grid());
    agree("matvec", [](Array a) { return st::matmul(a, a(0)); }, grid());
    agree("vecmat", [](Array a) { return st::matmul(a(st::all, 0), a); }, grid());
    agree(
        "batch matmul",
        [](Array a) {
            Array b = st::stack({a, a * a});
            return st::matmul(b, st::swapaxes(b, 1, 2));
        },
        grid());
    agree(
        "mat @ batch",
        [](Array a) {
            Array b = st::stack({a, a * a});
            return st::matmul(a.T(), b);
        },
        grid());
    agree("outer", [](Array a) { return st::outer(a(0), a(1)); }, grid());
    agree("einsum", [](Array a) { return st::einsum("ij,kj->ki", a, a); }, grid());
    agree("einsum diag", [](Array a) { return st::einsum("ii->i", a); }, square_matrix());
    agree("trace", [](Array a) { return st::trace(st::matmul(a, a)); }, square_matrix());
    agree("tensordot", [](Array a) { return st::tensordot(a, a); }, grid());
    agree(
        "eye", [](Array a) { return st::matmul(a, st::eye(4)) + st::ones({4}) + st::full({4}, 2) + st::array({1.0, 2.0, 3.0, 4.0}); },
        grid());
}

TEST(Agreement, Elementwise) {
    agree("where", [](Array a) { return st::where(a > 0, a * a, st::exp(a)); }, grid());
    agree("clip", [](Array a) { return st::clip(a, -0.5, 0.9); }, grid());
    agree("abs", [](Array a) { return st::abs(a); }, grid());
    agree("pow3", [](Array a) { return st::pow(a, 3); }, grid());
    agree("pow-2", [](Array a) { return st::pow(a, -2); }, positive());
    agree("pow.5", [](Array a) { return st::pow(a, 0.5); }, positive());
    agree("pow a^a", [](Array a) { return st::pow(a, a); }, positive());
    agree("mod", [](Array a) { return st::mod(a, 0.7); }, positive());
    agree("hypot", [](Array a) { return st::hypot(a, 0.4); }, positive());
    agree("logaddexp", [](Array a) { return st::logaddexp(a, a * a); }, positive());
    agree("softplus", [](Array a) { return st::softplus(a); }, grid());
    agree("silu", [](Array a) { return st::silu(a); }, grid());
    agree("atan", [](Array a) { return st::atan(a); }, grid());
    agree("asin", [](Array a) { return st::asin(a * 0.4); }, grid());
    agree("acos", [](Array a) { return st::acos(a * 0.4); }, grid());
    agree("sinh", [](Array a) { return st::sinh(a) * st::cosh(a); }, grid());
    agree("log2", [](Array a) { return st::log2(a) + st::log10(a) + st::log1p(a) + st::expm1(a) + st::exp2(a); }, positive());
    agree("roots", [](Array a) { return st::sqrt(a) + st::rsqrt(a) + st::cbrt(a) + st::reciprocal(a) + st::square(a); }, positive());
    agree("trig", [](Array a) { return st::sin(a) + st::cos(a) * st::tan(a) + st::tanh(a) + st::sigmoid(a); }, grid());
    agree("atan2", [](Array a) { return st::atan2(a, st::cos(a)); }, grid());
    agree("floor", [](Array a) { return st::floor(a) + st::ceil(a) * a + st::round(a) + st::trunc(a) + st::sign(a); }, grid());
    agree("maxmin", [](Array a) { return st::maximum(a, 0.1) * st::minimum(a, 0.2); }, grid());
    agree("linspace", [](Array a) { return a * st::linspace(0.0, 1.0, 4) + st::arange(4) + st::arange(1, 9, 2); }, grid());
    agree("isnan", [](Array a) { return st::isnan(a) | (st::isfinite(a) & st::logical_not(a > 0)); }, grid());
}
