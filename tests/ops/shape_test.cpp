#include "ops/harness.hpp"

namespace stithy::test {
namespace {

using ir::make_attr;

Dims dims(std::initializer_list<std::int64_t> list) {
    Dims out;
    for (std::int64_t v : list) out.push_back(v);
    return out;
}
/// A program of one operand; squares the operand first so that second derivatives are not all zero.
Program of_square(std::function<Value(Value)> f) {
    return [f = std::move(f)](Builder&, std::span<const Value> x) { return Values{f(x[0] * x[0])}; };
}
Program plain(std::function<Value(Value)> f) {
    return [f = std::move(f)](Builder&, std::span<const Value> x) { return Values{f(x[0])}; };
}
std::vector<double> counted(std::int64_t n) {
    std::vector<double> v;
    for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>(i));
    return v;
}
/// Values against a plain expectation, then derivatives and batching.
void check(const Shape& in, const std::function<Value(Value)>& f, const Shape& out, const std::vector<double>& expected) {
    const Literal got = run1(plain(f), {literal(in, counted(in.elements()))});
    EXPECT_EQ(got.type().shape(), out);
    EXPECT_EQ(numbers(got), expected);
    check_program({random_f64(in, 3)}, of_square(f));
}

TEST(Constant, KeepsItsLiteral) {
    const Literal l = literal({2}, {1, 2}, i16);
    EXPECT_EQ(run1([&](Builder& b, std::span<const Value>) { return Values{ops::constant(b, l)}; }, {}), l);
    const Program scale = [](Builder& b, std::span<const Value> x) { return Values{ops::constant(b, literal({2}, {3, 4})) * x[0]}; };
    check_program({literal({2}, {1, 2})}, scale);
}

TEST(Constant, SplatsAreSeen) {
    build(std::vector{Type(f64, {3})}, [](Builder& b, std::span<const Value> x) {
        EXPECT_EQ(ops::splat_of(ops::broadcast_to(ops::reshape(ops::scalar(b, f64, 2.5), {1}), x[0].shape())), 2.5);
        EXPECT_FALSE(ops::splat_of(x[0]));
        EXPECT_FALSE(ops::splat_of(x[0] + 1.0));
        EXPECT_FALSE(ops::splat_of(ops::constant(b, literal({2}, {1, 2}))));
        return Values{x[0]};
    });
}

TEST(Iota, CountsAlongItsAxis) {
    auto make = [](DType t, Shape s, std::int64_t dim) {
        return [=](Builder& b, std::span<const Value>) { return Values{ops::iota(b, Type(t, s), dim)}; };
    };
    EXPECT_EQ(run1(make(i32, {2, 3}, 1), {}), literal({2, 3}, {0, 1, 2, 0, 1, 2}, i32));
    EXPECT_EQ(run1(make(f32, {2, 2}, 0), {}), literal({2, 2}, {0, 0, 1, 1}, f32));
    expect_error({}, make(i32, {2, 3}, 2), {"iota: axis 2 is out of range for rank 2"});
    expect_error({}, make(i32, {}, 0), {"iota: axis 0 is out of range for rank 0"});
    expect_error({}, make(boolean, {2}, 0), {"iota", "bool[2]"});
    expect_error({}, make(f64, Shape{-1}, 0), {"iota", "negative extent"});
    expect_error({}, make(f64, Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}, 0), {"iota", "too large"});
}

TEST(BroadcastInDim, PutsAxesInPlace) {
    auto to = [](Shape s, Dims d) { return [=](Value x) { return ops::broadcast_in_dim(x, s, d); }; };
    check({2}, to({2, 3}, dims({0})), {2, 3}, {0, 0, 0, 1, 1, 1});
    check({2}, to({3, 2}, dims({1})), {3, 2}, {0, 1, 0, 1, 0, 1});
    check({2, 1}, to({2, 3}, dims({0, 1})), {2, 3}, {0, 0, 0, 1, 1, 1});
    check({2, 3}, to({3, 2}, dims({1, 0})), {3, 2}, {0, 3, 1, 4, 2, 5});
    check({1, 2}, to({2, 2, 2}, dims({2, 0})), {2, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1});
    check({}, to({2}, {}), {2}, {0, 0});
    check({1}, to({0}, dims({0})), Shape{0}, {});
    check({2, 1}, to({2, 1}, dims({0, 1})), {2, 1}, {0, 1});
}

