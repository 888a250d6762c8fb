#include "ops/harness.hpp"

#include <limits>

namespace stithy::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

Program one(OpCode code) {
    return [code](Builder&, std::span<const Value> x) { return Values{ops::unary(code, x[0])}; };
}
Program two(OpCode code) {
    return [code](Builder&, std::span<const Value> x) { return Values{ops::binary(code, x[0], x[1])}; };
}

/// One operation of one variable: an interval to draw from and its dtypes. Operations of zero derivative stay between their jumps.
struct UnaryCase {
    OpCode code;
    double low, high;
    std::vector<DType> takes, refuses;
};
const std::vector<DType> only_floats{f32, f64}, signed_numbers{i8, i64, f32, f64}, all_numbers{i8, u16, f32, f64}, all_integers{i8, u64};
const UnaryCase unary_cases[] = {
    {OpCode::abs, 0.2, 1.5, signed_numbers, {u8, boolean}},
    {OpCode::abs, -1.5, -0.2, signed_numbers, {u8, boolean}},
    {OpCode::cbrt, 0.3, 2, only_floats, {i32, boolean}},
    {OpCode::ceil, 0.1, 0.9, only_floats, {i32}},
    {OpCode::cosine, -2, 2, only_floats, {i32}},
    {OpCode::exponential, -2, 2, only_floats, {i32}},
    {OpCode::exponential_minus_one, -2, 2, only_floats, {i32}},
    {OpCode::floor, 0.1, 0.9, only_floats, {i32}},
    {OpCode::log, 0.3, 2, only_floats, {i32}},
    {OpCode::log_plus_one, -0.6, 2, only_floats, {i32}},
    {OpCode::logistic, -3, 3, only_floats, {i32}},
    {OpCode::negate, -2, 2, all_numbers, {boolean}},
    {OpCode::round_nearest_afz, 0.6, 1.4, only_floats, {i32}},
    {OpCode::round_nearest_even, 0.6, 1.4, only_floats, {i32}},
    {OpCode::rsqrt, 0.3, 2, only_floats, {i32}},
    {OpCode::sign, 0.2, 2, signed_numbers, {u8, boolean}},
    {OpCode::sine, -2, 2, only_floats, {i32}},
    {OpCode::sqrt, 0.3, 2, only_floats, {i32}},
    {OpCode::tan, -1, 1, only_floats, {i32}},
    {OpCode::tanh, -2, 2, only_floats, {i32}},
};

TEST(Unary, DerivativesAndBatching) {
    unsigned seed = 1;
    for (const UnaryCase& c : unary_cases)
        check_program({random_f64({2, 3}, seed++, c.low, c.high)}, one(c.code), {.tolerance = 2e-7}, std::string(ir::name(c.code)));
}

TEST(Unary, DtypesThatAreTakenAndRefused) {
    for (const UnaryCase& c : unary_cases) {
        for (DType t : c.takes)
            EXPECT_EQ(build(std::vector{Type(t, {4})}, one(c.code))->result_types()[0], Type(t, {4})) << ir::name(c.code);
        for (DType t : c.refuses)
            expect_error({Type(t, {4})}, one(c.code), {ir::name(c.code), ": " + std::string(t.name()) + "[4] given, expected"});
    }
    for (OpCode code : {OpCode::popcnt, OpCode::count_leading_zeros}) {
        for (DType t : all_integers) EXPECT_EQ(build(std::vector{Type(t, {})}, one(code))->result_types()[0], Type(t, {}));
        expect_error({Type(f32, {})}, one(code), {ir::name(code), "f32[] given, expected integers"});
    }
    EXPECT_EQ(build(std::vector{Type(boolean, {2})}, one(OpCode::not_))->result_types()[0], Type(boolean, {2}));
    expect_error({Type(f64, {2})}, one(OpCode::not_), {"not: f64[2] given, expected bool, integers"});
    EXPECT_EQ(build(std::vector{Type(f32, {2})}, one(OpCode::is_finite))->result_types()[0], Type(boolean, {2}));
    expect_error({Type(i32, {2})}, one(OpCode::is_finite), {"is_finite", "i32[2]"});
}

