#include "plan/nest.hpp"

#include <gtest/gtest.h>

using namespace stithy;
using ir::OpCode;
using plan::LoopKind;
using plan::NestBuilder;
using plan::NestValue;

namespace {

TEST(Nest, SharesPureValuesWhereTheyAreVisible) {
    NestBuilder b;
    const auto p = b.param(3);
    EXPECT_EQ(b.param(3), p);
    EXPECT_NE(b.param(4), p);
    const auto i = b.loop(LoopKind::serial, b.fixed_int(0), p);
    const auto inside = b.mul(i, b.param(5));
    EXPECT_EQ(b.mul(b.param(5), i), inside); // whatever the order
    EXPECT_EQ(b.param(3), p);
    b.end();
    const auto after = b.param(5); // the one inside is out of sight
    EXPECT_GT(after, inside);
    EXPECT_EQ(b.param(5), after);
    b.store(i64, b.buffer(0), b.fixed_int(0), after);
    plan::verify(b.finish());
}

TEST(Nest, SharingSurvivesManyBlocks) {
    NestBuilder b;
    std::vector<NestValue> params;
    for (std::size_t k = 0; k < 300; ++k) params.push_back(b.param(k));
    for (int n = 0; n < 50; ++n) {
        b.loop(LoopKind::serial, b.fixed_int(0), params[0]);
        for (std::size_t k = 0; k < 300; ++k) b.add(params[k], params[0]);
        b.end();
    }
    for (std::size_t k = 0; k < 300; ++k) EXPECT_EQ(b.param(k), params[k]);
    plan::verify(b.finish());
}

TEST(Nest, SimplifiesIndexArithmetic) {
    NestBuilder b;
    const auto p = b.param(0), zero = b.fixed_int(0), one = b.fixed_int(1);
    EXPECT_EQ(b.mul(p, one), p);
    EXPECT_EQ(b.mul(one, p), p);
    EXPECT_EQ(b.add(zero, p), p);
    EXPECT_EQ(b.mul(p, zero), zero);
    EXPECT_EQ(b.apply(OpCode::subtract, i64, p, zero), p);
    EXPECT_EQ(b.mul(b.fixed_int(6), b.fixed_int(7)), b.fixed_int(42));
    EXPECT_EQ(b.apply(OpCode::convert, i64, p), p);
    EXPECT_EQ(b.apply(OpCode::maximum, i64, b.apply(OpCode::minimum, i64, zero, p), zero), zero);
    EXPECT_EQ(b.offset(b.buffer(0), zero), b.buffer(0));
    // Floats keep their signs of zero and their NaN.
    const auto x = b.literal(f64, 1), nothing = b.fixed(f64, 0);
    EXPECT_NE(b.apply(OpCode::add, f64, x, nothing), x);
    EXPECT_NE(b.apply(OpCode::multiply, f64, x, nothing), nothing);
}

plan::Nest sum(LoopKind kind) {
    NestBuilder b;
    const auto r = b.reduction(OpCode::add, f32, b.fixed(f32, 0));
    const auto i = b.loop(kind, b.range_begin(), b.range_end());
    b.accumulate(r, b.load(f32, b.buffer(0), i));
    b.end();
    b.call("some_function", {b.buffer(1), b.param(0)});
    b.store(f32, b.buffer(1), b.fixed_int(0), b.get(r));
    return b.finish();
}

TEST(Nest, EqualityAndText) {
    EXPECT_EQ(sum(LoopKind::vector), sum(LoopKind::vector));
    EXPECT_EQ(sum(LoopKind::vector).text(), sum(LoopKind::vector).text());
    EXPECT_FALSE(sum(LoopKind::vector) == sum(LoopKind::serial));
    EXPECT_NE(sum(LoopKind::vector).text(), sum(LoopKind::serial).text());
    EXPECT_NE(sum(LoopKind::vector).text().find("call some_function"), std::string::npos);
}

TEST(Nest, VerifyFindsMistakes) {
    plan::Nest out_of_sight = sum(LoopKind::serial);
    plan::verify(out_of_sight);
    out_of_sight.code.back().b = 4; // the loop's counter, after the loop
    EXPECT_THROW(plan::verify(out_of_sight), InternalError);

    NestBuilder b;
    const auto x = b.literal(f64, 0), y = b.literal(f32, 1);
    b.apply(OpCode::add, f64, x, y);
    EXPECT_THROW(plan::verify(b.finish()), InternalError);

    b.loop(LoopKind::serial, b.fixed_int(0), b.fixed_int(1));
    EXPECT_THROW(b.else_(), InternalError);
    EXPECT_THROW(b.finish(), InternalError); // still open
}

} // namespace
