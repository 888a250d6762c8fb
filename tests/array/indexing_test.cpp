#include "array/check.hpp"

namespace st = stithy;
using st::Array;
using st::end;
using st::range;
using st::test::expect_array;
using st::test::expect_parts;
using st::test::message;

namespace {
Array grid() { return st::reshape(st::arange(12), {3, 4}); }
} // namespace

TEST(Indexing, IntegersAndRanges) {
    const Array m = grid();
    expect_array<int>(m(1), {4}, {4, 5, 6, 7});
    expect_array<int>(m(-1, range(1, 3)), {2}, {9, 10});
    expect_array<int>(m(st::all, 0), {3}, {0, 4, 8});
    expect_array<int>(m(range(1, end), range(0, end - 2)), {2, 2}, {4, 5, 8, 9});
    expect_array<int>(m(range(0, -1), -1), {2}, {3, 7});
    expect_array<int>(m(end - 1, end - 1), {}, {11});
    expect_array<int>(m(0, range(0, 4, 2)), {2}, {0, 2});
    expect_array<int>(m(range(0, end, 2), range(1, end, 2)), {2, 2}, {1, 3, 9, 11});
    expect_array<int>(m(range(2, 1)), {0, 4}, {});
    expect_array<int>(m(range(-100, 100), 0), {3}, {0, 4, 8});
}

TEST(Indexing, NewAxesAndEllipsis) {
    const Array m = grid();
    EXPECT_EQ(m(st::all, st::newaxis, range(0, 4, 2)).shape().str(), "[3,1,2]");
    EXPECT_EQ(m(st::newaxis).shape().str(), "[1,3,4]");
    EXPECT_EQ(m(st::ellipsis, st::newaxis).shape().str(), "[3,4,1]");
    expect_array<int>(m(st::ellipsis, 1), {3}, {1, 5, 9});
    expect_array<int>(m(1, st::ellipsis, 1), {}, {5});
}

TEST(Indexing, Errors) {
    const Array b = st::ones({4});
    expect_parts(message([&] { return b(7); }), {"index 7", "axis 0", "4", "indexing_test.cpp:"});
    expect_parts(message([&] { return b(-5); }), {"index -5"});
    expect_parts(message([&] { return b(end); }), {"index end"});
    expect_parts(message([&] { return b(0, 0); }), {"2 indices", "f64[4]"});
    expect_parts(message([&] { return b(b > 0); }), {"mask", "where", "indexing_test.cpp:"});
    expect_parts(message([&] { return b(b); }), {"integers", "f64[4]"});
    expect_parts(message([&] { return b(range(0, 4, -1)); }), {"step -1", "flip"});
    expect_parts(message([&] { return grid()(st::array({0, 1}), st::array({0, 1, 2})); }), {"broadcast"});
}

TEST(Indexing, Arrays) {
    const Array m = grid();
    expect_array<int>(m(st::array({2, 0})), {2, 4}, {8, 9, 10, 11, 0, 1, 2, 3});
    expect_array<int>(m(st::array({-1, 99, -99})), {3, 4}, {8, 9, 10, 11, 8, 9, 10, 11, 0, 1, 2, 3});
    expect_array<int>(m(st::array({0, 1, 2}), st::array({0, 1, 2})), {3}, {0, 5, 10});
    expect_array<int>(m(st::all, st::array({3, 1})), {3, 2}, {3, 1, 7, 5, 11, 9});
    expect_array<int>(m(st::array({{0}, {2}}), st::array({1, 3})), {2, 2}, {1, 3, 9, 11});
    expect_array<int>(m(st::array({0, 1}), 2), {2}, {2, 6});
    expect_array<int>(m(range(1, end), st::array({0, 3})), {2, 2}, {4, 7, 8, 11});
    expect_array<int>(m(range(0, end, 2), st::array({0, 3})), {2, 2}, {0, 3, 8, 11});
    const Array cube = st::reshape(st::arange(24), {2, 3, 4});
    // apart: the batch comes first
    expect_array<int>(cube(0, st::all, st::array({1, 2})), {2, 3}, {1, 5, 9, 2, 6, 10});
    // together: it stays in its place
    expect_array<int>(cube(st::all, 0, st::array({1, 2})), {2, 2}, {1, 2, 13, 14});
    expect_array<int>(cube(st::all, st::array({2}), st::newaxis, 0).shape() == st::Shape({1, 2, 1}) ? Array(1) : Array(0), {}, {1});
    expect_array<int>(st::take(m, st::array({1, 1}), 1), {3, 2}, {1, 1, 5, 5, 9, 9});
}

TEST(Indexing, ScalarArrays) {
    const Array m = grid();
    expect_array<int>(m(Array(1)), {4}, {4, 5, 6, 7});
    expect_array<int>(m(Array(-1), 1), {}, {9});
    expect_array<int>(m(st::all, Array(2)), {3}, {2, 6, 10});
    expect_array<int>(m(Array(99), range(1, 3)), {2}, {9, 10});
    expect_array<int>(m(range(0, end, 2), Array(1)), {2}, {1, 9});
    expect_array<int>(m(Array(1L), Array(1)), {}, {5});
}