struct BinaryCase {
    OpCode code;
    double low, high, low2, high2;
    std::vector<DType> takes, refuses;
};
const std::vector<DType> everything{boolean, i8, u64, f32, f64}, logical{boolean, i32, u8};
const BinaryCase binary_cases[] = {
    {OpCode::add, -2, 2, -2, 2, everything, {}},
    {OpCode::subtract, -2, 2, -2, 2, all_numbers, {boolean}},
    {OpCode::multiply, -2, 2, -2, 2, everything, {}},
    {OpCode::divide, -2, 2, 0.5, 2, all_numbers, {boolean}},
    {OpCode::maximum, -2, 0, 0.2, 2, everything, {}},
    {OpCode::minimum, -2, 0, 0.2, 2, everything, {}},
    {OpCode::power, 0.4, 2, -2, 2, all_numbers, {boolean}},
    {OpCode::remainder, 4.3, 4.9, 1.2, 1.4, all_numbers, {boolean}},
    {OpCode::remainder, -4.9, -4.3, 1.2, 1.4, all_numbers, {boolean}},
    {OpCode::atan2, -2, 2, 0.5, 2, only_floats, {i32, boolean}},
    {OpCode::atan2, 0.5, 2, -2, 2, only_floats, {i32, boolean}},
};

TEST(Binary, DerivativesAndBatching) {
    unsigned seed = 100;
    for (const BinaryCase& c : binary_cases) {
        const Arguments x{random_f64({2, 3}, seed, c.low, c.high), random_f64({2, 3}, seed + 1, c.low2, c.high2)};
        const std::string name(ir::name(c.code));
        check_program(x, two(c.code), {.tolerance = 1e-6}, name);
        check_program(x, two(c.code), {.tolerance = 1e-6, .active = {true, false}}, name + " by the first");
        check_program(x, two(c.code), {.tolerance = 1e-6, .active = {false, true}}, name + " by the second");
        seed += 2;
    }
}

TEST(Binary, DtypesThatAreTakenAndRefused) {
    for (const BinaryCase& c : binary_cases) {
        for (DType t : c.takes)
            EXPECT_EQ(build(std::vector{Type(t, {4}), Type(t, {4})}, two(c.code))->result_types()[0], Type(t, {4})) << ir::name(c.code);
        for (DType t : c.refuses)
            expect_error({Type(t, {4}), Type(t, {4})}, two(c.code), {ir::name(c.code), std::string(t.name()) + "[4] given, expected"});
    }
    for (OpCode code : {OpCode::and_, OpCode::or_, OpCode::xor_}) {
        for (DType t : logical) EXPECT_EQ(build(std::vector{Type(t, {4}), Type(t, {4})}, two(code))->result_types()[0], Type(t, {4}));
        expect_error({Type(f32, {}), Type(f32, {})}, two(code), {ir::name(code), "f32[] given, expected bool, integers"});
    }
    for (OpCode code : {OpCode::shift_left, OpCode::shift_right_arithmetic, OpCode::shift_right_logical}) {
        EXPECT_EQ(build(std::vector{Type(i16, {4}), Type(i16, {4})}, two(code))->result_types()[0], Type(i16, {4}));
        expect_error({Type(boolean, {}), Type(boolean, {})}, two(code), {ir::name(code), "bool[] given, expected integers"});
    }
}

TEST(Binary, ShapesAndDtypesMustAgree) {
    expect_error({Type(f64, {2, 3}), Type(f64, {4})}, two(OpCode::add),
                 {"add: shapes [2,3] and [4] differ", "f64[2,3] and f64[4]", "expected equal shapes"});
    expect_error({Type(f64, {4}), Type(f32, {4})}, two(OpCode::power), {"power: dtypes f64 and f32 differ", "f64[4] and f32[4]"});
    expect_error({Type(f64, {4}), Type::token()}, two(OpCode::add), {"add: operands f64[4] and token, expected tensors"});
    expect_error({Type(f64, {4})}, [](Builder& b, std::span<const Value> x) { return ops::emit(b, OpCode::add, {x[0]}); },
                 {"add: 1 operands given, expected 2"});
}

