// Errors of transformations name the line of the call.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <functional>
#include <map>
#include <optional>

namespace st = stithy;
using st::Array;
using st::test::expect_array;
using st::test::expect_error_here;
using st::test::message;

namespace {

struct Pair {
    Array a;
    std::vector<Array> more;
};

Array identity(Array x) { return x; }
Array total(Array x) { return st::sum(x); }

// clang-format off: a call stands on one line, which its message names

TEST(TraceErrors, Vmap) {
    const Array x = st::ones({3, 2}), y = st::ones({4}), s(1.0);
    const auto add = [](Array a, Array b) { return a + b; };
    expect_error_here([&] { return st::vmap(add, {.in_axes = {0}})(x, y); }, {"vmap", "in_axes has 1", "2 arguments"});
    expect_error_here([&] { return st::vmap(add, {.in_axes = {0, 1, 0}})(x, y); }, {"vmap", "in_axes has 3"});
    expect_error_here([&] { return st::vmap(identity, {.in_axes = {2}})(x); }, {"vmap", "axis 2", "f64[3,2]"});
    expect_error_here([&] { return st::vmap(identity, {.in_axes = {-3}})(x); }, {"vmap", "axis -3", "f64[3,2]"});
    expect_error_here([&] { return st::vmap(identity)(s); }, {"vmap", "axis 0", "f64[]"});
    expect_error_here([&] { return st::vmap(identity, {.in_axes = {st::unmapped}})(x); }, {"vmap", "no argument is mapped"});
    expect_error_here([&] { return st::vmap(add)(x, y); }, {"vmap", "extents 3 and 4"});
    expect_error_here([&] { return st::vmap(total, {.out_axis = 1})(x); }, {"vmap", "out_axis 1", "f64[]"});
    expect_error_here([&] { return st::vmap(identity, {.out_axis = -3})(x); }, {"vmap", "out_axis -3"});
    expect_error_here([&] { return st::vmap(identity)(Array()); }, {"vmap", "empty"});
    expect_error_here([&] { return st::vmap([](Array) { return Array(); })(x); }, {"vmap", "empty"});
    const auto held = st::vmap(identity, {.in_axes = {2}});
    expect_error_here([&] { return held(x); }, {"vmap", "axis 2"}); // the call's line, not that of vmap()
}

TEST(TraceErrors, GradAndItsKin) {
    const Array i = st::arange(3), x = st::ones({3});
    const auto g = st::grad(total);
    expect_error_here([&] { return g(i); }, {"grad", "i32[3]", "floating"});
    expect_error_here([&] { return st::grad(identity)(x); }, {"grad", "f64[3]", "scalar"});
    expect_error_here([&] { return g(Array()); }, {"grad", "empty"});
    expect_error_here([&] { return st::grad([](Array) { return Array(); })(x); }, {"grad", "empty"});
    expect_error_here([&] { return st::value_and_grad(total)(i); }, {"value_and_grad", "i32[3]"});
    expect_error_here([&] { return st::jit(g)(i); }, {"grad", "i32[3]"});
    expect_error_here([&] { return st::vmap(g)(st::ones({2, 3}, st::i32)); }, {"grad", "i32[3]"});
    expect_error_here([&] { return st::jvp(identity, std::tuple{x}, std::tuple{st::ones({4})}); }, {"jvp", "f64[4]", "f64[3]"});
    expect_error_here([&] { return st::jvp(identity, std::tuple{i}, std::tuple{i}); }, {"jvp", "i32[3]"});
    expect_error_here([&] { return st::jacfwd(identity)(i); }, {"i32[3]"});
    expect_error_here([&] { return st::jacrev(identity)(i); }, {"i32[3]"});
    expect_error_here([&] { return st::hessian(total)(i); }, {"i32[3]"});
    const std::string text = message([&] { g(st::ones({2}, st::i32)); });
    EXPECT_NE(text.find("made at errors_test.cpp:"), std::string::npos) << text;
}

TEST(TraceErrors, Cotangents) {
    const Array x = st::ones({3}), y = st::ones({2});
    const auto both = [](Array a) { return std::vector<Array>{a, a}; };
    const auto [values, pull] = st::vjp(both, x);
    const auto& back = pull;
    expect_error_here([&] { return back({x}); }, {"vjp", "1 arrays", "expected 2"});
    expect_error_here([&] { return back({x, y}); }, {"vjp", "cotangent 1", "f64[2]", "f64[3]"});
    expect_error_here([&] { return back({x, Array()}); }, {"vjp", "empty"});
    expect_error_here([&] { return st::vjp(identity, st::arange(3)); }, {"vjp", "i32[3]"});
    const auto [value, derivative] = st::linearize(identity, x);
    const auto& forward = derivative;
    expect_error_here([&] { return forward(y); }, {"linearize", "f64[2]", "f64[3]"});
    expect_error_here([&] { return forward(x.astype(st::f32)); }, {"linearize", "f32[3]"});
    expect_array<double>(back({x, x}), {3}, {2, 2, 2});
}

TEST(TraceErrors, TreeMap) {
    const auto add = [](Array a, Array b) { return a + b; };
    const Array x(1.0);
    const std::vector<Array> two{x, x}, three{x, x, x};
    expect_error_here([&] { return st::tree_map(add, two, three); }, {"tree_map", "2 arrays", "3"});
    expect_error_here([&] { return st::tree_map(add, Pair{x, two}, two); }, {"tree_map", "3 arrays", "2"});
    const std::vector<std::vector<Array>> left{{x}, {x, x}}, right{{x, x}, {x}};
    expect_error_here([&] { return st::tree_map(add, left, right); }, {"tree_map", "sizes"});
    const std::map<std::string, Array> a{{"a", x}}, b{{"b", x}};
    expect_error_here([&] { return st::tree_map(add, a, b); }, {"tree_map", "keys"});
    EXPECT_EQ(st::tree_map(add, two, two)[1].item<double>(), 2);
}

TEST(TraceErrors, Jit) {
    const Array x = st::ones({3});
    const auto f = st::jit(identity);
    expect_error_here([&] { return f(Array()); }, {"jit", "empty"});
    expect_error_here([&] { return st::jit([](Array) { return Array(); })(x); }, {"jit", "empty"});
    expect_error_here([&] { return st::jit([](Array a) { return std::pair{a, Array()}; })(x); }, {"jit", "empty"});
    expect_error_here([&] { return st::jit(identity, {.device = "cuda:3"}); }, {"jit", "cuda:3"});
    expect_error_here([&] { return st::jit(identity, {.device = "moon"}); }, {"device", "moon"});
    expect_error_here([&] { return st::jit(identity, {.donate = {-1}}); }, {"jit", "donate"});
    expect_error_here([&] { return st::jit(identity, {.threads = -1}); }, {"jit", "threads"});
    Array escaped;
    st::jit([&](Array a) { return escaped = a + 1.0; })(x);
    expect_error_here([&] { return f(escaped); }, {"jit", "ended"});
    expect_error_here([&] { return st::grad(total)(escaped); }, {"grad", "ended"});
    expect_error_here([&] { return st::vmap(identity)(escaped); }, {"vmap", "ended"});
    expect_array<double>(f(x), {3}, {1, 1, 1});
}

TEST(TraceErrors, StagedValuesHaveNoNumber) {
    const Array x(1.0);
    expect_error_here([&] { return st::jit([](Array a) { return a.item<double>() > 0 ? a : -a; })(x); }, {"item", "traced (jit)", "where", "cond"});
    expect_error_here([&] { return st::jit([](Array a) { return a ? a : -a; })(x); }, {"bool", "traced (jit)"});
    expect_error_here([&] { return st::jit([](Array a) { return a > 0.0 ? a : -a; })(x); }, {"bool", "traced (jit)"});
    expect_error_here([&] { return st::jit([](Array a) { return a * static_cast<double>(a); })(x); }, {"conversion", "traced (jit)"});
    expect_error_here([&] { return st::vmap([](Array a) { return a ? a : -a; })(st::ones({2})); }, {"bool", "traced (vmap)"});
    expect_error_here([&] { return st::fori_loop(0, 3, [](Array i, Array a) { return i ? a : -a; }, x); }, {"bool", "traced (fori_loop)"});
    expect_error_here([&] { return st::while_loop([](Array a) { return a < 3.0; }, [](Array a) { return a ? a : -a; }, x); }, {"bool", "while_loop"});
    expect_error_here([&] { return st::scan([](Array a, Array b) { return b ? a : -a; }, x, st::ones({2})); }, {"bool", "traced (scan)"});
}

TEST(TraceErrors, Loops) {
    const Array x(1.0), none;
    expect_error_here([&] { return st::fori_loop(0, 3, [](Array, Array) { return Array(); }, x); }, {"fori_loop", "array 0 of what the body returns is empty"});
    expect_error_here([&] { return st::fori_loop(0, 3, [](Array, Array a) { return a; }, none); }, {"fori_loop", "array 0 of the carry is empty"});
    expect_error_here([&] { return st::grad([](std::vector<Array> v) { return v[0]; })(std::vector<Array>{x, none}); }, {"grad", "array 1 of the differentiated arguments is empty"});
    expect_error_here([&] { return st::vmap([](Array a, Array b) { return a * b; })(st::ones({2}), none); }, {"vmap", "array 1 of the arguments is empty"});
    expect_error_here([&] { return st::jit([](Array a) { return std::pair{a, Array()}; })(x); }, {"jit", "array 1 of the result is empty"});
    expect_error_here([&] { return st::scan([](Array c, std::pair<Array, Array> v) { return c + v.first; }, x, std::pair{st::ones({2}), none}); }, {"scan", "array 1 of xs is empty"});
    expect_error_here([&] { return st::fori_loop(x, 3, [](Array, Array a) { return a; }, x); }, {"fori_loop", "f64"});
    expect_error_here([&] { return st::fori_loop(0, 3, [](Array, Array a) { return a.astype(st::f32); }, x); }, {"fori_loop", "f32"});
    expect_error_here([&] { return st::while_loop([](Array a) { return a; }, identity, x); }, {"while_loop", "bool"});
    expect_error_here([&] { return st::while_loop([](Array) { return Array(); }, identity, x); }, {"while_loop", "empty"});
    expect_error_here([&] { return st::scan([](Array a, Array) { return a; }, x, x); }, {"scan", "leading axis"});
    expect_error_here([&] { return st::scan([](Array a, Array) { return a; }, x, none); }, {"scan", "empty"});
    expect_error_here([&] { return st::scan([](Array a, std::vector<Array>) { return a; }, x, std::vector<Array>{}); }, {"scan", "length"});
    const auto stacks = [](Array a, std::vector<Array>) { return std::pair{a, a}; };
    const st::ScanOptions huge{.length = std::int64_t{1} << 62};
    expect_error_here([&] { return st::scan(stacks, x, std::vector<Array>{}, huge); }, {"large"});
    expect_error_here([&] { return st::cond(x, [] { return Array(1.0); }, [] { return Array(2.0); }); }, {"cond", "f64[]", "bool"});
    expect_error_here([&] { return st::switch_(1.5, std::tuple{[] { return Array(1.0); }}); }, {"switch_", "floating"});
    const auto narrow = [](Array a) { return a.astype(st::f32); };
    expect_error_here([&] { return st::jit([&](Array p) { return st::cond(p > 0.0, identity, narrow, p); })(x); }, {"cond", "f32", "f64"});
}

// clang-format on

TEST(TraceErrors, LinesThroughTheStandardLibrary) {
    // std::function and std::apply call from their own headers: then the line is that of jit().
    const std::function<Array(Array)> held = st::grad(total);
    const int made = __LINE__ - 1;
    const std::string text = message([&] { held(st::arange(3)); });
    EXPECT_NE(text.find("(errors_test.cpp:" + std::to_string(made) + ")"), std::string::npos) << text;
}

TEST(Switch, ClampsAlikeEverywhere) {
    const auto branches = std::tuple{[] { return Array(0.0); }, [] { return Array(1.0); }, [] { return Array(2.0); }};
    const auto choose = [&](const Array& i) { return st::switch_(i, branches); };
    const auto jitted = st::jit(choose);
    const auto check = [&](auto index, double expected) {
        EXPECT_EQ(choose(Array(index)).item<double>(), expected) << +index;
        EXPECT_EQ(jitted(Array(index)).template item<double>(), expected) << +index;
        EXPECT_EQ(st::switch_(index, branches).template item<double>(), expected) << +index;
    };
    check(std::int32_t{-1}, 0);
    check(std::int32_t{1}, 1);
    check(std::int32_t{3}, 2);
    check(std::int8_t{-128}, 0);
    check(std::int8_t{127}, 2);
    check(std::uint8_t{255}, 2);
    check(std::int64_t{1} << 32, 2);
    check((std::int64_t{1} << 32) + 1, 2);
    check(-(std::int64_t{1} << 32) + 1, 0);
    check(std::numeric_limits<std::int64_t>::max(), 2);
    check(std::numeric_limits<std::int64_t>::min(), 0);
    check(std::uint64_t{1} << 32, 2);
    check(std::uint64_t{1} << 63, 2);
    check(~std::uint64_t{0}, 2);
    check(std::uint64_t{1}, 1);
}

TEST(Switch, MoreBranchesThanANarrowIndexCounts) {
    const auto branches = []<std::size_t... K>(std::index_sequence<K...>) {
        return std::tuple{(static_cast<void>(K), [] { return Array(static_cast<double>(K)); })...};
    }(std::make_index_sequence<130>{});
    const auto jitted = st::jit([&](Array i) { return st::switch_(i, branches); });
    EXPECT_EQ(jitted(Array(std::int8_t{127})).item<double>(), 127);
    EXPECT_EQ(jitted(Array(std::uint8_t{129})).item<double>(), 129);
    EXPECT_EQ(jitted(Array(std::int8_t{-3})).item<double>(), 0);
}

} // namespace
