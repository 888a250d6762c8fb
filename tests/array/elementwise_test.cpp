#include "array/check.hpp"

#include <limits>

namespace st = stithy;
using st::Array;
using st::test::expect_array;
using st::test::expect_close;
using st::test::expect_parts;
using st::test::message;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
}

TEST(Operators, Arithmetic) {
    const Array a = st::array({1.0, 2.0, 3.0});
    expect_array<double>(a * 2 + 1, {3}, {3, 5, 7});
    expect_array<double>(1 - a, {3}, {0, -1, -2});
    expect_array<double>(-a, {3}, {-1, -2, -3});
    expect_array<double>(6 / a, {3}, {6, 3, 2});
    expect_array<double>(a * a, {3}, {1, 4, 9});
    expect_array<int>(st::array({7, -7}) % 3, {2}, {1, 2});
    Array b = a;
    b += 1;
    b *= a;
    expect_array<double>(b, {3}, {2, 6, 12});
    expect_array<double>(a, {3}, {1, 2, 3});
}

TEST(Operators, Broadcasting) {
    const Array column = st::array({{1.0}, {2.0}}), row = st::array({10.0, 20.0, 30.0});
    expect_array<double>(column + row, {2, 3}, {11, 21, 31, 12, 22, 32});
    expect_array<double>(st::zeros({0, 3}) + row, {0, 3}, {});
    expect_array<double>(st::ones({2, 1, 1}) + st::zeros({3, 1}), {2, 3, 1}, {1, 1, 1, 1, 1, 1});
    expect_parts(message([&] { return st::ones({2, 3}) + st::ones({4}); }), {"add", "[2,3]", "[4]", "elementwise_test.cpp:"});
}

TEST(Operators, DTypesPromote) {
    const Array i = st::array({1, 2}), d = st::array({0.5, 1.5}), s = st::array({0.5f, 1.5f}), t = st::array({true, false});
    EXPECT_EQ((i + d).dtype(), st::f64);
    EXPECT_EQ((i + s).dtype(), st::f32);
    EXPECT_EQ((s + d).dtype(), st::f64);
    EXPECT_EQ((s * 2.5).dtype(), st::f32);
    EXPECT_EQ((i * 2).dtype(), st::i32);
    EXPECT_EQ((i * 2.5).dtype(), st::f64);
    EXPECT_EQ((i * 2.5f).dtype(), st::f64);
    EXPECT_EQ((t + 1).dtype(), st::i32);
    EXPECT_EQ((t * 1.5).dtype(), st::f64);
    EXPECT_EQ((i / i).dtype(), st::f64);
    EXPECT_EQ((i < 2).dtype(), st::boolean);
    expect_array<double>(st::array({1, 3}) / 2, {2}, {0.5, 1.5});
    expect_array<signed char>(i.astype(st::i8) + 100, {2}, {101, 102});
    expect_parts(message([&] { return i.astype(st::i8) + 300; }), {"add", "300", "i8", "elementwise_test.cpp:"});
    expect_parts(message([&] { return i.astype(st::u32) + -1; }), {"-1", "u32"});
}

TEST(Operators, ComparisonsAndBits) {
    const Array a = st::array({1, 2, 3});
    expect_array<bool>(a < 2, {3}, {true, false, false});
    expect_array<bool>(2 <= a, {3}, {false, true, true});
    expect_array<bool>(a == a, {3}, {true, true, true});
    expect_array<bool>(a != 2, {3}, {true, false, true});
    expect_array<bool>(!(a > 1), {3}, {true, false, false});
    expect_array<bool>(!a, {3}, {false, false, false});
    expect_array<bool>((a > 1) & (a < 3), {3}, {false, true, false});
    expect_array<int>(a & 1, {3}, {1, 0, 1});
    expect_array<int>(a << 2, {3}, {4, 8, 12});
    expect_array<int>(~a, {3}, {-2, -3, -4});
    expect_array<bool>(st::array({not_a_number, 1.0}) == st::array({not_a_number, 1.0}), {2}, {false, true});
    expect_array<bool>(st::logical_or(a == 1, a - 3), {3}, {true, true, false});
}

TEST(Math, Functions) {
    const Array x = st::array({0.25, 1.0, 2.0});
    const auto each = [](double (*f)(double)) { return std::vector<double>{f(0.25), f(1.0), f(2.0)}; };
    expect_close(st::exp(x), {3}, each(std::exp));
    expect_close(st::expm1(x), {3}, each(std::expm1));
    expect_close(st::log(x), {3}, each(std::log));
    expect_close(st::log1p(x), {3}, each(std::log1p));
    expect_close(st::log2(x), {3}, each(std::log2));
    expect_close(st::log10(x), {3}, each(std::log10));
    expect_close(st::sqrt(x), {3}, each(std::sqrt));
    expect_close(st::cbrt(x), {3}, each(std::cbrt));
    expect_close(st::sin(x), {3}, each(std::sin));
    expect_close(st::cos(x), {3}, each(std::cos));
    expect_close(st::tan(x), {3}, each(std::tan));
    expect_close(st::tanh(x), {3}, each(std::tanh));
    expect_close(st::sinh(x), {3}, each(std::sinh));
    expect_close(st::cosh(x), {3}, each(std::cosh));
    expect_close(st::atan(x), {3}, each(std::atan));
    expect_close(st::asin(x * 0.5), {3}, {std::asin(0.125), std::asin(0.5), std::asin(1.0)});
    expect_close(st::acos(x * 0.5), {3}, {std::acos(0.125), std::acos(0.5), std::acos(1.0)});
    expect_close(st::rsqrt(x), {3}, {2.0, 1.0, 1 / std::sqrt(2.0)});
    expect_close(st::sigmoid(x), {3}, {1 / (1 + std::exp(-0.25)), 1 / (1 + std::exp(-1.0)), 1 / (1 + std::exp(-2.0))});
    expect_close(st::softplus(x), {3}, {std::log1p(std::exp(0.25)), std::log1p(std::exp(1.0)), std::log1p(std::exp(2.0))});
    expect_close(st::sinh(st::array({-40.0, 1e-9, 0.0})), {3}, {std::sinh(-40.0), 1e-9, 0.0});
    expect_close(st::exp(st::array({1, 2})), {2}, {std::exp(1.0), std::exp(2.0)});
    EXPECT_EQ(st::exp(st::array({1.f})).dtype(), st::f32);
}

