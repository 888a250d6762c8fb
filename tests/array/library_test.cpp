// Reductions, shaping, joining, products, printing, files.
#include "array/check.hpp"

#include <cstdio>
#include <limits>
#include <sstream>

namespace st = stithy;
using st::Array;
using st::test::expect_array;
using st::test::expect_close;
using st::test::expect_parts;
using st::test::message;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
Array grid() { return st::reshape(st::arange(6).astype(st::f64), {2, 3}); }
} // namespace

TEST(Reductions, Sums) {
    const Array m = grid();
    expect_array<double>(st::sum(m), {}, {15});
    expect_array<double>(st::sum(m, 0), {3}, {3, 5, 7});
    expect_array<double>(st::sum(m, -1), {2}, {3, 12});
    expect_array<double>(st::sum(m, {0, 1}), {}, {15});
    expect_array<double>(st::sum(m, 1, st::keepdims), {2, 1}, {3, 12});
    expect_array<double>(st::mean(m, 0), {3}, {1.5, 2.5, 3.5});
    expect_array<double>(st::prod(m, 1), {2}, {0, 60});
    expect_array<double>(st::sum(st::zeros({0})), {}, {0});
    expect_array<int>(st::sum(m > 2), {}, {3});
    expect_array<double>(st::mean(st::array({1, 2})), {}, {1.5});
    expect_parts(message([&] { return st::sum(m, 2); }), {"sum", "axis 2", "f64[2,3]", "library_test.cpp:"});
    expect_parts(message([&] { return st::sum(m, {0, 0}); }), {"twice"});
}

TEST(Reductions, Extremes) {
    const Array m = grid();
    expect_array<double>(st::max(m, 0), {3}, {3, 4, 5});
    expect_array<double>(st::min(m), {}, {0});
    expect_array<int>(st::max(st::array({3, -2})), {}, {3});
    expect_close(st::max(st::array({1.0, not_a_number})), {}, {not_a_number});
    expect_array<int>(st::argmax(m), {}, {5});
    expect_array<int>(st::argmax(m, 1), {2}, {2, 2});
    expect_array<int>(st::argmin(st::array({2.0, 1.0, 1.0})), {}, {1});
    expect_array<int>(st::argmax(st::array({2.0, not_a_number, 9.0})), {}, {1});
    expect_parts(message([&] { return st::max(st::zeros({0})); }), {"max", "f64[0]"});
}

TEST(Reductions, Truth) {
    const Array b = st::array({{true, false}, {true, true}});
    expect_array<bool>(st::any(b, 1), {2}, {true, true});
    expect_array<bool>(st::all(b, 1), {2}, {false, true});
    expect_array<bool>(st::all(st::array({1, 2})), {}, {true});
    expect_array<int>(st::count_nonzero(b), {}, {3});
}

TEST(Reductions, Statistics) {
    const Array x = st::array({1.0, 2.0, 4.0});
    const double middle = 7.0 / 3, v = ((1 - middle) * (1 - middle) + (2 - middle) * (2 - middle) + (4 - middle) * (4 - middle)) / 3;
    expect_close(st::var(x), {}, {v});
    expect_close(st::std(x, 0, {}, 1), {}, {std::sqrt(v * 1.5)});
    expect_close(st::norm(st::array({3.0, 4.0})), {}, {5});
    expect_close(st::logsumexp(st::array({1000.0, 1000.0})), {}, {1000 + std::log(2.0)});
    expect_close(st::logsumexp(st::array({-inf, -inf})), {}, {-inf});
    expect_close(st::logsumexp(grid(), 1, st::keepdims), {2, 1}, {2.40760596444438, 5.40760596444438}, 1e-13);
    expect_close(st::softmax(st::array({{0.0, 0.0}, {1000.0, -1000.0}})), {2, 2}, {0.5, 0.5, 1, 0});
    expect_close(st::log_softmax(st::array({0.0, 0.0})), {2}, {-std::log(2.0), -std::log(2.0)});
    expect_array<double>(st::cumsum(st::array({1.0, 2.0, 3.0, 4.0, 5.0})), {5}, {1, 3, 6, 10, 15});
    expect_array<double>(st::cumsum(grid(), 1), {2, 3}, {0, 1, 3, 3, 7, 12});
    expect_array<int>(st::cumprod(st::array({1, 2, 3})), {3}, {1, 2, 6});
}

