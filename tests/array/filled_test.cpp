// Large arrays of a pattern are written in the queue; integers are exact.
#include "array/check.hpp"

#include <cstdint>
#include <limits>

namespace st = stithy;
using st::Array;

TEST(Filled, LargeOnesHaveTheirValues) {
    const int n = 300'000; // above the size that is written at once
    const auto last = [](const Array& x) { return x(-1).item<double>(); };
    EXPECT_EQ(last(st::arange(static_cast<double>(n))), n - 1);
    EXPECT_EQ(last(st::arange(n).astype(st::f64)), n - 1);
    EXPECT_EQ(last(st::linspace(0.0, 0.3, n)), 0.3);
    EXPECT_EQ(st::sum(st::eye(700)).item<double>(), 700);
    EXPECT_EQ(st::eye(700)(699, 699).item<double>(), 1);
    EXPECT_EQ(st::eye(3, 300'000)(2, 2).item<double>(), 1);
    const auto twice = st::jit([](Array a, Array b) { return st::sum(a) + st::sum(b); });
    EXPECT_EQ(twice(st::ones({n}), st::full({2, n}, 3.0)).item<double>(), 7.0 * n);
    EXPECT_EQ(st::full({n}, 7, st::i16).to_vector<std::int16_t>(), std::vector<std::int16_t>(n, 7));
    Array x = st::zeros({n});
    x = std::move(x).at(5).set(2.0);
    EXPECT_EQ(st::sum(x).item<double>(), 2);
}

TEST(Filled, IntegerRangesAreExact) {
    const std::int64_t big = 9007199254740993; // 2^53 + 1
    EXPECT_EQ(st::arange(big, big + 4).to_vector<std::int64_t>(), (std::vector<std::int64_t>{big, big + 1, big + 2, big + 3}));
    EXPECT_EQ(st::jit([=](Array) { return st::arange(big, big + 4); })(Array(0)).to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{big, big + 1, big + 2, big + 3}));
    const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(st::arange(top - 3, top, std::uint64_t{2}).to_vector<std::uint64_t>(), (std::vector<std::uint64_t>{top - 3, top - 1}));
    const std::int64_t low = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(st::arange(low + 5, low, std::int64_t{-2}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{low + 5, low + 3, low + 1}));
    EXPECT_EQ(st::arange(low, std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 62).size(), 4);
    EXPECT_EQ(st::arange(5, 5).size(), 0);
    EXPECT_EQ(st::arange(5, 1).size(), 0);
    EXPECT_EQ(st::arange(3, 0, -1).to_vector<int>(), (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(st::arange(-2).size(), 0);
    EXPECT_THROW(static_cast<void>(st::arange(1, 5, 0)), st::Error);
    EXPECT_THROW(static_cast<void>(st::arange(low, std::numeric_limits<std::int64_t>::max())), st::Error);
}