TEST(Math, Rounding) {
    const Array x = st::array({-1.5, -0.5, 0.5, 2.5});
    expect_array<double>(st::floor(x), {4}, {-2, -1, 0, 2});
    expect_array<double>(st::ceil(x), {4}, {-1, 0, 1, 3});
    expect_array<double>(st::round(x), {4}, {-2, 0, 0, 2});
    expect_array<double>(st::trunc(x), {4}, {-1, 0, 0, 2});
    expect_array<double>(st::sign(x), {4}, {-1, -1, 1, 1});
    expect_array<double>(st::abs(x), {4}, {1.5, 0.5, 0.5, 2.5});
    expect_array<int>(st::floor(st::array({3})), {1}, {3});
    expect_array<double>(st::clip(x, -1, 1), {4}, {-1, -0.5, 0.5, 1});
    expect_array<double>(st::relu(x), {4}, {0, 0, 0.5, 2.5});
}

TEST(Math, RemaindersAndPowers) {
    const Array a = st::array({7, -7, 7, -7}), b = st::array({3, 3, -3, -3});
    expect_array<int>(st::mod(a, b), {4}, {1, 2, -2, -1});
    expect_array<int>(st::fmod(a, b), {4}, {1, -1, 1, -1});
    expect_array<int>(st::floor_divide(a, b), {4}, {2, -3, -3, 2});
    expect_close(st::mod(st::array({5.5, -5.5}), 2.0), {2}, {1.5, 0.5});
    expect_array<int>(st::pow(st::array({2, -3}), 3), {2}, {8, -27});
    expect_close(st::pow(st::array({2.0, -2.0}), -2), {2}, {0.25, 0.25});
    expect_close(st::pow(st::array({2.0, 9.0}), 0.5), {2}, {std::sqrt(2.0), 3.0});
    expect_close(st::pow(2.0, st::array({3.0, -1.0})), {2}, {8, 0.5});
    expect_close(st::hypot(st::array({3.0, 1e300, 0.0}), st::array({4.0, 1e300, 0.0})), {3}, {5, std::sqrt(2.0) * 1e300, 0});
    expect_close(st::logaddexp(st::array({0.0, 1000.0, -inf}), st::array({0.0, 1000.0, -inf})), {3},
                 {std::log(2.0), 1000 + std::log(2.0), -inf});
    expect_parts(message([&] { return st::pow(a, -1); }), {"pow", "-1"});
}

TEST(Math, SpecialValues) {
    const Array x = st::array({not_a_number, inf, -inf, 1.0});
    expect_array<bool>(st::isnan(x), {4}, {true, false, false, false});
    expect_array<bool>(st::isinf(x), {4}, {false, true, true, false});
    expect_array<bool>(st::isfinite(x), {4}, {false, false, false, true});
    expect_array<bool>(st::isnan(st::array({1, 2})), {2}, {false, false});
    expect_close(st::maximum(x, 0), {4}, {not_a_number, inf, 0, 1});
}

TEST(Math, Where) {
    const Array c = st::array({true, false, true});
    expect_array<double>(st::where(c, st::array({1.0, 2.0, 3.0}), 0), {3}, {1, 0, 3});
    expect_array<int>(st::where(c, 1, 2), {3}, {1, 2, 1});
    expect_array<double>(st::where(st::array({0, 2, 0}), 1.0, st::array({{5.0}, {6.0}})), {2, 3}, {5, 1, 5, 6, 1, 6});
    expect_array<int>(st::bitcast(st::array({1.0f}), st::i32), {1}, {0x3f800000});
}

TEST(Math, DyingTemporariesKeepOtherHandlesIntact) {
    const Array a = st::ones({10000});
    Array b = a + 1;
    const Array alias = b;
    const Array c = std::move(b) * 3;
    EXPECT_EQ(alias.to_vector<double>()[9999], 2);
    EXPECT_EQ(c.to_vector<double>()[9999], 6);
    Array twice = st::full({10000}, 3.0) + 0;
    twice += twice;
    EXPECT_EQ(twice.to_vector<double>()[7], 6);
    EXPECT_EQ((std::move(twice) + twice).to_vector<double>()[7], 12); // NOLINT: the operands are references
    const Array d = (a + 1) * (a + 2) - 1;
    EXPECT_EQ(d.to_vector<double>()[5000], 5);
}