TEST(Reductions, StopGradient) {
    const auto f = [](Array x) { return st::sum(st::stop_gradient(x) * x); };
    const Array x = st::array({1.0, 3.0});
    expect_array<double>(st::grad(f)(x), {2}, {1, 3});
    expect_array<double>(st::jit(st::grad(f))(x), {2}, {1, 3});
    expect_array<double>(st::grad(st::jit(f))(x), {2}, {1, 3});
    expect_array<int>(st::stop_gradient(st::array({1})), {1}, {1});
    // softmax's own derivative: p (1 - p) on the diagonal
    const auto first = [](Array y) { return st::softmax(y)(0); };
    const double p = 1 / (1 + std::exp(2.0));
    expect_close(st::grad(first)(x), {2}, {p * (1 - p), -p * (1 - p)});
    expect_close(st::grad(st::jit(first))(x), {2}, {p * (1 - p), -p * (1 - p)});
}

TEST(Shaping, Reshape) {
    expect_array<double>(st::reshape(grid(), {3, 2}), {3, 2}, {0, 1, 2, 3, 4, 5});
    EXPECT_EQ(st::reshape(grid(), {-1, 2}).shape().str(), "[3,2]");
    EXPECT_EQ(st::ravel(grid()).shape().str(), "[6]");
    EXPECT_EQ(st::squeeze(st::zeros({1, 2, 1})).shape().str(), "[2]");
    EXPECT_EQ(st::squeeze(st::zeros({1, 2, 1}), 0).shape().str(), "[2,1]");
    EXPECT_EQ(st::expand_dims(grid(), {0, -1}).shape().str(), "[1,2,3,1]");
    expect_parts(message([] { return st::reshape(grid(), {4, 2}); }), {"reshape", "6", "8", "library_test.cpp:"});
    expect_parts(message([] { return st::reshape(grid(), {-1, 4}); }), {"reshape", "6", "4"});
    expect_parts(message([] { return st::squeeze(grid(), 0); }), {"squeeze", "axis 0"});
}

TEST(Shaping, Axes) {
    const Array m = grid();
    expect_array<double>(m.T(), {3, 2}, {0, 3, 1, 4, 2, 5});
    expect_array<double>(m.mT(), {3, 2}, {0, 3, 1, 4, 2, 5});
    const Array c = st::reshape(st::arange(24), {2, 3, 4});
    EXPECT_EQ(st::transpose(c, {2, 0, 1}).shape().str(), "[4,2,3]");
    EXPECT_EQ(st::transpose(c, {2, 0, 1})(3, 1, 2).item<int>(), 23);
    EXPECT_EQ(st::swapaxes(c, 0, -1).shape().str(), "[4,3,2]");
    EXPECT_EQ(st::moveaxis(c, 0, -1).shape().str(), "[3,4,2]");
    EXPECT_EQ(st::moveaxis(c, 2, 0).shape().str(), "[4,2,3]");
    expect_parts(message([&] { return st::transpose(c, {0, 1, 1}); }), {"transpose", "[0,1,1]"});
    expect_parts(message([] { return st::ones({3}).mT(); }), {"mT", "rank 2", "library_test.cpp:"});
}

TEST(Shaping, Joining) {
    const Array a = st::array({1.0, 2.0}), b = st::array({3, 4});
    expect_array<double>(st::concatenate({a, b}), {4}, {1, 2, 3, 4});
    expect_array<double>(st::concatenate({st::reshape(a, {2, 1}), st::ones({2, 2})}, 1), {2, 3}, {1, 1, 1, 2, 1, 1});
    expect_array<double>(st::stack({a, a}, 1), {2, 2}, {1, 1, 2, 2});
    expect_array<double>(st::stack(std::vector<Array>{a, b}), {2, 2}, {1, 2, 3, 4});
    const auto parts = st::split(grid(), 3, 1);
    ASSERT_EQ(parts.size(), 3u);
    expect_array<double>(parts[1], {2, 1}, {1, 4});
    expect_parts(message([&] { return st::concatenate({st::ones({2, 3}), st::ones({4})}, 0); }),
                 {"concatenate", "f64[2,3]", "f64[4]", "library_test.cpp:"});
    expect_parts(message([&] { return st::stack({a, st::ones({3})}); }), {"stack", "f64[3]"});
    expect_parts(message([&] { return st::split(grid(), 2, 1); }), {"split", "2"});
}

