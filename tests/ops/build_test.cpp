#include "base/small_vector.hpp"
#include "ops/harness.hpp"

#include <string>

namespace stithy::test {
namespace {

TEST(SmallVector, GrowsAndMoves) {
    SmallVector<std::string, 2> v{"a", "b"};
    for (int i = 0; i < 20; ++i) v.push_back(v[0]);
    EXPECT_EQ(v.size(), 22U);
    EXPECT_EQ(v.back(), "a");
    SmallVector<std::string, 2> moved = std::move(v), small{"c"};
    EXPECT_EQ(moved.size(), 22U);
    v = moved;
    EXPECT_EQ(v[1], "b");
    moved = std::move(small);
    EXPECT_EQ(moved.size(), 1U);
    EXPECT_EQ(moved.front(), "c");
    moved.resize(3);
    EXPECT_EQ(moved[2], "");
    moved.resize(1);
}

TEST(Rules, EveryOperationHasAShapeRule) {
    for (std::size_t i = 0; i < ir::opcode_count; ++i)
        EXPECT_NE(ops::rule(static_cast<OpCode>(i)).infer, nullptr) << ir::name(static_cast<OpCode>(i));
}

TEST(Rules, WhatHasTangents) {
    EXPECT_TRUE(ops::is_differentiable(Type(f32, {2})));
    EXPECT_FALSE(ops::is_differentiable(Type(i32, {2})));
    EXPECT_FALSE(ops::is_differentiable(Type(boolean, {})));
    EXPECT_FALSE(ops::is_differentiable(Type::token()));
    EXPECT_TRUE(ops::is_differentiable(Type::accumulator(f64, {2})));
    EXPECT_TRUE(ops::is_differentiable(Type::stack({Type(i32, {}), Type(f64, {})})));
    EXPECT_FALSE(ops::is_differentiable(Type::stack({Type(i32, {})})));
}

TEST(Emit, ChecksOperands) {
    Builder a, b;
    const Value x(a, a.parameter(Type(f64, {}))), y(b, b.parameter(Type(f64, {})));
    EXPECT_THROW(x + y, InternalError);
    EXPECT_THROW(ops::emit1(a, OpCode::negate, {Value()}), InternalError);
    EXPECT_THROW(ops::inline_call(a, *ops::combiner_region(OpCode::add, f32), std::vector<Value>{x, x}), InternalError);
}

TEST(Emit, LocationsNest) {
    const Location outer = Location::current(), inner = Location::current();
    EXPECT_EQ(ops::LocationScope::current().line(), 0U);
    {
        const ops::LocationScope a(outer);
        {
            const ops::LocationScope b(inner);
            EXPECT_EQ(ops::LocationScope::current().line(), inner.line());
        }
        Builder builder;
        const Value x(builder, builder.parameter(Type(f64, {})));
        EXPECT_EQ(builder.ops().size(), 0U);
        ops::exp(x);
        EXPECT_EQ(builder.ops()[0].location.line(), outer.line());
    }
    EXPECT_EQ(ops::LocationScope::current().line(), 0U);
}

TEST(Emit, InlinedCallsComputeTheSame) {
    const FunctionPtr f = build(std::vector{Type(f64, {2}), Type(f64, {2})},
                                [](Builder&, std::span<const Value> x) { return Values{ops::sin(x[0]) * x[1], x[0]}; });
    const Program twice = [&](Builder& b, std::span<const Value> x) {
        const Values once = ops::inline_call(b, *f, x);
        return ops::inline_call(b, *f, once);
    };
    const Arguments x{literal({2}, {1, 2}), literal({2}, {3, 4})};
    const Arguments got = run(build(x, twice), x), first = run(f, x), expected = run(f, first);
    EXPECT_EQ(got[0], expected[0]);
    EXPECT_EQ(got[1], expected[1]);
}

TEST(Combiners, IdentitiesAreNeutral) {
    for (OpCode code : {OpCode::add, OpCode::multiply, OpCode::minimum, OpCode::maximum})
        for (DType t : {boolean, i8, i64, u8, u64, f32, f64}) {
            const Literal x = literal(t.is_bool() ? 1.0 : 5.0, t), identity = ops::identity_literal(code, t);
            EXPECT_EQ(run(ops::combiner_region(code, t), {identity, x})[0], x) << ir::name(code) << " " << t.name();
        }
    for (OpCode code : {OpCode::and_, OpCode::or_, OpCode::xor_})
        for (DType t : {boolean, i8, i64, u8, u64}) {
            const Literal x = literal(t.is_bool() ? 1.0 : 5.0, t), identity = ops::identity_literal(code, t);
            EXPECT_EQ(run(ops::combiner_region(code, t), {identity, x})[0], x) << ir::name(code) << " " << t.name();
        }
    EXPECT_EQ(ops::identity_literal(OpCode::maximum, i8).element_as_int(0), -128);
    EXPECT_EQ(ops::identity_literal(OpCode::minimum, i64).element_as_int(0), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(ops::identity_literal(OpCode::minimum, u16).element_as_int(0), 65535);
    EXPECT_EQ(ops::identity_literal(OpCode::maximum, f32).element_as_double(0), -std::numeric_limits<double>::infinity());
}

TEST(Combiners, AreRecognised) {
    const FunctionPtr add = ops::combiner_region(OpCode::add, f64);
    EXPECT_EQ(add.get(), ops::combiner_region(OpCode::add, f64).get());
    EXPECT_EQ(ops::combiner_of(*add), OpCode::add);
    EXPECT_FALSE(ops::combiner_of(*ops::second_region(f64)));
    const std::vector<Type> two(2, Type(f64, {}));
    auto swapped = [&](OpCode code) {
        return build(two, [&](Builder&, std::span<const Value> x) { return Values{ops::binary(code, x[1], x[0])}; });
    };
    EXPECT_EQ(ops::combiner_of(*swapped(OpCode::maximum)), OpCode::maximum);
    EXPECT_FALSE(ops::combiner_of(*swapped(OpCode::subtract)));
    EXPECT_FALSE(ops::combiner_of(*build(two, [](Builder&, std::span<const Value> x) { return Values{x[0] + x[0]}; })));
}

TEST(Constants, OfEveryDtype) {
    for (int code = 0; code < dtype_count; ++code) {
        const DType t(static_cast<DType::Code>(code));
        EXPECT_EQ(run1([&](Builder& b, std::span<const Value>) { return Values{ops::full(b, Type(t, {2}), 1)}; }, {}),
                  literal({2}, {1, 1}, t))
            << t.name();
    }
    EXPECT_EQ(run1([](Builder& b, std::span<const Value>) { return Values{ops::scalar(b, i32, -3)}; }, {}).element_as_int(0), -3);
    EXPECT_THROW(run1([](Builder& b, std::span<const Value>) { return Values{ops::scalar(b, i32, 0.5)}; }, {}), InternalError);
}

} // namespace
} // namespace stithy::test
