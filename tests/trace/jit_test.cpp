// jit: signatures, statics, captures, donation, explain, errors, threads.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <array>
#include <map>
#include <optional>
#include <thread>

namespace st = stithy;
using st::Array;
using st::test::expect_parts;
using st::test::message;

namespace {

double value(const Array& x) { return x.item<double>(); }
std::uint64_t traces() { return st::stats().traces; }

enum class Mode { plus, minus };
struct Settings {
    Mode mode = Mode::plus;
    int repeats = 1;
    std::string name;
    Array offset;
};

TEST(Jit, TracesOncePerSignature) {
    auto f = st::jit([](Array x) { return x + 1.0; });
    const auto before = traces();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(f(st::ones({2})).to_vector<double>(), (std::vector<double>{2, 2}));
    EXPECT_EQ(traces() - before, 1u);
    f(st::ones({3}));
    EXPECT_EQ(traces() - before, 2u);
    f(st::ones({2}).astype(st::f32));
    EXPECT_EQ(traces() - before, 3u);
    f(st::zeros({2}));
    EXPECT_EQ(traces() - before, 3u);
    auto copy = f;
    copy(st::ones({2}));
    EXPECT_EQ(traces() - before, 3u); // copies share
}

TEST(Jit, NumbersAreTracedWhereArraysAreTaken) {
    auto f = st::jit([](Array x, Array step) { return x * step; });
    const auto before = traces();
    EXPECT_EQ(value(f(Array(2.0), 0.5)), 1);
    EXPECT_EQ(value(f(Array(2.0), 0.25)), 0.5);
    EXPECT_EQ(traces() - before, 1u);
    auto g = st::jit([](Array x, double step) { return x * step; });
    EXPECT_EQ(value(g(Array(2.0), 0.5)), 1);
    EXPECT_EQ(value(g(Array(2.0), 0.25)), 0.5);
    EXPECT_EQ(traces() - before, 3u);
}

/// Numbers beside static ones, in every place and number.
TEST(Jit, NumbersBesideStaticOnes) {
    EXPECT_EQ(value(st::jit([](Array x, Array y, int n) { return x * y + n; })(2.0, 4.0, 3)), 11);
    EXPECT_EQ(value(st::jit([](int n, Array x, Array y) { return x * y + n; })(3, 2.0, 4.0)), 11);
    EXPECT_EQ(value(st::jit([](Array x, bool up, Array y, double n) { return up ? x * y + n : y; })(2.0, true, 4.0, 3.0)), 11);
    EXPECT_EQ(value(st::jit([](Settings s, Array x, Array y, int n) { return s.offset * x * y + n; })(
                  Settings{Mode::plus, 1, "", Array(1.0)}, 2.0, 4.0, 3)),
              11);
    EXPECT_EQ(
        value(st::jit([](Array x, std::pair<Array, Array> p, int n) { return x * p.first + p.second + n; })(2.0, std::pair{4.0, 1.0}, 2)),
        11);
    EXPECT_EQ(value(st::jit([](auto x, auto y, int n) { return st::square(x) * y + n; })(2.0, 2.0, 3)), 11);
    EXPECT_EQ(value(st::grad([](Array x, Array y, int n) { return x * y * n; })(2.0, 4.0, 3)), 12);
    auto f = st::jit([](Array x, Array y, int n) { return x * y + n; });
    const auto before = traces();
    f(1.0, 2.0, 3);
    f(3.0, 4.0, 3);
    EXPECT_EQ(traces() - before, 1u);
    f(3.0, 4.0, 5);
    EXPECT_EQ(traces() - before, 2u);
}

TEST(Jit, ContainersOfNumbersAreTraced) {
    const auto check = [] {
        EXPECT_EQ(value(st::jit([](std::vector<Array> v) { return v[0] + v[2]; })(std::vector<double>{1.0, 2.0, 3.0})), 4);
        EXPECT_EQ(value(st::jit([](std::array<Array, 2> v) { return v[1]; })(std::array<double, 2>{1.0, 5.0})), 5);
        EXPECT_EQ(value(st::jit([](std::map<std::string, Array> m) { return m.at("a"); })(std::map<std::string, double>{{"a", 4.0}})), 4);
        EXPECT_EQ(value(st::jit([](std::optional<Array> x) { return *x; })(std::optional<double>(2.0))), 2);
        EXPECT_EQ(value(st::jit([](std::pair<Array, Array> p) { return p.first - p.second; })(std::pair{3.0, 1.0})), 2);
    };
    check();
    const st::disable_jit off;
    check();
}

TEST(Jit, StaticsArePartOfTheSignature) {
    auto f = st::jit([](Array x, const Settings& s) {
        for (int k = 0; k < s.repeats; ++k) x = s.mode == Mode::plus ? x + s.offset : x - s.offset;
        return x;
    });
    EXPECT_EQ(value(f(Array(1.0), Settings{Mode::plus, 2, "a", Array(3.0)})), 7);
    EXPECT_EQ(value(f(Array(1.0), Settings{Mode::minus, 2, "a", Array(3.0)})), -5);
    EXPECT_EQ(value(f(Array(1.0), Settings{Mode::minus, 3, "a", Array(1.0)})), -2);
    expect_parts(f.explain(), {"traced 3 times", "static value"});
}

TEST(Jit, Explains) {
    auto f = st::jit([](Array x, Array y) { return x + y; });
    expect_parts(f.explain(), {"not traced"});
    f(st::ones({2}), Array(1.0));
    expect_parts(f.explain(), {"once"});
    f(st::ones({3}), Array(1.0));
    expect_parts(f.explain(), {"array 0", "f64[3]", "f64[2]"});
    auto g = st::jit([](Array x, int n) { return x * n; });
    g(st::ones({3}), 1);
    g(st::ones({4}), 1);
    g(st::ones({3}), 1); // known
    g(st::ones({3}), 2);
    EXPECT_EQ(g.explain(), "traced 3 times; last since a static value (number, enum, string, size of a container) changed");
    g(st::ones({5}), 1);
    expect_parts(g.explain(), {"4 times", "array 0", "f64[5] instead of f64[3]", "static value"});
}

TEST(Jit, RefusesWhatIsNotThere) {
    expect_parts(message([] { st::jit([](Array x) { return x; }, {.donate = {3}})(Array(1.0)); }),
                 {"donate: argument 3 of a function of 1", "jit_test.cpp"});
    expect_parts(message([] { st::jit([](Array x, Settings s) { return x + s.offset; })(Array(1.0), Settings{}); }),
                 {"jit: array 1 of the arguments is empty", "jit_test.cpp"});
}

TEST(Jit, TreesInAndOut) {
    using Tree = std::map<std::string, std::vector<Array>>;
    auto f = st::jit([](const Tree& t, std::optional<Array> extra) {
        Tree out;
        for (const auto& [k, v] : t)
            for (const Array& x : v) out[k + "!"].push_back(extra ? x + *extra : x * 2.0);
        return std::tuple{out, 7, std::string("text"), extra};
    });
    auto [a, n, s, e] = f(Tree{{"p", {Array(1.0), Array(2.0)}}, {"q", {}}}, std::optional<Array>(Array(10.0)));
    EXPECT_EQ(value(a.at("p!")[1]), 12);
    EXPECT_EQ(n, 7);
    EXPECT_EQ(s, "text");
    EXPECT_EQ(value(*e), 10);
    auto [b, m, u, none] = f(Tree{{"p", {Array(1.0)}}}, std::optional<Array>());
    EXPECT_EQ(value(b.at("p!")[0]), 2);
    EXPECT_FALSE(none.has_value());
}

TEST(Jit, ContainersOfOneLayoutButAnotherTypeAreOtherSignatures) {
    auto f = st::jit([](auto x) {
        if constexpr (requires { x.push_back(x[0]); }) x.push_back(x[0] * 5.0);
        return x;
    });
    EXPECT_EQ(f(std::vector{Array(1.0), Array(2.0)}).size(), 3u);
    EXPECT_EQ(f(std::array{Array(1.0), Array(2.0)}).size(), 2u);
    EXPECT_EQ(value(f(std::vector{Array(1.0), Array(2.0)})[2]), 5);
}

TEST(Jit, CapturesAreReadWhenTraced) {
    Array w = st::array({1.0, 2.0});
    auto f = st::jit([&](Array x) { return x * w; });
    EXPECT_EQ(f(st::ones({2})).to_vector<double>(), (std::vector<double>{1, 2}));
    w = st::array({5.0, 5.0});
    EXPECT_EQ(f(st::ones({2})).to_vector<double>(), (std::vector<double>{1, 2}));
    // a captured value of a trace serves that trace only
    const auto g = [&](Array a) { return st::jit([&](Array x) { return st::sum(x * a); })(st::ones({2})); };
    EXPECT_EQ(value(st::grad(g)(Array(3.0))), 2);
    auto keep = st::jit([&](Array x) { return x * 2.0; });
    EXPECT_EQ(value(st::grad([&](Array a) { return keep(a); })(Array(3.0))), 2);
}

TEST(Jit, InsideJitIsACall) {
    auto inner = st::jit([](Array x) { return st::sin(x) * 2.0; });
    auto outer = st::jit([&](Array x) { return inner(x) + inner(x * 2.0) + inner(st::ones({2}) * x(0)); });
    const Array x = st::array({0.1, 0.2});
    const std::vector<double> got = outer(x).to_vector<double>();
    for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(got[static_cast<std::size_t>(i)], 2 * (std::sin(0.1 * (i + 1)) + std::sin(0.2 * (i + 1)) + std::sin(0.1)), 1e-12);
}

TEST(Jit, ResultsThatAreArgumentsConstantsOrTwice) {
    auto f = st::jit([](Array x) {
        const Array y = x * 2.0;
        return std::tuple{x, y, y, st::zeros({3}), Array(4.0)};
    });
    auto [a, b, c, z, k] = f(st::array({1.0, 2.0}));
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{1, 2}));
    EXPECT_EQ(b.to_vector<double>(), c.to_vector<double>());
    EXPECT_EQ(z.to_vector<double>(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(value(k), 4);
}

TEST(Jit, DonationNeverChangesWhatSomebodyHolds) {
    auto f = st::jit([](Array x) { return x + 1.0; }, {.donate = {0}});
    Array kept = st::ones({10000}) * 1.0, alias = kept;
    const Array y = f(std::move(kept));
    EXPECT_EQ(alias.to_vector<double>()[17], 1);
    EXPECT_EQ(y.to_vector<double>()[17], 2);
    Array alone = st::ones({10000}) * 3.0;
    EXPECT_EQ(f(std::move(alone)).to_vector<double>()[9999], 4);
    Array twice = st::ones({10000}) * 1.0;
    auto g = st::jit([](Array x, Array z) { return x + z * 2.0; }, {.donate = {0, 1}});
    EXPECT_EQ(g(twice, twice).to_vector<double>()[5], 3);
    EXPECT_EQ(twice.to_vector<double>()[5], 1);
}

TEST(Jit, Mistakes) {
    auto peeks = st::jit([](Array x) { return st::sum(x) > 0.0 ? x : -x; });
    expect_parts(message([&] { return peeks(st::ones({2})); }), {"traced", "where", "cond", "jit_test.cpp"});
    auto wrong = st::jit([](Array x) { return st::matmul(st::exp(x), st::ones({5, 5})); });
    expect_parts(message([&] { return wrong(st::ones({2, 3})); }), {"matmul", "2,3", "5,5", "jit_test.cpp"});
    EXPECT_EQ(wrong(st::zeros({2, 5})).shape(), st::Shape({2, 5})); // and goes on
    Array escaped;
    auto leak = st::jit([&](Array x) { return escaped = x * 2.0; });
    leak(st::ones({2}));
    expect_parts(message([&] { return escaped + 1.0; }), {"trace that has ended", "jit", "jit_test.cpp"});
    expect_parts(message([&] { return st::jit([](Array x) { return x.item<double>(); })(Array(1.0)); }), {"item", "traced"});
    expect_parts(message([&] { return st::jit([](Array x) { return x; })(Array()); }), {"jit"});
    std::string other;
    st::jit([&](Array x) {
        std::thread([&] { other = message([&] { return x + 1.0; }); }).join();
        return x;
    })(Array(1.0));
    expect_parts(other, {"another thread"});
    EXPECT_THROW(st::jit([](Array x) -> Array {
                     if (x.ndim() == 0) throw std::runtime_error("mine");
                     return x;
                 })(Array(1.0)),
                 std::runtime_error);
    EXPECT_EQ(value(Array(1.0) + 1.0), 2);
}

TEST(Jit, SeveralThreadsCallOneFunction) {
    auto f = st::jit([](Array x) { return st::sum(x * x); });
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int k = 1; k < 30; ++k) {
                const int n = 1 + (k + t) % 5;
                if (f(st::ones({n})).item<double>() != n) ++wrong;
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
}

TEST(Jit, DisableJitRunsOperationByOperation) {
    auto f = st::jit([](Array x) { return bool(x > 0.0) ? x : -x; });
    st::disable_jit scope;
    EXPECT_EQ(value(f(Array(-2.0))), 2);
    EXPECT_TRUE(st::disable_jit::active());
}

TEST(TreeMap, MapsLeaves) {
    const Settings s{Mode::plus, 2, "a", Array(3.0)};
    const Settings twice = st::tree_map([](const Array& x, const Array& y) { return x * y; }, s, s);
    EXPECT_EQ(value(twice.offset), 9);
    EXPECT_EQ(twice.repeats, 2);
    EXPECT_THROW(
        static_cast<void>(st::tree_map([](const Array& x, const Array&) { return x; }, std::vector{Array(1.0)}, std::vector<Array>{})),
        st::Error);
}

TEST(Vmap, AxesAndNesting) {
    const Array x = st::reshape(st::arange(6).astype(st::f64), {2, 3});
    const auto sums = st::vmap([](Array r) { return st::sum(r); });
    EXPECT_EQ(sums(x).to_vector<double>(), (std::vector<double>{3, 12}));
    EXPECT_EQ(st::vmap([](Array c) { return st::sum(c); }, {.in_axes = {-1}})(x).to_vector<double>(), (std::vector<double>{3, 5, 7}));
    EXPECT_EQ(st::vmap([](Array r) { return r * 2.0; }, {.out_axis = 1})(x).shape(), st::Shape({3, 2}));
    auto [a, b] =
        st::vmap([](Array r, Array w) { return std::pair{r * w, st::ones({4})}; }, {.in_axes = {0, st::unmapped}})(x, st::ones({3}));
    EXPECT_EQ(a.shape(), st::Shape({2, 3}));
    EXPECT_EQ(b.shape(), st::Shape({2, 4})); // results that do not depend are repeated
    const Array captured = st::array({1.0, 2.0, 3.0});
    EXPECT_EQ(st::vmap([&](Array r) { return st::sum(r * captured); })(x).to_vector<double>(), (std::vector<double>{8, 26}));
    EXPECT_EQ(value(st::sum(st::vmap([&](Array p) { return st::vmap([&](Array q) { return st::sum(p * q); })(x); })(x))),
              value(st::sum(st::matmul(x, x.T()))));
    // within a gradient, values of the outer trace are captured
    const auto f = [&](Array w) { return st::sum(st::vmap([&](Array r) { return st::sum(r * w); })(x)); };
    EXPECT_EQ(st::grad(f)(st::ones({3})).to_vector<double>(), (std::vector<double>{3, 5, 7}));
    EXPECT_EQ(st::jit(st::grad(f))(st::ones({3})).to_vector<double>(), (std::vector<double>{3, 5, 7}));
    expect_parts(message([&] { return st::vmap([](Array p, Array q) { return p + q; })(x, st::ones({3})); }), {"vmap", "2", "3"});
    expect_parts(message([&] { return st::vmap([](Array p) { return p; })(Array(1.0)); }), {"vmap", "axis 0", "f64[]"});
    expect_parts(message([&] { return st::vmap([](Array p) { return p; }, {.in_axes = {0, 0}})(x); }), {"in_axes", "2"});
}

} // namespace
