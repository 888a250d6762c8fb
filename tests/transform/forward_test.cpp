// while loops: forwards and batched; what cannot be done says so; dead code in loops.
#include "transform/check.hpp"
#include "transform/samples.hpp"

namespace stithy::test {
namespace {

/// Newton's square root of a until it is near enough.
Program newton() {
    return [](Builder& b, View v) {
        const Value count = ops::constant(b, literal({}, {0}, i32));
        return while_loop(
            b, {v[0]}, {v[1], count},
            [](Builder&, View inv, View c) { return ops::compare(ops::abs(c[0] * c[0] - inv[0]), 1e-9, ir::Direction::gt); },
            [](Builder&, View inv, View c) { return Values{(c[0] + inv[0] / c[0]) * 0.5, c[1] + 1.0}; });
    };
}

TEST(While, DifferentiatesForwards) {
    const FunctionPtr f = build({Type(f64, {}), Type(f64, {})}, newton());
    const transform::JvpFunction j = transform::jvp(f, Mask{true, true});
    verify(j.function);
    const Arguments out = run(j.function, {literal(2.0), literal(1.5), literal(1.0), literal(0.0)});
    EXPECT_NEAR(numbers(out[0])[0], std::sqrt(2.0), 1e-8);
    EXPECT_NEAR(numbers(out[2])[0], 0.5 / std::sqrt(2.0), 1e-5);
    const transform::JvpFunction twice = transform::jvp(j.function, Mask{true, false, false, false});
    verify(twice.function);
}

TEST(While, ReverseIsAClearError) {
    const FunctionPtr f = build({Type(f64, {}), Type(f64, {})}, newton());
    try {
        transform::linearize(f, Mask{true, true});
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("loop of unknown length"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("fori_loop"), std::string::npos) << e.what();
    }
}

TEST(While, EachExampleStopsInItsOwnTime) {
    const FunctionPtr f = build({Type(f64, {}), Type(f64, {})}, newton());
    const transform::BatchedFunction m = transform::vmap(f, Mask{true, false}, 3);
    verify(m.function);
    const Arguments out = run(m.function, {literal({3}, {2.0, 1e6, 1.0}), literal(1.0)});
    for (int k = 0; k < 3; ++k) EXPECT_EQ(slice_of(out[0], k), run(f, {slice_of(literal({3}, {2.0, 1e6, 1.0}), k), literal(1.0)})[0]);
    EXPECT_EQ(numbers(out[1])[2], 0);
    EXPECT_GT(numbers(out[1])[1], numbers(out[1])[0]);
}

TEST(While, ABatchedStartWithACommonPredicateKeepsOnePredicate) {
    const FunctionPtr f = build({Type(f64, {2}), Type(i32, {})}, [](Builder& b, View v) {
        return while_loop(
            b, {v[1]}, {v[0], ops::constant(b, literal({}, {0}, i32))},
            [](Builder&, View inv, View c) { return ops::compare(c[1], inv[0], ir::Direction::lt); },
            [](Builder&, View, View c) { return Values{c[0] * c[0], c[1] + 1.0}; });
    });
    const transform::BatchedFunction m = transform::vmap(f, Mask{true, false}, 4);
    verify(m.function);
    EXPECT_FALSE(m.batched_results[1]);
    EXPECT_EQ(count_ops(*m.function, OpCode::reduce), 0u);
    check_vmap(f, {random_f64({2}, 1), literal({}, {3}, i32)}, "counted");
}

TEST(Case, ABatchedIndexSelects) {
    const FunctionPtr f = build({Type(f64, {}), Type(i32, {})}, [](Builder& b, View v) {
        return branch(b, v[1], {v[0]},
                      {[](Builder&, View a) { return Values{ops::sin(a[0])}; }, [](Builder&, View a) { return Values{a[0] * 2.0}; },
                       [](Builder&, View a) { return Values{-a[0]}; }});
    });
    const transform::BatchedFunction m = transform::vmap(f, Mask{false, true}, 5);
    verify(m.function);
    const Arguments out = run(m.function, {literal(0.5), literal({5}, {0, 1, 2, -1, 9}, i32)});
    const std::vector<double> expected{std::sin(0.5), 1, -0.5, -0.5, -0.5};
    for (std::size_t k = 0; k < 5; ++k) EXPECT_DOUBLE_EQ(numbers(out[0])[k], expected[k]);
}

TEST(Loop, ABatchedTripCountIsAnError) {
    const FunctionPtr f = build({Type(f64, {}), Type(i64, {})}, [](Builder& b, View v) {
        return loop(b, -1, {.carries = {v[0]}, .trip = v[1]}, [](const LoopView& l) { return Values{l.carries[0] * 0.5}; });
    });
    EXPECT_THROW(transform::vmap(f, Mask{false, true}, 2), Error);
    EXPECT_NO_THROW(transform::vmap(f, Mask{true, false}, 2));
}

TEST(Linear, AHalfThatIsNotLinearIsRefused) {
    // x * x with x marked linear
    Builder b("f");
    const Value x(b, b.parameter(Type(f64, {2}), true));
    const FunctionPtr f = b.finish({(x * x).id()});
    EXPECT_THROW(ir::verify(*f), InternalError);
}

TEST(DeadCode, LeavesLoopsWithWhatIsNeeded) {
    const FunctionPtr f = build({Type(f64, {2}), Type(f64, {5, 2}), Type(f64, {2})}, [](Builder& b, View v) {
        const Values out =
            loop(b, 5, {.invariants = {v[2], v[0]}, .carries = {v[0], v[0], v[0]}, .xs = {v[1], v[1]}}, [](const LoopView& l) {
                return Values{ops::sin(l.carries[0]) + l.xs[0], l.carries[1] * l.carries[0] * l.invariants[0], l.carries[2] * l.xs[1],
                              ops::exp(l.carries[1]), l.carries[0]};
            });
        return Values{out[0], out[4]};
    });
    const FunctionPtr live = transform::eliminate_dead(f);
    verify(live);
    const LoopAttr a = find_op(*live, OpCode::loop).get<LoopAttr>();
    EXPECT_EQ(a.carries, 1);
    EXPECT_EQ(a.xs, 1);
    EXPECT_EQ(a.ys, 1);
    EXPECT_EQ(a.invariants, 0);
    const Arguments x{random_f64({2}, 1), random_f64({5, 2}, 2), random_f64({2}, 3)};
    const Arguments before = run(f, x), after = run(live, x);
    for (std::size_t r = 0; r < before.size(); ++r) EXPECT_EQ(before[r], after[r]);
}

TEST(DeadCode, LeavesBranchesCallsAndWhiles) {
    const FunctionPtr f = build({Type(f64, {}), Type(f64, {}), Type(boolean, {})}, [](Builder& b, View v) {
        const Values chosen = branch(
            b, v[2], {v[0], v[1]},
            {[](Builder&, View a) { return Values{ops::sin(a[0]), ops::exp(a[1])}; }, [](Builder&, View a) { return Values{a[0], a[1]}; }});
        const Values called = call(b, {chosen[0], v[1]}, [](Builder&, View a) { return Values{a[0] * 2.0, ops::log(a[1])}; });
        const Values looped = while_loop(
            b, {v[1]}, {called[0], v[0]}, [](Builder&, View, View c) { return ops::compare(c[0], 100.0, ir::Direction::lt); },
            [](Builder&, View inv, View c) { return Values{c[0] * c[0] + 1.0, c[1] * inv[0]}; });
        return Values{looped[0]};
    });
    const FunctionPtr live = transform::eliminate_dead(f);
    verify(live);
    EXPECT_EQ(count_ops(*live, OpCode::exponential) + count_ops(*live, OpCode::log), 0u);
    EXPECT_EQ(find_op(*live, OpCode::while_).result_count, 1u);
    EXPECT_EQ(find_op(*live, OpCode::call).operands.size(), 1u);
    const Arguments x{literal(0.3), literal(0.4), literal({}, {1}, boolean)};
    EXPECT_EQ(run(f, x)[0], run(live, x)[0]);
}

TEST(Memo, DerivedFunctionsAreMadeOnce) {
    const Sample s = smooth_samples()[0];
    EXPECT_EQ(transform::jvp(s.function, Mask{true, true}).function, transform::jvp(s.function, Mask{true, true}).function);
    EXPECT_EQ(transform::linearize(s.function, Mask{true, false}).linear, transform::linearize(s.function, Mask{true, false}).linear);
    EXPECT_NE(transform::vmap(s.function, Mask{true, true}, 3).function, transform::vmap(s.function, Mask{true, true}, 4).function);
}

} // namespace
} // namespace stithy::test