TEST(Binary, ErrorsNameTheUsersLine) {
    const Location here = Location::current();
    expect_error({Type(f64, {2}), Type(f64, {3})},
                 [&](Builder&, std::span<const Value> x) {
                     const ops::LocationScope scope(here);
                     return Values{x[0] + x[1]};
                 },
                 {"elementwise_test.cpp:" + std::to_string(here.line())});
}

/// The derivatives of a scalar function of one or two numbers, through jvp with a unit tangent for each.
std::vector<double> slopes(const Program& program, const std::vector<double>& at) {
    Arguments x;
    for (double v : at) x.push_back(literal(v));
    const FunctionPtr f = build(x, program);
    std::vector<double> out;
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::vector<bool> active(at.size(), false);
        active[i] = true;
        Arguments all = x;
        all.push_back(literal(1.0));
        out.push_back(run(jvp_of(*f, active, false), all)[0].element_as_double(0));
    }
    return out;
}
using Doubles = std::vector<double>;

TEST(SpecialPoints, TiesAreShared) {
    EXPECT_EQ(slopes(two(OpCode::maximum), {1, 1}), (Doubles{0.5, 0.5}));
    EXPECT_EQ(slopes(two(OpCode::minimum), {1, 1}), (Doubles{0.5, 0.5}));
    EXPECT_EQ(slopes(two(OpCode::maximum), {2, 1}), (Doubles{1, 0}));
    EXPECT_EQ(slopes(two(OpCode::minimum), {2, 1}), (Doubles{0, 1}));
    EXPECT_EQ(slopes(two(OpCode::maximum), {nan, 1}), (Doubles{0, 0}));
}

TEST(SpecialPoints, AbsSignAndRounding) {
    EXPECT_EQ(slopes(one(OpCode::abs), {0}), Doubles{0});
    EXPECT_EQ(slopes(one(OpCode::abs), {-3}), Doubles{-1});
    for (OpCode code : {OpCode::sign, OpCode::floor, OpCode::ceil, OpCode::round_nearest_even, OpCode::round_nearest_afz})
        EXPECT_EQ(slopes(one(code), {1}), Doubles{0}) << ir::name(code);
}

TEST(SpecialPoints, Power) {
    EXPECT_EQ(slopes(two(OpCode::power), {0, 0}), (Doubles{0, 0}));
    EXPECT_EQ(slopes(two(OpCode::power), {0, 2}), (Doubles{0, 0}));
    EXPECT_EQ(slopes(two(OpCode::power), {0, 1}), (Doubles{1, 0}));
    EXPECT_EQ(slopes(two(OpCode::power), {-2, 3})[0], 12);
    EXPECT_TRUE(std::isnan(slopes(two(OpCode::power), {-2, 3})[1]));
}

TEST(SpecialPoints, PowerWithAKnownExponent) {
    for (double p : {0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 4.0, 2.5}) {
        const Program by_constant = [p](Builder&, std::span<const Value> x) {
            return Values{ops::power(x[0], ops::broadcast_to(ops::scalar(x[0].builder(), f64, p), x[0].shape()))};
        };
        check_program({random_f64({4}, 5, 0.5, 2)}, by_constant, {.tolerance = 1e-6}, "power " + std::to_string(p));
    }
    const Program square = [](Builder&, std::span<const Value> x) { return Values{ops::power(x[0], ops::full_like(x[0], 2.0))}; };
    EXPECT_EQ(slopes(square, {0}), Doubles{0});
}

