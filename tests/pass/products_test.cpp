// Products that read their operands as they lie.
#include "pass/check.hpp"
#include "transform/check.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace stithy::test {
namespace {

ir::DotAttr contract(std::initializer_list<std::int64_t> left, std::initializer_list<std::int64_t> right) {
    ir::DotAttr d;
    d.lhs_contract = dims(left);
    d.rhs_contract = dims(right);
    return d;
}

TEST(FoldTransposes, OperandsAreReadAsTheyLie) {
    const FunctionPtr f = build(std::vector{Type(f64, {9, 7}), Type(f64, {8, 9})}, [](Builder&, View v) {
        return Values{ops::dot_general(ops::transpose(v[0], dims({1, 0})), ops::transpose(v[1], dims({1, 0})), contract({1}, {0}))};
    });
    const FunctionPtr g = run_pass("dce", run_pass("products", f));
    EXPECT_EQ(count_ops(*g, OpCode::transpose), 0u);
    expect_same(f, g, {random_f64({9, 7}, 1), random_f64({8, 9}, 2)}, "both");
    EXPECT_EQ(run_pass("products", g), g);
}

TEST(FoldTransposes, ATransposedProductExchangesItsOperands) {
    const FunctionPtr f = build(std::vector{Type(f64, {3, 9, 7}), Type(f64, {3, 7, 8})}, [](Builder&, View v) {
        ir::DotAttr d = contract({2}, {1});
        d.lhs_batch = d.rhs_batch = dims({0});
        return Values{ops::transpose(ops::dot_general(v[0], v[1], d), dims({0, 2, 1}))};
    });
    const FunctionPtr g = run_pass("dce", run_pass("products", f));
    EXPECT_EQ(count_ops(*g, OpCode::transpose), 0u);
    expect_same(f, g, {random_f64({3, 9, 7}, 1), random_f64({3, 7, 8}, 2)}, "exchanged");
}

TEST(FoldTransposes, AProductThatOthersReadStays) {
    const FunctionPtr f = build(std::vector{Type(f64, {9, 7}), Type(f64, {7, 9})}, [](Builder&, View v) {
        const Value p = ops::dot_general(v[0], v[1], contract({1}, {0}));
        return Values{ops::transpose(p, dims({1, 0})) + p};
    });
    const FunctionPtr g = run_pass("products", f);
    EXPECT_EQ(count_ops(*g, OpCode::dot_general), 1u);
}

TEST(FoldTransposes, AnyOrderOfAxes) {
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        // lhs has axes b, i, j, k, l in some order, rhs b, k, l, m in another; k and l are contracted
        const std::int64_t extent[] = {2, 3, 4, 5, static_cast<std::int64_t>(1 + round % 3), 6};
        std::vector<int> left{0, 1, 2, 3, 4}, right{0, 3, 4, 5};
        std::shuffle(left.begin(), left.end(), random);
        std::shuffle(right.begin(), right.end(), random);
        const auto place = [](const std::vector<int>& axes, int a) { return std::find(axes.begin(), axes.end(), a) - axes.begin(); };
        ir::DotAttr d;
        d.lhs_batch.push_back(place(left, 0));
        d.rhs_batch.push_back(place(right, 0));
        for (int a : {4, 3}) {
            d.lhs_contract.push_back(place(left, a));
            d.rhs_contract.push_back(place(right, a));
        }
        Dims of_left, of_right, permutation;
        for (int a : left) of_left.push_back(extent[a]);
        for (int a : right) of_right.push_back(extent[a]);
        std::vector<std::int64_t> order(4);
        std::iota(order.begin(), order.end(), 0);
        if (round % 2) std::shuffle(order.begin(), order.end(), random);
        for (std::int64_t o : order) permutation.push_back(o);
        const FunctionPtr f = build(std::vector{Type(f64, Shape(of_left)), Type(f64, Shape(of_right))},
                                    [&](Builder&, View v) { return Values{ops::transpose(ops::dot_general(v[0], v[1], d), permutation)}; });
        const FunctionPtr g = run_pass("products", f);
        expect_same(f, g, {random_f64(Shape(of_left), 1), random_f64(Shape(of_right), 2)}, "round " + std::to_string(round));
        const FunctionPtr again = run_pass("products", g); // exchanged operands are sorted by the other side
        expect_same(f, again, {random_f64(Shape(of_left), 1), random_f64(Shape(of_right), 2)}, "again");
        EXPECT_EQ(run_pass("products", again), again) << round;
    }
}

/// 40 steps of tanh(r(M) c), r a rearrangement of the invariant M.
FunctionPtr steps_of(const std::function<Value(Value)>& r, const Shape& shape, const ir::DotAttr& numbers) {
    return build(std::vector{Type(f64, shape), Type(f64, {24})}, [&](Builder& b, View v) {
        return Values{loop(b, 40, {.invariants = {v[0]}, .carries = {v[1]}}, [&](const LoopView& l) {
            return Values{ops::tanh(ops::reshape(ops::dot_general(r(l.invariants[0]), l.carries[0], numbers), Shape{24}))};
        })[0]};
    });
}

TEST(FoldTransposes, WhatAProductReadsIsLaidOutBeforeTheLoop) {
    struct Case {
        const char* name;
        Shape shape;
        std::function<Value(Value)> rearranged;
        ir::DotAttr dims;
    };
    const Case cases[] = {
        {"transposed", {24, 24}, [](Value m) { return ops::transpose(m, dims({1, 0})); }, contract({1}, {0})},
        {"slice", {30, 25}, [](Value m) { return ops::slice(m, dims({3, 1}), dims({27, 25})); }, contract({1}, {0})},
        {"reversed", {24, 24}, [](Value m) { return ops::reverse(m, dims({0})); }, contract({1}, {0})},
        {"axes between", {4, 24, 6}, [](Value m) { return m; }, contract({1}, {0})},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        FunctionPtr f = steps_of(c.rearranged, c.shape, c.dims);
        const FunctionPtr g = pass::optimize(f);
        const ir::Function& body = *find_op(*g, OpCode::loop).regions[0];
        for (OpCode code : {OpCode::transpose, OpCode::slice, OpCode::reverse}) EXPECT_EQ(count_ops(body, code), 0u);
        const Arguments x{random_f64(c.shape, 1, -0.2, 0.2), random_f64({24}, 2)};
        expect_same(f, g, x, "value");
        const FunctionPtr back = pullback_of(f, Mask{true, true});
        expect_same(back, pass::optimize(back), {x[0], x[1], random_f64({24}, 3)}, "pullback", 1e-9);
    }
}

TEST(OuterProducts, ElementwiseOnesBecomeMatrixProductsToo) {
    // c <- tanh(sum over columns of M * c): the cotangent of M is an outer product without a dot_general
    const FunctionPtr f = build(std::vector{Type(f64, {24, 24}), Type(f64, {24})}, [](Builder& b, View v) {
        return Values{loop(b, 64, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            const Value rows = ops::broadcast_in_dim(l.carries[0], {24, 24}, dims({1}));
            return Values{ops::tanh(ops::reduce(OpCode::add, l.invariants[0] * rows, dims({1})))};
        })[0]};
    });
    const FunctionPtr back = pullback_of(f, Mask{true, true});
    const FunctionPtr g = pass::optimize(back);
    const Arguments x{random_f64({24, 24}, 1, -0.2, 0.2), random_f64({24}, 2), random_f64({24}, 3)};
    expect_same(back, g, x, "pullback", 1e-9);
    EXPECT_EQ(count_ops(*g, OpCode::dot_general), 1u);
}

} // namespace
} // namespace stithy::test