TEST(Updates, Windows) {
    const Array m = grid();
    const Array n = m.at(1, range(0, 2)).set(-1);
    expect_array<int>(n(1), {4}, {-1, -1, 6, 7});
    expect_array<int>(m(1), {4}, {4, 5, 6, 7});
    expect_array<int>(m.at(st::all, 0).add(st::array({1, 2, 3}))(st::all, 0), {3}, {1, 6, 11});
    expect_array<int>(m.at(0).multiply(2)(0), {4}, {0, 2, 4, 6});
    expect_array<int>(m.at(0).min(1)(0), {4}, {0, 1, 1, 1});
    expect_array<int>(m.at(0).max(2)(0), {4}, {2, 2, 2, 3});
    expect_array<int>(m.at(0).subtract(1)(0), {4}, {-1, 0, 1, 2});
    expect_array<double>(st::ones({3}).at(0).divide(4), {3}, {0.25, 1, 1});
    expect_array<double>(st::zeros({3}).at(-1).set(100.0), {3}, {0, 0, 100});
    expect_array<int>(m.at(2, 3).get(), {}, {11});
    expect_array<int>(m.at(range(1, 1)).set(5), {3, 4}, m.to_vector<int>());
    expect_array<double>(st::zeros({2, 2}).at(st::newaxis, 0).set(st::array({{1.0, 2.0}})), {2, 2}, {1, 2, 0, 0});
}

TEST(Updates, Strides) {
    expect_array<double>(st::zeros({5}).at(range(0, end, 2)).set(1), {5}, {1, 0, 1, 0, 1});
    expect_array<double>(st::ones({5}).at(range(1, end, 2)).add(st::array({1.0, 2.0})), {5}, {1, 2, 1, 3, 1});
    expect_array<double>(st::full({4}, 3.0).at(range(1, 4, 2)).multiply(2), {4}, {3, 6, 3, 6});
}

TEST(Updates, ScalarArraysDropWhatIsOutside) {
    const Array x = st::array({1.0, 2.0, 3.0});
    expect_array<double>(x.at(Array(1)).set(9), {3}, {1, 9, 3});
    expect_array<double>(x.at(Array(-1)).add(1), {3}, {1, 2, 4});
    expect_array<double>(x.at(Array(3)).set(9), {3}, {1, 2, 3});
    expect_array<double>(x.at(Array(-4)).multiply(9), {3}, {1, 2, 3});
}

TEST(Updates, IndexArrays) {
    const Array x = st::zeros({4});
    expect_array<double>(x.at(st::array({0, 2})).set(st::array({5.0, 6.0})), {4}, {5, 0, 6, 0});
    expect_array<double>(x.at(st::array({1, 1, -1, 9})).add(1), {4}, {0, 2, 0, 1});
    const Array m = st::zeros({3, 4});
    expect_array<double>(m.at(st::array({0, 2}), range(1, 3)).add(1), {3, 4}, {0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0});
    expect_array<double>(m.at(st::all, st::array({0, 3})).set(st::array({1.0, 2.0})), {3, 4}, {1, 0, 0, 2, 1, 0, 0, 2, 1, 0, 0, 2});
    expect_array<double>(m.at(1, st::array({0, 3})).max(2), {3, 4}, {0, 0, 0, 0, 2, 0, 0, 2, 0, 0, 0, 0});
    expect_array<double>(m.at(st::array({0, 1}), st::array({1, 2})).set(7), {3, 4}, {0, 7, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0});
}

TEST(Updates, OfAMovedArray) {
    Array x = st::zeros({100000}) + 1;
    const void* memory = x.span<double>().data();
    x = std::move(x).at(5).set(2);
    EXPECT_EQ(x.span<double>().data(), memory);
    EXPECT_EQ(x(5).item<double>(), 2);
    const Array alias = x;
    x = std::move(x).at(5).set(3);
    EXPECT_EQ(alias(5).item<double>(), 2);
    EXPECT_EQ(x(5).item<double>(), 3);
    expect_parts(message([&] { return x.at(0).set(st::ones({2})); }), {"set", "[2]", "indexing_test.cpp:"});
    expect_parts(message([&] { return st::arange(3).at(0).set(2.5); }), {"2.5", "i32"});
}

TEST(Updates, ArraysOfAWiderDtypeAreRefused) {
    const Array i = st::array({1, 2, 3}), u = st::array({1, 2}).astype(st::u8), f = st::array({1.0f, 2.0f});
    stithy::test::expect_error_here([&] { return i.at(0).set(Array(2.7)); }, {"at().set", "f64", "i32", "astype"});
    stithy::test::expect_error_here([&] { return i.at(0).multiply(Array(2.5)); }, {"at().multiply", "f64", "i32"});
    stithy::test::expect_error_here([&] { return u.at(0).add(Array(300)); }, {"at().add", "i32", "u8"});
    stithy::test::expect_error_here([&] { return f.at(0).set(Array(1e300)); }, {"at().set", "f64", "f32"});
    stithy::test::expect_error_here([&] { return i.at(0).subtract(Array(1.0)); }, {"at().subtract", "f64", "i32"});
    stithy::test::expect_error_here([&] { return f.at(0).divide(Array(2.0)); }, {"at().divide", "f64", "f32"});
    EXPECT_EQ(f.at(0).set(Array(3)).to_vector<float>(), (std::vector<float>{3, 2}));
    EXPECT_EQ(i.at(0).add(Array(true)).to_vector<int>(), (std::vector<int>{2, 2, 3}));
    EXPECT_EQ(st::array({1.0, 2.0}).at(1).set(Array(5.0f)).to_vector<double>(), (std::vector<double>{1, 5}));
}