TEST(SpecialPoints, SecondDerivativeOfPowerAtZero) {
    const Arguments x{literal(0.0), literal(2.0)};
    const FunctionPtr first = jvp_of(*build(x, two(OpCode::power)), {true, false}, false);
    const FunctionPtr second = jvp_of(*first, {true, false, false}, false);
    EXPECT_EQ(run(second, {x[0], x[1], literal(1.0), literal(1.0)})[0].element_as_double(0), 2.0);
    const Arguments flat{literal(0.0), literal(0.0)};
    EXPECT_EQ(run(second, {flat[0], flat[1], literal(1.0), literal(1.0)})[0].element_as_double(0), 0.0);
}

TEST(SpecialPoints, Infinities) {
    EXPECT_EQ(slopes(one(OpCode::sqrt), {0}), Doubles{inf});
    EXPECT_EQ(slopes(one(OpCode::cbrt), {0}), Doubles{inf});
    EXPECT_EQ(slopes(one(OpCode::log), {0}), Doubles{inf});
    EXPECT_EQ(slopes(one(OpCode::tanh), {inf}), Doubles{0});
    EXPECT_EQ(slopes(one(OpCode::logistic), {-inf}), Doubles{0});
    EXPECT_EQ(slopes(two(OpCode::remainder), {5, inf}), (Doubles{1, 0}));
    EXPECT_EQ(slopes(two(OpCode::remainder), {-7, 3}), (Doubles{1, 2}));
}

TEST(Compare, GivesBoolAndNoTangent) {
    const Program less = [](Builder&, std::span<const Value> x) { return Values{ops::compare(x[0], x[1], ir::Direction::lt)}; };
    const Literal got = run1(less, {literal({3}, {1, 2, 3}), literal({3}, {2, 2, 2})});
    EXPECT_EQ(got, literal({3}, {1, 0, 0}, boolean));
    expect_error({Type(f64, {2}), Type(f64, {3})}, less, {"compare: shapes [2] and [3] differ"});
    check_batch(build(std::vector{Type(f64, {4}), Type(f64, {4})}, less),
                [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s); });
    const Program masked = [&](Builder& b, std::span<const Value> x) { return Values{x[0] * ops::convert(less(b, x)[0], f64)}; };
    check_program({literal({3}, {1, 2, 3}), literal({3}, {2, 2.5, 2})}, masked);
}

const Program choose = [](Builder&, std::span<const Value> x) { return Values{ops::select(x[0], x[1], x[2])}; };

TEST(Select, PredicateOfEachShape) {
    const Literal a = random_f64({2, 2}, 1), b = random_f64({2, 2}, 2);
    for (const Literal& p : {literal(Shape{2, 2}, {1, 0, 0, 1}, boolean), literal(1.0, boolean)}) {
        check_program({p, a, b}, choose, {}, "select");
        check_derivatives(build(Arguments{p, a, b}, choose), {p, a, b}, {.active = {false, true, false}}, "select by the first");
        check_derivatives(build(Arguments{p, a, b}, choose), {p, a, b}, {.active = {false, false, true}}, "select by the second");
        check_batch(build(Arguments{p, a, b}, choose), [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s); });
    }
    check_batch(build(std::vector{Type(boolean, {}), Type(i32, {}), Type(i32, {})}, choose),
                [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s, -9, 9); });
}

TEST(Select, Errors) {
    expect_error({Type(boolean, {3}), Type(f64, {2}), Type(f64, {2})}, choose, {"select: the predicate has shape [3], expected [] or [2]"});
    expect_error({Type(i32, {2}), Type(f64, {2}), Type(f64, {2})}, choose, {"select: the predicate is i32[2], expected bool"});
    expect_error({Type(boolean, {2}), Type(f64, {2}), Type(f32, {2})}, choose, {"select: dtypes f64 and f32 differ"});
}

const Program limit = [](Builder&, std::span<const Value> x) { return Values{ops::clamp(x[0], x[1], x[2])}; };

