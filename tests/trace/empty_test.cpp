// Arrays of no elements in programs: every layout around them, alone, in loops, batched and differentiated. What is not there is not read.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <string>
#include <utility>
#include <vector>

namespace st = stithy;
using st::Array;

namespace {

using Program = Array (*)(Array, Array);

/// Of x with n elements and y with m: scalars that read both through some layout.
const std::vector<std::pair<std::string, Program>> programs = {
    {"outer", [](Array x, Array y) { return st::sum(st::outer(st::exp(x), st::exp(y))); }},
    {"row", [](Array x, Array y) { return st::sum(st::reshape(st::exp(x), {1, x.size()}) * st::expand_dims(y, 1)); }},
    {"column", [](Array x, Array y) { return st::sum(st::reshape(st::exp(x), {x.size(), 1}) + st::reshape(y, {1, y.size()})); }},
    {"deep", [](Array x, Array y) { return st::sum(st::reshape(st::sin(x), {1, x.size(), 1, 1}) * st::reshape(y, {1, 1, y.size()})); }},
    {"transposed", [](Array x, Array y) { return st::sum(st::transpose(st::outer(st::exp(x), y)) * st::exp(st::expand_dims(y, 1))); }},
    {"flattened", [](Array x, Array y) { return st::sum(st::ravel(st::outer(st::exp(x), y)) * 2.0); }},
    {"rows", [](Array x, Array y) { return st::sum(st::exp(st::sum(st::outer(st::exp(x), y), 1))); }},
    {"columns", [](Array x, Array y) { return st::sum(st::exp(st::sum(st::outer(st::exp(x), y), 0))); }},
    {"joined", [](Array x, Array y) { return st::sum(st::reshape(st::concatenate({st::exp(x), y, y}), {1, x.size() + 2 * y.size()})); }},
    {"padded", [](Array x, Array y) { return st::sum(st::reshape(st::pad(st::exp(x), {{0, 2}}), {1, x.size() + 2})) + st::sum(y); }},
    {"sliced", [](Array x, Array y) { return st::sum(st::reshape(st::exp(x)(st::range(x.size(), x.size())), {1, 0, 1}) + y); }},
    {"flipped",
     [](Array x, Array y) { return st::sum(st::reshape(st::flip(st::exp(x)), {1, x.size()}) * st::expand_dims(st::flip(y), 1)); }},
    {"product",
     [](Array x, Array y) { return st::sum(st::matmul(st::reshape(st::exp(x), {x.size(), 1}), st::reshape(y, {1, y.size()}))); }},
    {"inner", [](Array x, Array y) { return st::matmul(st::exp(x), st::exp(x)) + st::sum(y); }},
    {"running", [](Array x, Array y) { return st::sum(st::cumsum(st::outer(st::exp(x), y), 1)); }},
    {"updated", [](Array x, Array y) { return st::sum(st::outer(x, y).at(st::range(0, 0)).add(1.0)); }},
    {"chosen", [](Array x, Array y) { return st::sum(st::take(st::outer(st::exp(x), y), st::zeros({0}, st::i32), 1)) + st::sum(x); }},
};

Array numbers(int n) { return st::arange(n).astype(st::f64) * 0.3 - 0.5; }
double value(const Array& x) { return x.item<double>(); }

TEST(Empty, EveryLayout) {
    for (const auto& [name, f] : programs)
        for (int n : {0, 1, 5})
            for (int m : {0, 1, 5}) {
                SCOPED_TRACE(name + " " + std::to_string(n) + " " + std::to_string(m));
                const Array x = numbers(n), y = numbers(m);
                const double expected = value(f(x, y));
                EXPECT_NEAR(value(st::jit(f)(x, y)), expected, 1e-12);
                const auto repeated = [&, f = f](Array a, Array b) {
                    return st::fori_loop(0, 3, [&](Array, Array c) { return c + f(a + 0.0 * c, b); }, Array(0.0));
                };
                EXPECT_NEAR(value(repeated(x, y)), 3 * expected, 1e-12);
                EXPECT_NEAR(value(st::jit(repeated)(x, y)), 3 * expected, 1e-12);
                const Array g = st::grad(f)(x, y), jitted = st::jit(st::grad(f))(x, y), looped = st::grad(repeated)(x, y);
                ASSERT_EQ(g.shape(), x.shape());
                stithy::test::expect_close(jitted, {n}, g.to_vector<double>(), 1e-12);
                stithy::test::expect_close(looped, {n}, (3.0 * g).to_vector<double>(), 1e-12);
                const Array rows = st::stack({x, x});
                stithy::test::expect_close(st::vmap(f, {.in_axes = {0, st::unmapped}})(rows, y), {2}, {expected, expected}, 1e-12);
            }
}

TEST(Empty, ScansOverNothingAndOfNothing) {
    const auto body = [](Array c, Array row) { return c + st::sum(st::outer(st::exp(row), st::exp(row))); };
    EXPECT_EQ(value(st::scan(body, Array(1.0), st::zeros({4, 0}))), 1);
    EXPECT_EQ(value(st::scan(body, Array(1.0), st::zeros({0, 3}))), 1);
    EXPECT_EQ(value(st::scan(body, Array(1.0), st::zeros({2, 1}))), 3);
}

} // namespace
