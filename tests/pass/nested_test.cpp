// Deeply nested control flow: every analysis looks at each operation once, so that work grows with the size of the program; and rules that
// select, where a product with 0 would make NaN of an infinite cotangent.
#include "pass/optimize.hpp"
#include "transform/check.hpp"
#include "transform/flow.hpp"
#include "transform/samples.hpp"

#include <limits>

namespace stithy::test {
namespace {

enum class Kind { loop, while_loop, branch };

Values nested(Builder& b, Kind kind, int depth, const Values& v) {
    if (depth == 0) return {ops::sin(v[0]) * v[1] + v[1], v[1], v[2]};
    switch (kind) {
    case Kind::loop:
        return loop(b, 1, {.invariants = {}, .carries = v},
                    [=](const LoopView& l) { return nested(l.builder, kind, depth - 1, {l.carries[0], l.carries[1], l.carries[2]}); });
    case Kind::while_loop:
        return while_loop(
            b, {}, {v[0], v[1], ops::zeros_like(v[2])}, [](Builder&, View, View c) { return ops::compare(c[2], 1.0, ir::Direction::lt); },
            [=](Builder& inner, View, View c) {
                const Values out = nested(inner, kind, depth - 1, {c[0], c[1], c[2]});
                return Values{out[0], out[1], c[2] + 1.0};
            });
    case Kind::branch:
        return branch(b, ops::compare(v[2], 0.0, ir::Direction::eq), v,
                      {[=](Builder& inner, View c) { return nested(inner, kind, depth - 1, {c[0], c[1], c[2]}); },
                       [](Builder&, View c) { return Values{c[0], c[1], c[2]}; }});
    }
    return {};
}

FunctionPtr nest(Kind kind, int depth) {
    return build(std::vector{Type(f64, {3}), Type(f64, {3}), Type(i32, {})},
                 [=](Builder& b, View v) { return Values{nested(b, kind, depth, {v[0], v[1], v[2]})[0]}; });
}

const Arguments point{random_f64({3}, 1), random_f64({3}, 2), literal({}, {0}, i32)};

TEST(Nested, DerivativesAreAsLargeAsTheProgramTimesAConstant) {
    for (Kind kind : {Kind::loop, Kind::branch}) {
        std::size_t sizes[2];
        for (int i : {0, 1}) {
            const FunctionPtr f = nest(kind, 40 * (i + 1)), back = pullback_of(f, Mask{true, true, false});
            sizes[i] = count_all(*back);
            const FunctionPtr fast = pass::optimize(back);
            verify(fast);
            const Arguments x{point[0], point[1], point[2], random_f64({3}, 4)};
            const Arguments flat = run(pullback_of(nest(kind, 1), Mask{true, true, false}), x), deep = run(back, x), opt = run(fast, x);
            for (std::size_t r = 0; r < flat.size(); ++r) {
                expect_near(deep[r], flat[r], 1e-12, "deep");
                expect_near(opt[r], flat[r], 1e-12, "optimized");
            }
        }
        EXPECT_LE(sizes[1], sizes[0] * 21 / 10);
    }
}

TEST(Nested, WhilesDifferentiateForwardsAndBatch) {
    const FunctionPtr f = nest(Kind::while_loop, 60), one = nest(Kind::while_loop, 1);
    const Mask active{true, true, false};
    const FunctionPtr d = transform::jvp(f, active).function;
    verify(d);
    const Arguments x{point[0], point[1], point[2], random_f64({3}, 4), random_f64({3}, 5)};
    const Arguments got = run(d, x), expected = run(transform::jvp(one, active).function, x);
    for (std::size_t r = 0; r < got.size(); ++r) expect_near(got[r], expected[r], 1e-12, "jvp");
    const transform::BatchedFunction m = transform::vmap(f, Mask{true, false, false}, 2);
    verify(m.function);
    EXPECT_LE(count_all(*m.function), 3 * count_all(*f));
}

TEST(Nested, AFlowIsComputedOnce) {
    const FunctionPtr f = nest(Kind::loop, 3);
    EXPECT_EQ(&transform::flow_of(*f, false), &transform::flow_of(*f, false));
    const transform::Flow& flow = transform::flow_of(*f, false);
    EXPECT_EQ(flow.forward({true, false, false}), Mask{true});
    EXPECT_EQ(flow.backward({true}), (Mask{true, true, false}));
    EXPECT_EQ(transform::flow_of(*f, true).forward({false, false, true}), Mask{false});
}

TEST(InfiniteCotangents, LosersGetNothing) {
    const double inf = std::numeric_limits<double>::infinity();
    for (OpCode code : {OpCode::maximum, OpCode::minimum}) {
        const double sign = code == OpCode::maximum ? 1 : -1;
        const FunctionPtr two =
            build(std::vector{Type(f64, {2}), Type(f64, {2})}, [=](Builder&, View v) { return Values{ops::binary(code, v[0], v[1])}; });
        Arguments out = run(pullback_of(two, Mask{true, true}),
                            {literal({2}, {2 * sign, 1 * sign}), literal({2}, {1 * sign, 3 * sign}), literal({2}, {inf, inf})});
        EXPECT_EQ(numbers(out[1]), (std::vector<double>{inf, 0}));
        EXPECT_EQ(numbers(out[2]), (std::vector<double>{0, inf}));
        const FunctionPtr all =
            build(std::vector{Type(f64, {3})}, [=](Builder&, View v) { return Values{ops::reduce(code, v[0], Dims(1, 0))}; });
        out = run(pullback_of(all, Mask{true}), {literal({3}, {1 * sign, 4 * sign, 2 * sign}), literal(inf)});
        EXPECT_EQ(numbers(out[1]), (std::vector<double>{0, inf, 0}));
        const FunctionPtr at = build(std::vector{Type(f64, {2}), Type(f64, {3})}, [=](Builder& b, View v) {
            ir::ScatterAttr s;
            s.inserted_window_dims = s.scatter_dims_to_operand_dims = Dims(1, 0);
            s.index_vector_dim = 1;
            return Values{ops::emit1(b, OpCode::scatter, {v[0], ops::constant(b, literal({3, 1}, {0, 0, 1}, i32)), v[1]}, ir::make_attr(s),
                                     {ops::combiner_region(code, f64)})};
        });
        out = run(pullback_of(at, Mask{true, true}),
                  {literal({2}, {1 * sign, 5 * sign}), literal({3}, {3 * sign, 2 * sign, 1 * sign}), literal({2}, {inf, inf})});
        EXPECT_EQ(numbers(out[1]), (std::vector<double>{0, inf}));
        EXPECT_EQ(numbers(out[2]), (std::vector<double>{inf, 0, 0}));
    }
}

} // namespace
} // namespace stithy::test
