#include "array/check.hpp"

#include <array>
#include <map>
#include <type_traits>

namespace st = stithy;
using st::Array;
using st::test::expect_array;
using st::test::expect_parts;
using st::test::message;

TEST(Array, ScalarsTakeTheirOwnType) {
    EXPECT_EQ(Array(2.0).dtype(), st::f64);
    EXPECT_EQ(Array(2.0f).dtype(), st::f32);
    EXPECT_EQ(Array(2).dtype(), st::i32);
    EXPECT_EQ(Array(2L).dtype(), st::i64);
    EXPECT_EQ(Array(true).dtype(), st::boolean);
    EXPECT_EQ(Array(2.0).ndim(), 0);
    EXPECT_EQ(Array(2.0).size(), 1);
    EXPECT_EQ(Array(-7).item<int>(), -7);
    EXPECT_EQ(Array(2.0).device(), st::Device("cpu"));
}

TEST(Array, HandlesShareAndMove) {
    Array a = st::array({1.0, 2.0});
    Array b = a;
    Array c = std::move(a);
    EXPECT_FALSE(a.defined()); // NOLINT: moved from on purpose
    expect_array<double>(b, {2}, {1, 2});
    expect_array<double>(c, {2}, {1, 2});
    a = b;
    EXPECT_TRUE(a.defined());
    EXPECT_EQ(sizeof(Array), sizeof(void*));
    expect_parts(message([] { return Array().dtype(); }), {"empty"});
}

TEST(Array, OnlyLvaluesAreAssigned) {
    static_assert(std::is_assignable_v<Array&, Array>);
    static_assert(!std::is_assignable_v<Array, Array>);
    static_assert(!std::is_assignable_v<Array, double>);
    static_assert(!std::is_convertible_v<double, Array>);
    static_assert(!std::is_convertible_v<Array, bool>);
    static_assert(!std::is_convertible_v<Array, double>);
    static_assert(!std::is_constructible_v<st::Index, bool>);
    static_assert(!std::is_constructible_v<st::Index, double>);
    static_assert(!std::is_constructible_v<st::Axes, double>);
    static_assert(std::is_nothrow_move_constructible_v<Array>);
}

TEST(Array, ItemConvertsWhereNothingIsLost) {
    EXPECT_EQ(Array(3.0).item<int>(), 3);
    EXPECT_EQ(Array(3).item<double>(), 3.0);
    EXPECT_EQ(Array(0.5).item<float>(), 0.5f);
    EXPECT_EQ(Array(200).item<unsigned char>(), 200);
    EXPECT_EQ(Array(1).item<bool>(), true);
    EXPECT_EQ(static_cast<double>(Array(2.5)), 2.5);
    EXPECT_EQ(st::item<double>(Array(2.5)), 2.5);
    EXPECT_EQ(st::item<double>(2), 2.0);
    expect_parts(message([] { return Array(2.5).item<int>(); }), {"item", "2.5", "i32", "array_test.cpp:"});
    expect_parts(message([] { return Array(300).item<signed char>(); }), {"300", "i8"});
    expect_parts(message([] { return Array(-1).item<unsigned>(); }), {"-1", "u32"});
    expect_parts(message([] { return Array(0.1).item<float>(); }), {"0.1", "f32"});
    expect_parts(message([] { return st::ones({2, 3}).item<double>(); }), {"item", "f64[2,3]", "one element", "array_test.cpp:"});
    EXPECT_EQ(st::full({1, 1}, 4).item<long>(), 4);
}

TEST(Array, TruthOfOneElement) {
    EXPECT_TRUE(static_cast<bool>(Array(0.5)));
    EXPECT_FALSE(static_cast<bool>(Array(0)));
    if (Array(1.0) < 0) FAIL();
    expect_parts(message([] { return static_cast<bool>(st::ones({2})); }), {"bool", "f64[2]"});
}