TEST(Clamp, BoundsOfEachShape) {
    const Literal x = literal({4}, {-2, 0.1, 0.7, 3});
    const Literal wide_low = literal({4}, {-1, -0.5, -1, -0.7}), wide_high = literal({4}, {1, 0.9, 1.1, 1});
    const Literal low = literal(-1.0), high = literal(1.0);
    for (const Literal& l : {wide_low, low})
        for (const Literal& h : {wide_high, high}) check_program({l, x, h}, limit, {}, "clamp");
    check_batch(build(std::vector{Type(i32, {}), Type(i32, {}), Type(i32, {})}, limit), [](std::size_t i, const Type& t, unsigned s) {
        return random_literal(t, s, static_cast<double>(i) * 5, static_cast<double>(i) * 5 + 9);
    });
}

TEST(Clamp, SlopesAtTheBounds) {
    EXPECT_EQ(slopes(limit, {0, 0, 1}), (Doubles{0, 0, 0}));
    EXPECT_EQ(slopes(limit, {0, -1, 1}), (Doubles{1, 0, 0}));
    EXPECT_EQ(slopes(limit, {0, 2, 1}), (Doubles{0, 0, 1}));
    EXPECT_EQ(slopes(limit, {0, 0.5, 1}), (Doubles{0, 1, 0}));
}

TEST(Clamp, Errors) {
    expect_error({Type(f64, {3}), Type(f64, {2}), Type(f64, {})}, limit, {"clamp: the lower bound has shape [3], expected [] or [2]"});
    expect_error({Type(f64, {}), Type(f64, {2}), Type(f32, {})}, limit,
                 {"clamp: the upper bound is f32[] and the operand f64[2], expected equal dtypes"});
}

TEST(Convert, BetweenDtypes) {
    const Program there_and_back = [](Builder&, std::span<const Value> x) {
        return Values{ops::convert(ops::convert(x[0], f32), f64) * x[0]};
    };
    check_program({literal({3}, {0.5, 0.25, -2})}, there_and_back, {.tolerance = 1e-2, .step = 0.0625, .product = 1e-6}, "convert");
    const Program through_integers = [](Builder&, std::span<const Value> x) {
        return Values{ops::convert(ops::convert(x[0], i32), f64) * x[0]};
    };
    check_program({literal({3}, {0.5, 3.5, -2.5})}, through_integers, {}, "convert");
    const Program to_bool = [](Builder&, std::span<const Value> x) { return Values{ops::convert(x[0], boolean)}; };
    EXPECT_EQ(run1(to_bool, {literal({3}, {0, 3, -2}, i32)}), literal({3}, {0, 1, 1}, boolean));
    check_batch(build(std::vector{Type(i32, {2})}, to_bool),
                [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s, -1, 2); });
}

TEST(Integers, HaveNoTangents) {
    const Program f = [](Builder&, std::span<const Value> x) { return Values{ops::convert(x[1] + x[1], f64) * x[0]}; };
    check_program({literal({2}, {1.5, 2}), literal({2}, {3, 4}, i32)}, f);
}

TEST(Integers, BatchOfBitOperations) {
    for (OpCode code : {OpCode::and_, OpCode::or_, OpCode::xor_, OpCode::shift_left, OpCode::shift_right_arithmetic,
                        OpCode::shift_right_logical, OpCode::remainder})
        check_batch(build(std::vector{Type(i32, {3}), Type(i32, {3})}, two(code)),
                    [](std::size_t i, const Type& t, unsigned s) { return random_literal(t, s, i == 0 ? -100 : 1, i == 0 ? 100 : 7); });
    for (OpCode code : {OpCode::not_, OpCode::popcnt, OpCode::count_leading_zeros})
        check_batch(build(std::vector{Type(i32, {3})}, one(code)),
                    [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s, -100, 100); });
    check_batch(build(std::vector{Type(f64, {3})}, one(OpCode::is_finite)),
                [](std::size_t, const Type& t, unsigned s) { return random_literal(t, s); });
}

} // namespace
} // namespace stithy::test