TEST(BroadcastInDim, Errors) {
    auto to = [](Shape s, Dims d) { return plain([=](Value x) { return ops::broadcast_in_dim(x, s, d); }); };
    expect_error({Type(f64, {2})}, to({2, 3}, dims({1})),
                 {"broadcast_in_dim: axis 0 of the operand f64[2] goes to axis 1 of the result f64[2,3]", "expected extent 1 or 3"});
    expect_error({Type(f64, {2})}, to({2, 3}, dims({2})), {"broadcast_in_dim: result axis 2 is out of range for rank 2"});
    expect_error({Type(f64, {2, 2})}, to({2, 2}, dims({0, 0})), {"result axis 0 is given twice in [0,0]"});
    expect_error({Type(f64, {2, 2})}, to({2, 2}, dims({0})), {"axes [0] for the operand f64[2,2], expected one for each"});
}

TEST(Reshape, KeepsTheOrder) {
    check({2, 3}, [](Value x) { return ops::reshape(x, {3, 2}); }, {3, 2}, counted(6));
    check({1, 1}, [](Value x) { return ops::reshape(x, {}); }, {}, {0});
    check({0, 3}, [](Value x) { return ops::reshape(x, {5, 0}); }, {5, 0}, {});
    expect_error({Type(f64, {2, 3})}, plain([](Value x) { return ops::reshape(x, {4, 2}); }),
                 {"reshape: f64[2,3] has 6 elements", "[4,2] has 8"});
}

TEST(Transpose, PermutesAxes) {
    check({2, 3}, [](Value x) { return ops::transpose(x, dims({1, 0})); }, {3, 2}, {0, 3, 1, 4, 2, 5});
    check({2, 1, 3}, [](Value x) { return ops::transpose(x, dims({2, 0, 1})); }, {3, 2, 1}, {0, 3, 1, 4, 2, 5});
    check({2, 3}, [](Value x) { return ops::move_axis(x, 1, 0); }, {3, 2}, {0, 3, 1, 4, 2, 5});
    expect_error({Type(f64, {2, 3})}, plain([](Value x) { return ops::transpose(x, dims({0})); }),
                 {"transpose: permutation [0] for the operand f64[2,3]"});
    expect_error({Type(f64, {2, 3})}, plain([](Value x) { return ops::transpose(x, dims({0, 0})); }), {"transpose: axis 0 is given twice"});
    expect_error({Type(f64, {2, 3})}, plain([](Value x) { return ops::transpose(x, dims({0, 2})); }),
                 {"transpose: axis 2 is out of range for rank 2"});
}

TEST(Reverse, TurnsAxesRound) {
    check({2, 3}, [](Value x) { return ops::reverse(x, dims({1})); }, {2, 3}, {2, 1, 0, 5, 4, 3});
    check({2, 3}, [](Value x) { return ops::reverse(x, dims({1, 0})); }, {2, 3}, {5, 4, 3, 2, 1, 0});
    check({3}, [](Value x) { return ops::reverse(x, {}); }, {3}, {0, 1, 2});
    expect_error({Type(f64, {2})}, plain([](Value x) { return ops::reverse(x, dims({1})); }),
                 {"reverse: axis 1 is out of range for rank 1"});
}