TEST(Shaping, Repeating) {
    const Array a = st::array({1, 2});
    expect_array<int>(st::flip(a), {2}, {2, 1});
    expect_array<int>(st::roll(st::arange(4), 1), {4}, {3, 0, 1, 2});
    expect_array<int>(st::tile(a, {2}), {4}, {1, 2, 1, 2});
    expect_array<int>(st::tile(a, {2, 1}), {2, 2}, {1, 2, 1, 2});
    expect_array<int>(st::repeat(a, 2), {4}, {1, 1, 2, 2});
    expect_array<int>(st::pad(a, {{1, 2}}, 9), {5}, {9, 1, 2, 9, 9});
    expect_array<int>(st::broadcast_to(a, {2, 2}), {2, 2}, {1, 2, 1, 2});
    expect_parts(message([&] { return st::broadcast_to(a, {3}); }), {"broadcast_to", "[2]", "[3]"});
}

TEST(Products, Matmul) {
    const Array m = grid(), v = st::array({1.0, 2.0, 3.0});
    expect_array<double>(st::matmul(m, m.T()), {2, 2}, {5, 14, 14, 50});
    expect_array<double>(st::matmul(m, v), {2}, {8, 26});
    expect_array<double>(st::matmul(v, m.T()), {2}, {8, 26});
    expect_array<double>(st::matmul(v, v), {}, {14});
    const Array batch = st::reshape(st::arange(12).astype(st::f64), {2, 3, 2});
    expect_array<double>(st::matmul(m, batch), {2, 2, 2}, {10, 13, 28, 40, 28, 31, 100, 112});
    expect_array<double>(st::matmul(v, batch), {2, 2}, {16, 22, 52, 58});
    EXPECT_EQ(st::matmul(batch, m).shape().str(), "[2,3,3]");
    EXPECT_EQ(st::matmul(st::ones({4, 1, 2, 3}), st::ones({5, 3, 2})).shape().str(), "[4,5,2,2]");
    expect_array<int>(st::matmul(st::array({{1, 2}}), st::array({3, 4})), {1}, {11});
    expect_parts(message([&] { return st::matmul(m, m); }), {"matmul", "f64[2,3]", "extent 3", "extent 2", "library_test.cpp:"});
    expect_parts(message([&] { return st::matmul(m, 2.0); }), {"matmul", "rank 0"});
}

TEST(Products, Others) {
    const Array a = st::array({1.0, 2.0}), b = st::array({3.0, 4.0, 5.0}), m = grid();
    expect_array<double>(st::outer(a, b), {2, 3}, {3, 4, 5, 6, 8, 10});
    expect_array<double>(st::dot(a, a), {}, {5});
    expect_array<double>(st::inner(m, b), {2}, {14, 50});
    expect_array<double>(st::tensordot(m, m), {}, {55});
    expect_array<double>(st::tensordot(a, m, 1), {3}, {6, 9, 12});
    expect_array<double>(st::einsum("ij,kj->ik", m, m), {2, 2}, {5, 14, 14, 50});
    expect_array<double>(st::einsum("ij->j", m), {3}, {3, 5, 7});
    expect_array<double>(st::einsum("ii", st::eye(3)), {}, {3});
    expect_array<double>(st::einsum("ij,ij->i", m, m), {2}, {5, 50});
    expect_array<double>(st::einsum("i,j->ji", a, b), {3, 2}, {3, 6, 4, 8, 5, 10});
    expect_array<double>(st::trace(m), {}, {4});
    expect_parts(message([&] { return st::einsum("ij,jk->ik", m, m); }), {"einsum", "'j'"});
}

