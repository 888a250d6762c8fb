// simplify, cse and dce: what goes, what must stay, and that signed zeros, NaN and wrapping integers keep their meaning.
#include "pass/check.hpp"
#include "transform/dce.hpp"

#include <limits>

namespace stithy::test {
namespace {

/// The simplified program of one f64[3] parameter (or of another type).
FunctionPtr simplified(const std::function<Value(Value)>& f, const Type& type = Type(f64, {3})) {
    return run_pass("simplify", build(std::vector{type}, [&](Builder&, View v) { return Values{f(v[0])}; }));
}
std::size_t left(const std::function<Value(Value)>& f, const Type& type = Type(f64, {3})) {
    const FunctionPtr g = transform::eliminate_dead(simplified(f, type));
    return g->ops().size();
}

TEST(Simplify, NeutralOperands) {
    EXPECT_EQ(left([](Value x) { return x * 1.0; }), 0u);
    EXPECT_EQ(left([](Value x) { return 1.0 * x; }), 0u);
    EXPECT_EQ(left([](Value x) { return x / 1.0; }), 0u);
    EXPECT_EQ(left([](Value x) { return x - 0.0; }), 0u);
    EXPECT_EQ(left([](Value x) { return x + -0.0; }), 0u);
    EXPECT_EQ(left([](Value x) { return -(-x); }), 0u);
    EXPECT_EQ(left([](Value x) { return ops::convert(x, f64); }), 0u);
    EXPECT_EQ(left([](Value x) { return x + 0.0; }, Type(i32, {3})), 0u);
    EXPECT_EQ(left([](Value x) { return ops::and_(x, x); }, Type(boolean, {3})), 0u);
    EXPECT_EQ(left([](Value x) { return ops::select(ops::compare(x, 0.0, ir::Direction::gt), x, x); }), 0u);
}

TEST(Simplify, WhatIsNotNeutralStays) {
    EXPECT_EQ(left([](Value x) { return x + 0.0; }), 2u); // -0 + 0 is 0
    EXPECT_EQ(left([](Value x) { return x * 0.0; }), 2u); // NaN * 0
    EXPECT_EQ(left([](Value x) { return x - -0.0; }), 2u);
    EXPECT_EQ(left([](Value x) { return x - x; }), 1u); // inf - inf
    const double zero = numbers(run1([](Builder&, View v) { return Values{v[0] + 0.0}; }, {literal(-0.0)}))[0];
    EXPECT_FALSE(std::signbit(zero));
}

TEST(Simplify, RearrangementsOfRearrangements) {
    const Type t(f64, {2, 3});
    EXPECT_EQ(left([](Value x) { return ops::transpose(ops::transpose(x, dims({1, 0})), dims({1, 0})); }, t), 0u);
    EXPECT_EQ(left([](Value x) { return ops::transpose(ops::transpose(x, dims({2, 0, 1})), dims({2, 0, 1})); }, Type(f64, {2, 3, 4})), 1u);
    EXPECT_EQ(left([](Value x) { return ops::reshape(ops::reshape(x, {6}), {2, 3}); }, t), 0u);
    EXPECT_EQ(left([](Value x) { return ops::reshape(ops::reshape(x, {6}), {3, 2}); }, t), 1u);
    EXPECT_EQ(left([](Value x) { return ops::broadcast_in_dim(ops::broadcast_in_dim(x, {2, 3}, dims({1})), {4, 2, 3}, dims({1, 2})); }),
              1u);
    EXPECT_EQ(left([](Value x) { return ops::slice(x, dims({0, 0}), dims({2, 3})); }, t), 0u);
    EXPECT_EQ(left([](Value x) { return ops::pad(x, ops::scalar(x.builder(), f64, 0), dims({0, 0}), dims({0, 0}), dims({0, 0})); }, t), 0u);
    EXPECT_EQ(left([](Value x) { return ops::reduce_sum(x, {}); }, t), 0u);
    const Literal a = random_f64({2, 3, 4}, 1);
    const FunctionPtr f = build(std::vector{a.type()}, [](Builder&, View v) {
        return Values{ops::transpose(ops::transpose(v[0], dims({2, 0, 1})), dims({1, 0, 2}))};
    });
    expect_same(f, run_pass("simplify", f), {a}, "permutations", 0);
}

TEST(Simplify, ConstantsFold) {
    const auto value = [](const std::function<Value(Builder&)>& f) {
        const FunctionPtr g =
            transform::eliminate_dead(run_pass("simplify", build(std::vector<Type>{}, [&](Builder& b, View) { return Values{f(b)}; })));
        EXPECT_EQ(g->ops().size(), 1u);
        EXPECT_EQ(g->ops()[0].code, OpCode::constant);
        return run(g, {})[0];
    };
    EXPECT_EQ(value([](Builder& b) { return ops::scalar(b, f64, 2) * 3.0 + 1.0; }), literal(7.0));
    EXPECT_EQ(value([](Builder& b) { return ops::convert(ops::compare(ops::scalar(b, i32, 2), 3.0, ir::Direction::lt), f64); }),
              literal(1.0));
    EXPECT_EQ(value([](Builder& b) { return ops::broadcast_to(ops::reshape(ops::scalar(b, f64, 2.5), {1}), {4}); }),
              literal({4}, {2.5, 2.5, 2.5, 2.5}));
    EXPECT_EQ(value([](Builder& b) {
                  return ops::select(ops::constant(b, literal({}, {1}, boolean)), ops::scalar(b, i32, 4), ops::scalar(b, i32, 5));
              }),
              literal(4, i32));
    // integers wrap
    const Literal top = Literal::splat(Type(i32, Shape{}), std::int64_t{std::numeric_limits<std::int32_t>::max()});
    EXPECT_EQ(value([&](Builder& b) { return ops::constant(b, top) + 1.0; }),
              Literal::splat(Type(i32, Shape{}), std::int64_t{std::numeric_limits<std::int32_t>::min()}));
    EXPECT_EQ(value([&](Builder& b) { return ops::scalar(b, u8, 200) + ops::scalar(b, u8, 100); }), literal(44, u8));
    EXPECT_EQ(value([](Builder& b) { return ops::scalar(b, boolean, 1) + ops::scalar(b, boolean, 1); }), literal(1, boolean));
    // f32 rounds once
    EXPECT_EQ(value([](Builder& b) { return ops::scalar(b, f32, 0.1) * ops::scalar(b, f32, 3); }),
              literal(static_cast<double>(0.1f * 3.0f), f32));
}

TEST(Simplify, FoldedEqualsComputed) {
    const double values[] = {
        0.0, -0.0, 1.5, -2.5, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    for (double a : values)
        for (double c : values)
            for (OpCode code : {OpCode::add, OpCode::subtract, OpCode::multiply, OpCode::divide}) {
                const FunctionPtr f = build(std::vector<Type>{}, [&](Builder& b, View) {
                    return Values{ops::binary(code, ops::scalar(b, f64, a), ops::scalar(b, f64, c))};
                });
                expect_near(run(run_pass("simplify", f), {})[0], run(f, {})[0], 0, std::string(ir::name(code)));
            }
    for (ir::Direction d :
         {ir::Direction::eq, ir::Direction::ne, ir::Direction::lt, ir::Direction::le, ir::Direction::gt, ir::Direction::ge})
        for (double a : values)
            for (double c : values) {
                const FunctionPtr f = build(std::vector<Type>{}, [&](Builder& b, View) {
                    return Values{ops::compare(ops::scalar(b, f64, a), ops::scalar(b, f64, c), d)};
                });
                EXPECT_EQ(run(run_pass("simplify", f), {})[0], run(f, {})[0]);
            }
}

TEST(Simplify, DynamicSlicesAtConstantPlaces) {
    const FunctionPtr f = build(std::vector{Type(f64, {5})}, [](Builder& b, View v) {
        const Value at[] = {ops::scalar(b, i32, 9)};
        return Values{ops::dynamic_slice(v[0], at, dims({2}))};
    });
    const FunctionPtr g = run_pass("simplify", f);
    EXPECT_EQ(count_ops(*g, OpCode::dynamic_slice), 0u);
    expect_same(f, g, {literal({5}, {0, 1, 2, 3, 4})}, "clamped", 0);
}

TEST(Simplify, GuardsOfCounters) {
    const auto loop_with = [](std::int64_t length, const std::function<Value(Value)>& test) {
        return transform::eliminate_dead(run_pass("simplify", build(std::vector{Type(f64, {})}, [&](Builder& b, View v) {
                                                      return loop(b, length, {.carries = {v[0]}}, [&](const LoopView& l) {
                                                          return Values{ops::select(test(l.counter), l.carries[0] * 2.0, l.carries[0])};
                                                      });
                                                  })));
    };
    const auto selects = [](const FunctionPtr& f) { return count_ops(*f, OpCode::select); };
    EXPECT_EQ(selects(loop_with(5, [](Value i) { return ops::compare(i, 0.0, ir::Direction::lt); })), 0u);
    EXPECT_EQ(selects(loop_with(5, [](Value i) { return ops::compare(ops::convert(i, i32), 0.0, ir::Direction::ge); })), 0u);
    EXPECT_EQ(selects(loop_with(5, [](Value i) { return ops::compare(4.0 - i, 0.0, ir::Direction::lt); })), 0u);
    EXPECT_EQ(selects(loop_with(6, [](Value i) { return ops::compare(4.0 - i, 0.0, ir::Direction::lt); })), 1u);
    EXPECT_EQ(selects(loop_with(5, [](Value i) { return ops::compare(i, 3.0, ir::Direction::lt); })), 1u);
    EXPECT_EQ(selects(loop_with(200, [](Value i) { return ops::compare(ops::convert(i, i8), 0.0, ir::Direction::lt); })), 1u); // wraps
}

TEST(Cse, SharesEqualOperationsOnly) {
    const FunctionPtr f = build(std::vector{Type(f64, {2}), Type(f64, {2})}, [](Builder& b, View v) {
        const Value a = ops::sin(v[0]) * v[1], c = ops::sin(v[0]) * v[1], d = v[1] * ops::sin(v[0]);
        const Value s = ops::reduce_sum(v[0], dims({0})), t = ops::reduce_sum(v[0], dims({0})),
                    m = ops::reduce(OpCode::maximum, v[0], dims({0}));
        const Value k = ops::constant(b, literal({2}, {1, 2})), l = ops::constant(b, literal({2}, {1, 3}));
        return Values{a + c + d, s + t + m, k + l};
    });
    const FunctionPtr g = run_pass("cse", f);
    EXPECT_EQ(count_ops(*g, OpCode::sine), 1u);
    EXPECT_EQ(count_ops(*g, OpCode::multiply), 2u);
    EXPECT_EQ(count_ops(*g, OpCode::constant), count_ops(*f, OpCode::constant) - 1); // the sums' zero
    expect_same(f, g, {random_f64({2}, 1), random_f64({2}, 2)}, "cse", 0);
    EXPECT_EQ(run_pass("cse", g), g); // nothing left: the same function
}

TEST(Cse, AccumulatorsAreNotShared) {
    const FunctionPtr f = build(std::vector{Type(f64, {2})}, [](Builder& b, View v) {
        const Value a = ops::accumulator_add(ops::accumulator_zeros(b, Type(f64, {2})), v[0]),
                    c = ops::accumulator_add(ops::accumulator_zeros(b, Type(f64, {2})), v[0]);
        return Values{ops::freeze(a), ops::freeze(c)};
    });
    expect_same(f, run_pass("cse", f), {random_f64({2}, 1)}, "accumulators", 0);
}

TEST(Passes, FunctionsThatNeedNothingAreLeftAlone) {
    const FunctionPtr f =
        build(std::vector{Type(f64, {2}), Type(f64, {2})}, [](Builder&, View v) { return Values{ops::sin(v[0]) * v[1]}; });
    for (const pass::Pass& p : pass::passes()) EXPECT_EQ(p.run(f), f) << p.name;
}

TEST(Passes, AreSwitchedOffByName) {
    const FunctionPtr f =
        build(std::vector{Type(f64, {2})}, [](Builder&, View v) { return Values{ops::sin(v[0] * 1.0) + ops::sin(v[0] * 1.0)}; });
    EXPECT_EQ(count_ops(*pass::optimize(f), OpCode::sine), 1u);
    EXPECT_EQ(count_ops(*pass::optimize(f, {.off = "cse", .after = {}}), OpCode::sine), 2u);
    EXPECT_EQ(count_ops(*pass::optimize(f, {.off = "cse,simplify", .after = {}}), OpCode::multiply), 2u);
    EXPECT_EQ(pass::optimize(f, {.off = "all", .after = {}}), f);
    const auto seen = [](const FunctionPtr& g, std::string_view off) {
        std::vector<std::string> names;
        pass::optimize(g, {.off = off, .after = [&](std::string_view name, const ir::Function&) { names.emplace_back(name); }});
        return names;
    };
    EXPECT_EQ(seen(f, "products"), (std::vector<std::string>{"simplify", "cse", "dce"})); // nothing is there for the others to do
    const FunctionPtr g = build(std::vector{Type(f64, {2})}, [](Builder& b, View v) {
        return Values{ops::freeze(ops::accumulator_add(ops::accumulator_zeros(b, Type(f64, {2})), v[0]))};
    });
    const auto names = seen(g, "licm");
    EXPECT_EQ(names.front(), "inline");
    EXPECT_EQ(std::count(names.begin(), names.end(), "licm"), 0);
}

/// A callee that looks like a sum's region is called all the same.
TEST(Passes, CalleesOfOneOperationAreInlined) {
    const FunctionPtr callee = build(std::vector{Type(f64, {}), Type(f64, {})}, [](Builder&, View v) { return Values{v[0] + v[1]}; });
    const FunctionPtr f = build(std::vector{Type(f64, {}), Type(f64, {})}, [&](Builder& b, View v) {
        return ops::emit(b, OpCode::call, v, ir::make_attr(ir::CallAttr{"callee"}), {callee});
    });
    EXPECT_EQ(count_ops(*pass::optimize(f), OpCode::call), 0u);
    EXPECT_EQ(count_ops(*pass::optimize(f), OpCode::add), 1u);
}

} // namespace
} // namespace stithy::test