TEST(BitcastConvert, ChangesTheLastAxisWithTheWidth) {
    auto to = [](DType t) { return plain([t](Value x) { return ops::bitcast_convert(x, t); }); };
    EXPECT_EQ(run1(to(i32), {literal({2}, {1.0, -2.0}, f32)}), literal({2}, {0x3f800000, static_cast<double>(-0x40000000)}, i32));
    EXPECT_EQ(run1(to(u16), {literal({1}, {0x00010002}, u32)}), literal({1, 2}, {2, 1}, u16));
    EXPECT_EQ(run1(to(u32), {literal({1, 2}, {2, 1}, u16)}), literal({1}, {0x00010002}, u32));
    expect_error({Type(u8, {3})}, to(u32), {"bitcast_convert: u8[3] to u32: expected a last axis of extent 4"});
    expect_error({Type(u8, {})}, to(u32), {"expected a last axis of extent 4"});
    expect_error({Type(boolean, {4})}, to(u8), {"bitcast_convert: bool has other bits"});
    for (DType t : {i16, u32, f64})
        check_batch(build(std::vector{Type(i32, {2, 2})}, to(t)),
                    [](std::size_t, const Type& type, unsigned s) { return random_literal(type, s, -99, 99); });
    const Program no_tangent = [](Builder&, std::span<const Value> x) { // sign bit by hand: no derivative passes
        return Values{x[0] * ops::convert(ops::compare(ops::bitcast_convert(x[0], i64), 0.0, ir::Direction::lt), f64)};
    };
    check_program({literal({3}, {1, -2, 3})}, no_tangent);
}

TEST(Slice, TakesStrides) {
    auto cut = [](Dims a, Dims b, Dims s) { return [=](Value x) { return ops::slice(x, a, b, s); }; };
    check({6}, cut(dims({1}), dims({4}), {}), {3}, {1, 2, 3});
    check({7}, cut(dims({1}), dims({7}), dims({3})), {2}, {1, 4});
    check({7}, cut(dims({0}), dims({7}), dims({3})), {3}, {0, 3, 6});
    check({3, 4}, cut(dims({1, 0}), dims({3, 4}), dims({1, 2})), {2, 2}, {4, 6, 8, 10});
    check({5}, cut(dims({3}), dims({3}), dims({2})), Shape{0}, {});
    check({}, cut({}, {}, {}), {}, {0});
}

TEST(Slice, Errors) {
    auto cut = [](Dims a, Dims b, Dims s) { return plain([=](Value x) { return ops::slice(x, a, b, s); }); };
    expect_error({Type(f64, {4})}, cut(dims({2}), dims({5}), dims({1})),
                 {"slice: [2, 5) of axis 0 of f64[4], expected 0 <= start <= limit <= 4"});
    expect_error({Type(f64, {4})}, cut(dims({-1}), dims({2}), dims({1})), {"slice: [-1, 2) of axis 0"});
    expect_error({Type(f64, {4})}, cut(dims({3}), dims({2}), dims({1})), {"slice: [3, 2) of axis 0"});
    expect_error({Type(f64, {4})}, cut(dims({0}), dims({2}), dims({0})), {"slice: stride 0 of axis 0, expected at least 1"});
    expect_error({Type(f64, {4})}, cut(dims({0, 0}), dims({2, 2}), dims({1, 1})),
                 {"slice: start [0,0] for the operand f64[4], expected 1 entries"});
}

TEST(Concatenate, JoinsAlongAnAxis) {
    const Program join = [](Builder&, std::span<const Value> x) {
        return Values{ops::concatenate(std::vector<Value>{x[0] * x[0], x[1], x[0]}, 1)};
    };
    const Arguments x{literal({2, 1}, {1, 2}), literal({2, 2}, {3, 4, 5, 6})};
    EXPECT_EQ(run1(join, x), literal({2, 4}, {1, 3, 4, 1, 4, 5, 6, 2}));
    check_program(x, join);
    check_derivatives(build(x, join), x, {.active = {false, true}}, "concatenate by the second");
    const Program alone = [](Builder&, std::span<const Value> v) { return Values{ops::concatenate(v, 0)}; };
    check_program({literal({2}, {1, 2})}, alone);
    check_program({literal({2}, {1, 2}), literal(Shape{0}, std::vector<double>{})}, alone);
    expect_error({Type(f64, {2}), Type(f32, {2})}, alone, {"concatenate: operands f64[2] and f32[2], expected one dtype"});
    expect_error({Type(f64, {2, 3}), Type(f64, {4})}, alone, {"concatenate: operands f64[2,3] and f64[4]"});
    expect_error({Type(f64, {2, 3}), Type(f64, {2, 2})}, alone, {"equal but along axis 0"});
    expect_error({Type(f64, {})}, alone, {"concatenate: axis 0 is out of range for rank 0"});
}