TEST(Printing, ShortestDigitsLikeNumPy) { // what NumPy 2 prints, at 100 columns
    constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
    const std::pair<Array, const char*> cases[] = {
        {st::array({1234.1f, 0.5f, -3.0f}), "[ 1.2341e+03  5.0000e-01 -3.0000e+00]"},
        {st::array({0.1f, 0.2f, 0.3f}), "[0.1 0.2 0.3]"},
        {st::array({16777216.0f, 1.1f}), "[1.6777216e+07 1.1000000e+00]"},
        {st::array({1.0f / 3.0f, 100.25f}), "[  0.33333334 100.25      ]"},
        {st::array({1.1e10f, 2.5f}), "[1.1e+10 2.5e+00]"},
        {st::array({1.17549435e-38f, 3.4028235e38f}), "[1.1754944e-38 3.4028235e+38]"},
        {st::array({1e-5f, 1.0f}), "[1.e-05 1.e+00]"},
        {st::array({123456.7f}), "[123456.7]"},
        {st::array({0.0f, -0.0f, 1.0f}), "[ 0. -0.  1.]"},
        {st::array({7.0f, -0.001f}), "[ 7.e+00 -1.e-03]"},
        {st::array({0.1, 0.2, 0.30000000000000004}), "[0.1 0.2 0.3]"},
        {st::array({1.0 / 3.0, 2.0 / 3.0}), "[0.33333333 0.66666667]"},
        {st::array({12345678.1, 0.5}), "[1.23456781e+07 5.00000000e-01]"},
        {st::array({99999999.0, 1e7}), "[99999999. 10000000.]"},
        {st::array({1e-4, 0.09}), "[0.0001 0.09  ]"},
        {st::array({1e-4, 0.2}), "[1.e-04 2.e-01]"},
        {st::array({1e16, 1e15}), "[1.e+16 1.e+15]"},
        {st::array({1.5e300, -2.25e-300}), "[ 1.50e+300 -2.25e-300]"},
        {st::array({5e-324}), "[5.e-324]"},
        {st::array({1e22}), "[1.e+22]"},
        {st::array({123456.789, 1000.5}), "[123456.789   1000.5  ]"},
        {st::array({1.0, infinity, not_a_number, -1.5}), "[ 1.   inf  nan -1.5]"},
        {st::array({0.0001f, 0.05f}), "[0.0001 0.05  ]"},
    };
    for (const auto& [x, expected] : cases) {
        const std::string text = st::repr(x);
        EXPECT_EQ(text.substr(text.find('\n') + 1), expected);
    }
}

TEST(Printing, LikeNumPy) {
    EXPECT_EQ(st::repr(st::array({1.0, 2.5})), "f64[2] cpu\n[1.  2.5]");
    EXPECT_EQ(st::repr(st::array({1.0, -2.0})), "f64[2] cpu\n[ 1. -2.]");
    EXPECT_EQ(st::repr(st::reshape(st::arange(12), {3, 4})), "i32[3,4] cpu\n[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]");
    EXPECT_EQ(st::repr(st::array({true, false})), "bool[2] cpu\n[ true false]");
    EXPECT_EQ(st::repr(Array(0.1f)), "f32[] cpu\n0.1");
    EXPECT_EQ(st::repr(st::array({not_a_number, inf})), "f64[2] cpu\n[nan inf]");
    EXPECT_EQ(st::repr(st::array({1e10, 1.0})), "f64[2] cpu\n[1.e+10 1.e+00]");
    EXPECT_EQ(st::repr(st::arange(2000)), "i32[2000] cpu\n[   0    1    2 ... 1997 1998 1999]");
    EXPECT_EQ(st::repr(st::reshape(st::arange(4), {2, 1, 2})), "i32[2,1,2] cpu\n[[[0 1]]\n\n [[2 3]]]");
    EXPECT_EQ(st::repr(st::zeros({0, 3})), "f64[0,3] cpu\n[]");
    EXPECT_EQ(st::repr(Array()), "(empty array)");
    std::ostringstream out;
    out << st::array({3, 5}) << "x";
    EXPECT_EQ(out.str(), "i32[2] cpu\n[3 5]\nx");
    out.str("");
    const Array x = st::zeros({2, 3}, st::f32);
    out << x.shape() << ' ' << x.dtype() << ' ' << x.device();
    EXPECT_EQ(out.str(), "[2,3] f32 cpu");
}

TEST(Files, Npy) {
    const std::string path = ::testing::TempDir() + "stithy_library_test.npy";
    st::save(path, grid().T());
    expect_array<double>(st::load(path), {3, 2}, {0, 3, 1, 4, 2, 5});
    std::remove(path.c_str());
    expect_parts(message([&] { return st::load("/nowhere/at/all.npy"); }), {"load", "/nowhere/at/all.npy", "library_test.cpp:"});
}