TEST(Array, ElementsNeedTheExactType) {
    const Array a = st::array({1.0, 2.0});
    expect_parts(message([&] { return a.to_vector<float>(); }), {"to_vector", "f64", "f32", "array_test.cpp:"});
    EXPECT_EQ(a.span<double>()[1], 2.0);
    EXPECT_EQ(st::array({true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
}

TEST(Array, Conversions) {
    expect_array<int>(st::array({1.7, -1.7}).astype(st::i32), {2}, {1, -1});
    expect_array<float>(st::array({1, 2}).astype(st::f32), {2}, {1, 2});
    expect_array<double>(st::zeros({2}, st::i32).astype(st::f64), {2}, {0, 0});
    const Array a = st::array({1.0});
    EXPECT_EQ(a.astype(st::f64).handle(), a.handle());
    EXPECT_EQ(a.to("cpu").handle(), a.handle());
    expect_parts(message([&] { return a.to("cuda:7"); }), {"cuda:7", "cpu", "array_test.cpp:"});
    expect_parts(message([&] { return a.to("gpu"); }), {"gpu", "array_test.cpp:"});
}

TEST(Array, Waiting) {
    Array a = st::ones({3}) + 1;
    EXPECT_EQ(a.wait().handle(), a.handle());
    expect_array<double>((a + 1).wait(), {3}, {3, 3, 3});
    EXPECT_TRUE(a.ready());
}

TEST(Array, ShapeOfAnAxis) {
    const Array a = st::zeros({2, 3});
    EXPECT_EQ(a.shape(-1), 3);
    EXPECT_EQ(a.shape(0), 2);
    expect_parts(message([&] { return a.shape(2); }), {"axis 2", "rank 2", "array_test.cpp:"});
}

TEST(Creation, Lists) {
    expect_array<double>(st::array({1.0, 2.0}), {2}, {1, 2});
    expect_array<float>(st::array({{1.f, 2.f}, {3.f, 4.f}}), {2, 2}, {1, 2, 3, 4});
    expect_array<int>(st::array({{{1, 2}}, {{3, 4}}}), {2, 1, 2}, {1, 2, 3, 4});
    expect_array<int>(st::array({{{{1}}}}), {1, 1, 1, 1}, {1});
    expect_parts(message([] { return st::array({{1, 2}, {3}}); }), {"array", "lengths", "array_test.cpp:"});
    const std::vector<double> v{1, 2, 3, 4};
    expect_array<double>(st::array(v), {4}, v);
    expect_array<double>(st::array(v, {2, 2}), {2, 2}, v);
    expect_array<float>(st::array(std::array{1.f, 2.f}), {2}, {1, 2});
    expect_array<double>(st::array(std::span<const double>(v), {4, 1}), {4, 1}, v);
    expect_array<bool>(st::array(std::vector<bool>{true, false}), {2}, {true, false});
    expect_parts(message([&] { return st::array(v, {3}); }), {"4", "[3]", "array_test.cpp:"});
}

TEST(Creation, Filled) {
    expect_array<double>(st::zeros({2}), {2}, {0, 0});
    expect_array<double>(st::zeros({}), {}, {0});
    expect_array<double>(st::zeros({0}), {0}, {});
    expect_array<float>(st::ones({2}, st::f32), {2}, {1, 1});
    expect_array<int>(st::full({2}, 7), {2}, {7, 7});
    expect_array<float>(st::full({2}, 7, st::f32), {2}, {7, 7});
    expect_array<double>(st::full({2, 2}, st::array({1.0, 2.0})), {2, 2}, {1, 2, 1, 2});
    expect_array<int>(st::ones_like(st::array({5, 6})), {2}, {1, 1});
    expect_array<int>(st::full_like(st::array({5, 6}), 3), {2}, {3, 3});
    expect_parts(message([] { return st::zeros({2, -1}); }), {"zeros", "[2,-1]", "array_test.cpp:"});
}

TEST(Creation, Sequences) {
    expect_array<int>(st::arange(3), {3}, {0, 1, 2});
    expect_array<int>(st::arange(2, 9, 3), {3}, {2, 5, 8});
    expect_array<int>(st::arange(3, 0, -1), {3}, {3, 2, 1});
    expect_array<std::int64_t>(st::arange(2L), {2}, {0, 1});
    expect_array<double>(st::arange(0.0, 1.0, 0.25), {4}, {0, 0.25, 0.5, 0.75});
    const auto v = st::linspace(0.0, 0.3, 4).to_vector<double>();
    EXPECT_EQ(v.front(), 0.0);
    EXPECT_EQ(v.back(), 0.3);
    EXPECT_NEAR(v[1], 0.1, 1e-15);
    expect_array<double>(st::linspace(5.0, 6.0, 1), {1}, {5});
    expect_array<double>(st::eye(2, 3), {2, 3}, {1, 0, 0, 0, 1, 0});
    expect_array<double>(st::tril(st::ones({2, 2})), {2, 2}, {1, 0, 1, 1});
    expect_array<double>(st::triu(st::ones({2, 2}), 1), {2, 2}, {0, 1, 0, 0});
    expect_array<double>(st::diag(st::array({1.0, 2.0})), {2, 2}, {1, 0, 0, 2});
    expect_array<double>(st::diag(st::array({{1.0, 2.0}, {3.0, 4.0}})), {2}, {1, 4});
}