Program padded(Dims low, Dims high, Dims interior) {
    return [=](Builder&, std::span<const Value> x) { return Values{ops::pad(x[0], x[1], low, high, interior)}; };
}

TEST(Pad, EdgesAndGaps) {
    struct Case {
        std::int64_t low, high, interior;
        std::vector<double> expected;
    };
    const Case cases[] = {
        {1, 2, 0, {9, 1, 2, 3, 9, 9}},
        {0, 0, 1, {1, 9, 2, 9, 3}},
        {-1, 1, 0, {2, 3, 9}},
        {1, -2, 0, {9, 1}},
        {-1, -1, 1, {9, 2, 9}},
        {-2, 3, 1, {2, 9, 3, 9, 9, 9}},
        {2, -1, 2, {9, 9, 1, 9, 9, 2, 9, 9}},
        {-3, 0, 0, {}},
        {-4, 2, 0, {9}},
    };
    for (const Case& c : cases) {
        const Arguments x{literal({3}, {1, 2, 3}), literal(9.0)};
        const Program p = padded(dims({c.low}), dims({c.high}), dims({c.interior}));
        EXPECT_EQ(numbers(run1(p, x)), c.expected);
        check_program(x, p, {}, "pad");
        for (const std::vector<bool>& active : {std::vector{true, false}, std::vector{false, true}})
            check_derivatives(build(x, p), x, {.active = active}, "pad by one");
    }
    check_program({random_f64({2, 2}, 1), literal(2.0)}, padded(dims({1, -1}), dims({0, 2}), dims({1, 0})));
    check_program({literal(Shape{0}, std::vector<double>{}), literal(2.0)}, padded(dims({1}), dims({1}), dims({3})));
}

TEST(Pad, Errors) {
    expect_error({Type(f64, {3}), Type(f32, {})}, padded(dims({0}), dims({0}), dims({0})),
                 {"pad: the padding value is f32[], expected f64[]"});
    expect_error({Type(f64, {3}), Type(f64, {1})}, padded(dims({0}), dims({0}), dims({0})), {"pad: the padding value is f64[1]"});
    expect_error({Type(f64, {3}), Type(f64, {})}, padded(dims({-2}), dims({-2}), dims({0})), {"pad: axis 0 of f64[3]", "has -1 elements"});
    expect_error({Type(f64, {3}), Type(f64, {})}, padded(dims({0}), dims({0}), dims({-1})), {"pad: interior padding -1 of axis 0"});
    expect_error({Type(f64, {3}), Type(f64, {})}, padded(dims({0, 0}), dims({0}), dims({0})),
                 {"pad: low padding [0,0] for the operand f64[3]"});
    expect_error({Type(f64, {3}), Type(f64, {})}, padded(dims({std::int64_t{1} << 62}), dims({std::int64_t{1} << 62}), dims({0})),
                 {"pad", "too large"});
}

TEST(Barrier, PassesValuesThrough) {
    const Program f = [](Builder& b, std::span<const Value> x) {
        const Values v = ops::emit(b, OpCode::optimization_barrier, {x[0] * x[0], x[1]});
        return Values{v[0] * v[1]};
    };
    const Arguments x{random_f64({3}, 1), random_f64({3}, 2)};
    check_program(x, f);
    check_derivatives(build(x, f), x, {.active = {true, false}}, "barrier by the first");
}

TEST(Tokens, Types) {
    const FunctionPtr f = build(std::vector<Type>{}, [](Builder& b, std::span<const Value>) {
        const Value a = ops::emit1(b, OpCode::create_token, {});
        return Values{ops::emit1(b, OpCode::after_all, {a, a})};
    });
    EXPECT_EQ(f->result_types()[0], Type::token());
    expect_error({Type(f64, {})}, [](Builder& b, std::span<const Value> x) { return ops::emit(b, OpCode::after_all, {x[0]}); },
                 {"after_all: operands f64[], expected tokens"});
}

} // namespace
} // namespace stithy::test
