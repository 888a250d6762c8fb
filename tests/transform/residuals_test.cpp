// What a loop keeps for its reverse: the census of residuals of programs whose answer is known.
#include "transform/check.hpp"
#include "transform/samples.hpp"

namespace stithy::test {
namespace {

using samples::mat_vec;
using samples::real;

/// The loop of a linearized function's primal half, its ys by type, and whether the linear half takes what by reference.
struct Census {
    FunctionPtr primal, linear;
    std::vector<transform::ResidualSource> residuals;
    std::vector<std::string> stacked; ///< per step
    LoopAttr primal_loop, linear_loop;
};
Census census(const std::vector<Type>& parameters, const Program& program, std::size_t own_ys = 0) {
    const FunctionPtr f = build(parameters, program);
    const transform::Linearized l = transform::linearize(f, differentiable_parameters(*f));
    verify(l.primal);
    verify(l.linear);
    Census c{l.primal, l.linear, l.residuals, {}, {}, {}};
    const Op& op = find_op(*l.primal, OpCode::loop);
    c.primal_loop = op.get<LoopAttr>();
    c.linear_loop = find_op(*l.linear, OpCode::loop).get<LoopAttr>();
    const ir::LoopLayout layout(c.primal_loop);
    for (std::size_t y = own_ys; y < layout.ys; ++y)
        c.stacked.push_back(op.regions[0]->type(op.regions[0]->results()[layout.y_result(y)]).str());
    return c;
}
using Strings = std::vector<std::string>;

TEST(Residuals, SpringsKeepOnePositionAStepAndTheMatrixByReference) {
    const Census c = census({Type(f64, {200, 200}), Type(f64, {200})}, [](Builder& b, View v) {
        const Values end = loop(b, 5000, {.invariants = {v[0]}, .carries = {v[1], ops::zeros_like(v[1])}}, [](const LoopView& l) {
            const Value velocity = l.carries[1] + mat_vec(l.invariants[0], l.carries[0]) * 2e-4;
            return Values{l.carries[0] + velocity * 2e-4, velocity};
        });
        return Values{end[0]};
    });
    EXPECT_EQ(c.stacked, Strings{"f64[200]"});
    std::size_t matrices = 0;
    for (const auto& r : c.residuals)
        if (r.kind == transform::ResidualSource::parameter && r.index == 0) ++matrices;
    EXPECT_EQ(matrices, 1u);
    for (const Type& t : c.primal->result_types()) EXPECT_NE(t.str(), "f64[200,200]"); // not copied as an extra result
    EXPECT_EQ(c.residuals.size(), 2u);                                                 // the matrix and the stacked positions
}

TEST(Residuals, WhatTheCounterGivesIsRecomputed) {
    const Census c = census({Type(f64, {100, 8}), Type(f64, {8})}, [](Builder& b, View v) {
        return loop(b, 100, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            const Value weight = ops::broadcast_to(real(l.counter), {8}) * 0.5;
            return Values{l.carries[0] * row(l.invariants[0], l.counter) * weight};
        });
    });
    // d carry' = carry_t * weight * d row + ...: the carry is kept, the row read again by the counter
    EXPECT_EQ(c.stacked, Strings{"f64[8]"});
}

TEST(Residuals, LinearInTheCarryWithKnownRowsKeepsNothing) {
    const FunctionPtr f = build({Type(f64, {100, 8}), Type(f64, {8})}, [](Builder& b, View v) {
        return loop(b, 100, {.invariants = {v[0]}, .carries = {v[1]}},
                    [](const LoopView& l) { return Values{l.carries[0] * row(l.invariants[0], l.counter)}; });
    });
    const transform::Linearized l = transform::linearize(f, Mask{false, true});
    const Op& op = find_op(*l.primal, OpCode::loop);
    EXPECT_EQ(op.get<LoopAttr>().ys, 0);
    EXPECT_EQ(l.residuals.size(), 1u);
    EXPECT_EQ(l.residuals[0].kind, transform::ResidualSource::parameter);
}

TEST(Residuals, SlicedInputsArePassedAgain) {
    const Census c = census({Type(f64, {50, 4}), Type(f64, {4})}, [](Builder& b, View v) {
        return loop(b, 50, {.carries = {v[1]}, .xs = {v[0]}}, [](const LoopView& l) { return Values{l.carries[0] * l.xs[0]}; });
    });
    EXPECT_EQ(c.stacked, Strings{"f64[4]"}); // the carry; the slice of xs is passed again
    std::size_t again = 0;
    for (const auto& r : c.residuals) again += r.kind == transform::ResidualSource::parameter && r.index == 0 ? 1 : 0;
    EXPECT_EQ(again, 1u);
}

TEST(Residuals, TanhKeepsItsResultOnce) {
    const Census c = census({Type(f64, {16})}, [](Builder& b, View v) {
        return loop(b, 50, {.carries = {v[0]}}, [](const LoopView& l) { return Values{ops::tanh(l.carries[0])}; });
    });
    EXPECT_EQ(c.stacked, Strings{"f64[16]"});
}

TEST(Residuals, AStackedResultServesAsResidual) {
    const Census c = census(
        {Type(f64, {16})},
        [](Builder& b, View v) {
            return loop(b, 50, {.carries = {v[0]}}, [](const LoopView& l) {
                const Value y = ops::tanh(l.carries[0]);
                return Values{y, y};
            });
        },
        1);
    EXPECT_EQ(c.stacked, Strings{});
    EXPECT_EQ(c.residuals.size(), 1u);
    EXPECT_EQ(c.residuals[0].kind, transform::ResidualSource::result);
}

TEST(Residuals, CheapChainsAreRecomputed) {
    const Census c = census({Type(f64, {16})}, [](Builder& b, View v) {
        return loop(b, 50, {.carries = {v[0]}}, [](const LoopView& l) {
            const Value x = l.carries[0], y = x * x * 0.5 + x, z = y * y - x; // all from x
            return Values{z * y * 0.1};
        });
    });
    EXPECT_EQ(c.stacked, Strings{"f64[16]"});
}

TEST(Residuals, ExpensiveCoefficientsAreKeptInsteadOfTheirArgument) {
    const Census c = census({Type(f64, {16})}, [](Builder& b, View v) {
        return loop(b, 50, {.carries = {v[0]}}, [](const LoopView& l) { return Values{ops::sin(l.carries[0])}; });
    });
    EXPECT_EQ(c.stacked, Strings{"f64[16]"}); // cos x
    EXPECT_EQ(count_ops(*c.linear, OpCode::cosine), 0u);
}

TEST(Residuals, ReductionsOfWhatIsKeptAreKeptThemselves) {
    // s = sum(x * x) is small: stored rather than summed again
    const Census c = census({Type(f64, {64})}, [](Builder& b, View v) {
        return loop(b, 50, {.carries = {v[0]}}, [](const LoopView& l) {
            const Value s = ops::reduce_sum(l.carries[0] * l.carries[0], Dims(1, 0));
            return Values{ops::sin(l.carries[0]) * ops::broadcast_to(s, {64})};
        });
    });
    std::int64_t numbers_kept = 0;
    for (const std::string& s : c.stacked) numbers_kept += s == "f64[64]" ? 64 : 1;
    EXPECT_LE(numbers_kept, 3 * 64 + 1);
    EXPECT_EQ(count_ops(*c.linear, OpCode::reduce), 1u); // the tangent's own sum
}

TEST(Residuals, ABroadcastIsNotStacked) {
    const Census c = census({Type(f64, {}), Type(f64, {64})}, [](Builder& b, View v) {
        return loop(b, 50, {.invariants = {v[1]}, .carries = {v[0]}}, [](const LoopView& l) {
            const Value wide = ops::broadcast_to(ops::exp(l.carries[0]), {64});
            return Values{ops::reduce_sum(wide * l.invariants[0], Dims(1, 0)) * 0.01};
        });
    });
    for (const std::string& s : c.stacked) EXPECT_EQ(s, "f64[]");
    EXPECT_LE(c.stacked.size(), 2u);
}

TEST(Residuals, OnlyWhatIsAskedForIsKept) {
    // the matrix is not differentiated: the positions need not be kept
    const FunctionPtr f = build({Type(f64, {8, 8}), Type(f64, {8})}, [](Builder& b, View v) {
        return loop(b, 50, {.invariants = {v[0]}, .carries = {v[1]}},
                    [](const LoopView& l) { return Values{mat_vec(l.invariants[0], l.carries[0])}; });
    });
    const transform::Linearized l = transform::linearize(f, Mask{false, true});
    EXPECT_EQ(find_op(*l.primal, OpCode::loop).get<LoopAttr>().ys, 0);
}

TEST(Transpose, WindowsOfAnInvariantAreAddedInPlace) {
    const FunctionPtr f = build({Type(f64, {1000, 8}), Type(f64, {8})}, [](Builder& b, View v) {
        return loop(b, 1000, {.invariants = {v[0]}, .carries = {v[1]}},
                    [](const LoopView& l) { return Values{l.carries[0] * row(l.invariants[0], l.counter)}; });
    });
    const FunctionPtr back = pullback_of(f, Mask{true, true});
    EXPECT_EQ(count_ops(*back, OpCode::accumulator_add_at), 1u);
    EXPECT_EQ(count_ops(*back, OpCode::dynamic_update_slice), 0u);
    const ir::Function& body = *find_op(*back, OpCode::loop, 1).regions[0];
    for (std::size_t v = body.parameter_count(); v < body.value_count(); ++v) {
        const Type& t = body.type(static_cast<ir::ValueId>(v));
        EXPECT_TRUE(t.is_accumulator() || t.elements() <= 8) << t.str();
    }
}

TEST(Transpose, DeadCarriesAreNotCarriedBack) {
    const FunctionPtr f = build({Type(f64, {4}), Type(f64, {4})}, [](Builder& b, View v) {
        const Values out = loop(b, 9, {.carries = {v[0], v[1]}},
                                [](const LoopView& l) { return Values{ops::sin(l.carries[0]), l.carries[0] * l.carries[1]}; });
        return Values{out[0]};
    });
    const transform::Linearized l = transform::linearize(f, Mask{true, true}, Mask{true});
    EXPECT_EQ(find_op(*l.linear, OpCode::loop).get<LoopAttr>().carries, 1);
}

} // namespace
} // namespace stithy::test
