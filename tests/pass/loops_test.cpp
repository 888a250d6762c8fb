// Passes on loops: whiles as JAX prints them, counters, invariants, code motion, outer products.
#include "pass/check.hpp"
#include "pass/counted_while.hpp"
#include "transform/check.hpp"

#include <limits>

namespace stithy::test {
namespace {

using samples::mat_vec;

FunctionPtr parsed(const std::string& body, const std::string& signature) {
    return ops::parse("func.func public @main(" + signature + " {\n" + body + "\n}\n", "test.mlir").main();
}
const LoopAttr& loop_attr(const FunctionPtr& f, std::size_t n = 0) { return find_op(*f, OpCode::loop, n).get<LoopAttr>(); }

/// A scan as JAX prints it: everything that the body reads is carried, indices are guarded, slices are dynamic.
FunctionPtr jax_scan(const std::string& counter_type, bool counter_first) {
    const std::string t = "tensor<" + counter_type + ">";
    const std::string counter = "%i = %zero", order = counter_first ? counter + ", %w = %arg1, %xs = %arg0, %c = %arg2, %ys = %empty"
                                                                    : "%w = %arg1, %xs = %arg0, %c = %arg2, %ys = %empty, " + counter;
    const std::string types = counter_first ? t + ", tensor<3x3xf64>, tensor<5x3xf64>, tensor<3xf64>, tensor<5x3xf64>"
                                            : "tensor<3x3xf64>, tensor<5x3xf64>, tensor<3xf64>, tensor<5x3xf64>, " + t;
    const std::string back = counter_first ? "%next, %w, %xs, %y, %written" : "%w, %xs, %y, %written, %next";
    const std::string first = counter_first ? "1" : "0", carry = counter_first ? "3" : "2", ys = counter_first ? "4" : "3";
    static_cast<void>(first);
    return parsed(
        "  %zero = stablehlo.constant dense<0> : " + t +
            "\n  %z = stablehlo.constant dense<0.0> : tensor<f64>\n"
            "  %empty = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f64>) -> tensor<5x3xf64>\n"
            "  %r:5 = stablehlo.while(" +
            order + ") : " + types +
            "\n"
            "  cond {\n    %n = stablehlo.constant dense<5> : " +
            t +
            "\n"
            "    %p = stablehlo.compare LT, %i, %n, SIGNED : (" +
            t + ", " + t +
            ") -> tensor<i1>\n    stablehlo.return %p : tensor<i1>\n  } do {\n"
            "    %n = stablehlo.constant dense<5> : " +
            t + "\n    %k = stablehlo.constant dense<0> : " + t +
            "\n"
            "    %negative = stablehlo.compare LT, %i, %k, SIGNED : (" +
            t + ", " + t +
            ") -> tensor<i1>\n"
            "    %wrapped = stablehlo.add %i, %n : " +
            t +
            "\n"
            "    %at = stablehlo.select %negative, %wrapped, %i : tensor<i1>, " +
            t +
            "\n"
            "    %s = stablehlo.dynamic_slice %xs, %at, %k, sizes = [1, 3] : (tensor<5x3xf64>, " +
            t + ", " + t +
            ") -> tensor<1x3xf64>\n"
            "    %x = stablehlo.reshape %s : (tensor<1x3xf64>) -> tensor<3xf64>\n"
            "    %m = stablehlo.dot_general %w, %c, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>\n"
            "    %a = stablehlo.add %m, %x : tensor<3xf64>\n    %y = stablehlo.tanh %a : tensor<3xf64>\n"
            "    %row = stablehlo.reshape %y : (tensor<3xf64>) -> tensor<1x3xf64>\n"
            "    %written = stablehlo.dynamic_update_slice %ys, %row, %at, %k : (tensor<5x3xf64>, tensor<1x3xf64>, " +
            t + ", " + t +
            ") -> tensor<5x3xf64>\n"
            "    %one = stablehlo.constant dense<1> : " +
            t + "\n    %next = stablehlo.add %i, %one : " + t +
            "\n"
            "    stablehlo.return " +
            back + " : " + types +
            "\n  }\n"
            "  return %r#" +
            carry + ", %r#" + ys + " : tensor<3xf64>, tensor<5x3xf64>",
        "%arg0: tensor<5x3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<3xf64>) -> (tensor<3xf64>, tensor<5x3xf64>)");
}

const Arguments scan_arguments{random_f64({5, 3}, 1), random_f64({3, 3}, 2), random_f64({3}, 3)};

TEST(CountedWhile, ScansOfJaxBecomeLoopsThatDifferentiateInReverse) {
    for (const char* type : {"i32", "i64"})
        for (bool first : {true, false}) {
            const FunctionPtr f = jax_scan(type, first);
            const FunctionPtr settled = pass::settle_loops(f);
            expect_same(f, settled, scan_arguments, type);
            EXPECT_EQ(loop_attr(settled).length, 5);
            EXPECT_EQ(loop_attr(settled).carries, 1); // c
            EXPECT_EQ(loop_attr(settled).invariants, 1);
            EXPECT_EQ(loop_attr(settled).xs, 1);
            EXPECT_EQ(loop_attr(settled).ys, 1);
            check_transforms(settled, scan_arguments, type, 1);
        }
}

TEST(CountedWhile, TheMatrixIsPassedByReferenceAndTheGuardGoes) {
    const FunctionPtr f = pass::optimize(jax_scan("i32", true));
    EXPECT_EQ(count_ops(*f, OpCode::select), 0u);
    EXPECT_EQ(count_ops(*f, OpCode::compare), 0u);
    const transform::Linearized l = transform::linearize(f, Mask{true, true, true});
    const Op& op = find_op(*l.primal, OpCode::loop);
    for (const ir::ValueId v : op.regions[0]->results()) EXPECT_NE(op.regions[0]->type(v).str(), "f64[3,3]");
    for (const Type& t : l.primal->result_types()) EXPECT_NE(t.str(), "f64[5,3,3]");
}

TEST(CountedWhile, LimitsAndStarts) {
    const auto make = [](std::int64_t start, std::int64_t step, ir::Direction d, std::int64_t limit, DType t) {
        return build(Arguments{literal(1.1)}, [=](Builder& b, View v) {
            return while_loop(
                b, {}, {v[0], ops::constant(b, Literal::splat(Type(t, Shape{}), start))},
                [=](Builder& c, View, View x) { return ops::compare(x[1], ops::constant(c, Literal::splat(Type(t, Shape{}), limit)), d); },
                [=](Builder& c, View, View x) {
                    return Values{x[0] * 1.5, x[1] + ops::constant(c, Literal::splat(Type(t, Shape{}), step))};
                });
        });
    };
    for (DType t : {i32, i64, u32})
        for (std::int64_t start : {0, 3, 9})
            for (std::int64_t step : {1, 2, 3})
                for (ir::Direction d : {ir::Direction::lt, ir::Direction::le}) {
                    const FunctionPtr f = make(start, step, d, 7, t), settled = pass::settle_loops(f);
                    EXPECT_EQ(count_ops(*settled, OpCode::while_), 0u);
                    EXPECT_EQ(loop_attr(settled).carries, 1);
                    expect_same(f, settled, {literal(1.1)}, "limits");
                }
    EXPECT_EQ(count_ops(*pass::settle_loops(make(0, -1, ir::Direction::lt, 7, i32)), OpCode::while_), 1u); // never ends: left as it is
    EXPECT_EQ(count_ops(*pass::settle_loops(make(9, 1, ir::Direction::gt, 7, i32)), OpCode::while_), 1u);
}

TEST(CountedWhile, OnesWhoseCounterWouldWrapStay) {
    const auto make = [](std::int64_t start, std::int64_t step, ir::Direction d, std::int64_t limit, DType t) {
        return build(Arguments{literal(1.0)}, [=](Builder& b, View v) {
            return while_loop(
                b, {}, {v[0], ops::constant(b, Literal::splat(Type(t, Shape{}), start))},
                [=](Builder& c, View, View x) { return ops::compare(x[1], ops::constant(c, Literal::splat(Type(t, Shape{}), limit)), d); },
                [=](Builder& c, View, View x) {
                    return Values{x[0] + 1.0, x[1] + ops::constant(c, Literal::splat(Type(t, Shape{}), step))};
                });
        });
    };
    const auto lt = ir::Direction::lt, le = ir::Direction::le;
    constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max(), low = std::numeric_limits<std::int64_t>::min();
    struct Case {
        DType dtype;
        std::int64_t start, step, limit;
        ir::Direction direction;
        std::int64_t steps; ///< -1: it never ends, or longer than can be counted
    };
    for (const Case& c :
         std::vector<Case>{{i8, -128, 1, 127, lt, 255},      {i8, -128, 1, 127, le, -1},      {i8, -128, 1, 126, le, 255},
                           {i8, 0, 3, 126, lt, 42},          {i8, 0, 3, 127, lt, -1},         {i8, 0, 100, 101, lt, -1},
                           {u8, 0, 1, 255, lt, 255},         {u8, 0, 2, 255, lt, -1},         {u8, 200, 5, 255, lt, 11},
                           {u8, 200, 5, 255, le, -1},        {i64, high - 3, 1, high, lt, 3}, {i64, high - 3, 1, high, le, -1},
                           {i64, high - 3, 2, high, lt, -1}, {i64, low, 1, high, lt, -1},     {i64, low, high, high, lt, -1},
                           {i64, low, high, 0, lt, 2},       {i64, low, 1, low + 4, le, 5},   {u64, -5, 1, -1, lt, 4}, // at the end of u64
                           {u64, 3, 1, -1, lt, -1},          {u64, -5, 1, 7, lt, 0}}) {
        const FunctionPtr f = make(c.start, c.step, c.direction, c.limit, c.dtype), settled = pass::settle_loops(f);
        SCOPED_TRACE(std::string(c.dtype.name()) + " " + std::to_string(c.start) + " " + std::to_string(c.limit));
        EXPECT_EQ(count_ops(*settled, OpCode::while_), c.steps < 0 ? 1u : 0u);
        if (c.steps < 0) continue;
        EXPECT_EQ(loop_attr(settled).length, c.steps);
        expect_same(f, settled, {literal(1.0)}, "edges");
    }
}

TEST(CountedWhile, NumbersOfStepsThatAreDataDoNotWrap) {
    // the number of steps is operand 0 of the loop: made a result, it is seen without running the loop
    const auto steps = [](DType t, ir::Direction d, std::int64_t start, std::int64_t limit) {
        const FunctionPtr f = build(std::vector{Type(f64, {}), Type(t, {}), Type(t, {})}, [=](Builder& b, View v) {
            return while_loop(
                b, {v[2]}, {v[0], v[1]}, [=](Builder&, View i, View c) { return ops::compare(c[1], i[0], d); },
                [](Builder&, View, View c) { return Values{c[0] * 0.5, c[1] + 1.0}; });
        });
        const FunctionPtr settled = pass::count_whiles(f);
        Builder b;
        Values map(settled->value_count());
        for (std::size_t p = 0; p < 3; ++p) map[p] = Value(b, b.parameter(settled->type(static_cast<ir::ValueId>(p))));
        for (const Op& op : settled->ops()) {
            if (op.code == OpCode::loop) {
                const FunctionPtr trip = b.finish({map[op.operands[0]].id()});
                const auto at = [t](std::int64_t n) { return Literal::splat(Type(t, Shape{}), n); };
                return run(trip, {literal(1.0), at(start), at(limit)})[0].element_as_int(0);
            }
            map[op.first_result] = transform::copy_op(b, *settled, op, transform::lookup(op.operands, map))[0];
        }
        return std::int64_t{-1};
    };
    constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max(), low = std::numeric_limits<std::int64_t>::min();
    const auto lt = ir::Direction::lt, le = ir::Direction::le;
    for (ir::Direction d : {lt, le}) {
        const std::int64_t more = d == le ? 1 : 0;
        for (DType t : {i8, i32, i64, u8, u32}) {
            EXPECT_EQ(steps(t, d, 3, 10), 7 + more);
            EXPECT_EQ(steps(t, d, 10, 3), 0);
            EXPECT_EQ(steps(t, d, 3, 3), more);
        }
        EXPECT_EQ(steps(i64, d, low, high), high); // as good as for ever
        EXPECT_EQ(steps(i64, d, high, low), 0);
        EXPECT_EQ(steps(i64, d, low, low + 2), 2 + more);
        EXPECT_EQ(steps(i64, d, -2, high - 1), high);
        EXPECT_EQ(steps(i32, d, -2147483648LL, 2147483646), 4294967294LL + more);
    }
    EXPECT_EQ(steps(u32, lt, 0, 4294967295LL), 4294967295LL);
    EXPECT_EQ(steps(i8, lt, -128, 127), 255);
    EXPECT_EQ(steps(i8, le, 127, 127), high); // never ends
    EXPECT_EQ(steps(i64, lt, high - 2, high), 2);
}

TEST(CountedWhile, ALimitThatIsDataGivesATripCount) {
    const FunctionPtr f = build(std::vector{Type(f64, {}), Type(i32, {}), Type(i32, {})}, [](Builder& b, View v) {
        // the limit is carried unchanged, as in JAX's fori_loop
        return while_loop(
            b, {}, {v[1], v[2], v[0]}, [](Builder&, View, View c) { return ops::compare(c[0], c[1], ir::Direction::lt); },
            [](Builder&, View, View c) { return Values{c[0] + 1.0, c[1], c[2] * 0.5}; });
    });
    const FunctionPtr settled = pass::settle_loops(f);
    EXPECT_EQ(loop_attr(settled).length, -1);
    for (double from : {0, 2, 5})
        for (double to : {-3, 2, 6}) expect_same(f, settled, {literal(1.5), literal({}, {from}, i32), literal({}, {to}, i32)}, "data");
    check_transforms(settled, {literal(1.5), literal({}, {1}, i32), literal({}, {4}, i32)}, "data", 1);
}

TEST(CountedWhile, OthersAreLeft) {
    const FunctionPtr f = build(std::vector{Type(f64, {}), Type(i32, {})}, [](Builder& b, View v) {
        return while_loop(
            b, {}, {v[0], v[1]}, [](Builder&, View, View c) { return ops::compare(c[0], 10.0, ir::Direction::lt); },
            [](Builder&, View, View c) { return Values{c[0] * 2.0, c[1] + 1.0}; });
    });
    EXPECT_EQ(pass::settle_loops(f), f);
}

TEST(Induction, CarriedIntegersComeFromTheCounter) {
    for (bool reverse : {false, true}) {
        const FunctionPtr f = build(std::vector{Type(f64, {4}), Type(i32, {})}, [reverse](Builder& b, View v) {
            const Values out = loop(
                b, 4, {.invariants = {v[0]}, .carries = {ops::constant(b, literal({}, {2}, i32)), v[1], ops::zeros(b, Type(f64, {}))}},
                [](const LoopView& l) {
                    const Value at = ops::convert(l.carries[0], i64);
                    return Values{l.carries[0] - 1.0, l.carries[1] + 3.0,
                                  l.carries[2] * 0.5 + row(l.invariants[0], at) * ops::convert(l.carries[1], f64)};
                },
                reverse);
            return out;
        });
        const FunctionPtr g = run_pass("induction", f);
        EXPECT_EQ(loop_attr(g).carries, 1);
        expect_same(f, g, {random_f64({4}, 1), literal({}, {5}, i32)}, "induction");
    }
}

TEST(Invariants, WhatIsCarriedUnchanged) {
    const FunctionPtr f = build(std::vector{Type(f64, {2}), Type(f64, {2}), Type(f64, {3, 2})}, [](Builder& b, View v) {
        return loop(b, 3, {.carries = {v[1], v[0], v[1]}, .accumulators = {}, .xs = {v[2]}}, [](const LoopView& l) {
            return Values{l.carries[0], l.carries[1] * l.carries[2] + l.xs[0], l.carries[2], l.carries[0]};
        });
    });
    const FunctionPtr g = run_pass("invariants", f);
    EXPECT_EQ(loop_attr(g).carries, 1);
    EXPECT_EQ(loop_attr(g).invariants, 2);
    expect_same(f, g, {random_f64({2}, 1), random_f64({2}, 2), random_f64({3, 2}, 3)}, "invariants");
    EXPECT_EQ(run_pass("invariants", g), g);
}

TEST(CodeMotion, WorkOnInvariantsMovesOut) {
    const FunctionPtr f = build(std::vector{Type(f64, {8, 8}), Type(f64, {8})}, [](Builder& b, View v) {
        return loop(b, 5, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            const Value m = ops::exp(ops::transpose(l.invariants[0], [] {
                Dims d;
                d.push_back(1);
                d.push_back(0);
                return d;
            }()));
            return Values{ops::tanh(mat_vec(m, l.carries[0]))};
        });
    });
    const FunctionPtr g = run_pass("licm", f);
    const ir::Function& body = *find_op(*g, OpCode::loop).regions[0];
    EXPECT_EQ(count_ops(body, OpCode::exponential), 0u);
    EXPECT_EQ(count_ops(body, OpCode::transpose), 0u);
    expect_same(f, g, {random_f64({8, 8}, 1), random_f64({8}, 2)}, "licm");
}

TEST(CodeMotion, ThroughNestedLoopsAndNotForBroadcasts) {
    const FunctionPtr f = build(std::vector{Type(f64, {4}), Type(f64, {4, 512})}, [](Builder& b, View v) {
        return loop(b, 2, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            return loop(l.builder, 3, {.invariants = {l.invariants[0]}, .carries = {l.carries[0]}}, [](const LoopView& k) {
                const Value wide = ops::broadcast_in_dim(ops::exp(k.invariants[0]), {4, 512}, Dims(1, 0));
                return Values{k.carries[0] * wide};
            });
        });
    });
    const FunctionPtr g = run_pass("licm", f);
    EXPECT_EQ(count_ops(*find_op(*g, OpCode::loop).regions[0], OpCode::exponential), 0u);
    EXPECT_EQ(count_ops(*find_op(*find_op(*g, OpCode::loop).regions[0], OpCode::loop).regions[0], OpCode::broadcast_in_dim), 1u);
    expect_same(f, g, {random_f64({4}, 1), random_f64({4, 512}, 2)}, "nested");
}

// ---- comparisons with the counter ----

/// `steps` steps that add up where(i < limit, 1, 2), or where(last - i < 0, 1, 2).
FunctionPtr guarded(std::int64_t steps, std::int64_t number, bool from_the_end) {
    return build(std::vector{Type(f64, {})}, [=](Builder& b, View v) {
        return loop(b, steps, {.carries = {v[0]}}, [=](const LoopView& l) {
            const auto integer = [&](std::int64_t n) { return ops::constant(l.builder, ir::Literal::splat(Type(i64, Shape{}), n)); };
            const Value p = from_the_end ? ops::compare(integer(number) - l.counter, integer(0), ir::Direction::lt)
                                         : ops::compare(l.counter, integer(number), ir::Direction::lt);
            return Values{l.carries[0] + ops::select(p, ops::full_like(l.carries[0], 1), ops::full_like(l.carries[0], 2))};
        });
    });
}

TEST(Comparisons, OfTheCounterAreDecidedOnlyByTheFormOfTheProgram) {
    struct Case {
        std::int64_t steps, number;
        bool from_the_end, decided;
    };
    for (const Case& c : {Case{100, 50, false, false}, Case{40, 50, false, false}, Case{50, 50, false, true}, Case{40, -1, false, true},
                          Case{50, 49, true, true}, Case{50, 60, true, false}, Case{50, 40, true, false}}) {
        SCOPED_TRACE(std::to_string(c.steps) + " steps, " + std::to_string(c.number));
        const FunctionPtr f = guarded(c.steps, c.number, c.from_the_end), g = run_pass("simplify", f);
        EXPECT_EQ(count_ops(*g, OpCode::select), c.decided ? 0u : 1u);
        expect_same(f, g, {random_f64({}, 1)}, "values");
    }
}

// ---- outer products ----

/// The pullback of `steps` steps of tanh(K c) or tanh(c K), K n x n.
FunctionPtr recurrent_pullback(std::int64_t steps, std::int64_t n, bool matrix_left, bool reverse) {
    const FunctionPtr f = build(std::vector{Type(f64, {n, n}), Type(f64, {n})}, [=](Builder& b, View v) {
        return Values{loop(
            b, steps, {.invariants = {v[0]}, .carries = {v[1]}},
            [=](const LoopView& l) {
                ir::DotAttr d;
                d.lhs_contract = Dims(1, matrix_left ? 1 : 0);
                d.rhs_contract = Dims(1, 0);
                return Values{ops::tanh(matrix_left ? ops::dot_general(l.invariants[0], l.carries[0], d)
                                                    : ops::dot_general(l.carries[0], l.invariants[0], d))};
            },
            reverse)[0]};
    });
    return pullback_of(f, Mask{true, true});
}

TEST(OuterProducts, BecomeMatrixProductsOfChunks) {
    for (bool left : {true, false})
        for (bool reverse : {false, true})
            for (std::int64_t steps : {31, 32, 128, 131, 300}) {
                const FunctionPtr f = recurrent_pullback(steps, 24, left, reverse);
                EXPECT_EQ(count_ops(*f, OpCode::transpose), 0u);
                const FunctionPtr g = pass::optimize(f), plain = pass::optimize(f, {.off = "outer-products", .after = {}});
                const Arguments x{random_f64({24, 24}, 1, -0.3, 0.3), random_f64({24}, 2), random_f64({24}, 3)};
                expect_same(plain, g, x, "steps " + std::to_string(steps), 1e-9);
                std::size_t products = 0; // of rank-2 factors
                const std::function<void(const ir::Function&)> look = [&](const ir::Function& h) {
                    for (const Op& op : h.ops()) {
                        if (op.code == OpCode::dot_general && h.type(op.operands[0]).rank() == 2 && h.type(op.operands[1]).rank() == 2)
                            ++products;
                        for (const FunctionPtr& r : op.regions) look(*r);
                    }
                };
                look(*g);
                EXPECT_EQ(products, steps < 32 ? 0u : steps == 131 ? 2u : 1u) << steps;
            }
}

TEST(OuterProducts, BatchesAndFactorsThatAreSlices) {
    // y = x_t W with x_t [b, n] given: the sum over b and t
    const FunctionPtr f = build(std::vector{Type(f64, {24, 24}), Type(f64, {40, 3, 24})}, [](Builder& b, View v) {
        return Values{
            loop(b, 40, {.invariants = {v[0]}, .carries = {ops::zeros(b, Type(f64, {3, 24}))}, .xs = {v[1]}}, [](const LoopView& l) {
                ir::DotAttr d;
                d.lhs_contract = Dims(1, 1);
                d.rhs_contract = Dims(1, 0);
                return Values{ops::tanh(ops::dot_general(l.xs[0], l.invariants[0], d) + l.carries[0] * 0.5)};
            })[0]};
    });
    const FunctionPtr back = pullback_of(f, Mask{true, false});
    const FunctionPtr g = pass::optimize(back), plain = pass::optimize(back, {.off = "outer-products", .after = {}});
    EXPECT_NE(g, plain);
    const Arguments x{random_f64({24, 24}, 1, -0.3, 0.3), random_f64({40, 3, 24}, 2), random_f64({3, 24}, 3)};
    expect_same(plain, g, x, "slices", 1e-9);
    const transform::BatchedFunction m = transform::vmap(back, Mask{false, false, true}, 2);
    const FunctionPtr gm = pass::optimize(m.function), plain_m = pass::optimize(m.function, {.off = "outer-products", .after = {}});
    expect_same(plain_m, gm, {x[0], x[1], random_f64({2, 3, 24}, 3)}, "batched", 1e-9);
}

TEST(OuterProducts, SmallOnesStay) {
    const FunctionPtr f = recurrent_pullback(200, 4, true, false);
    EXPECT_EQ(run_pass("outer-products", f), f);
}

TEST(Accumulators, CalleesAddIntoTheLoopsAccumulator) {
    const FunctionPtr f = build(std::vector{Type(f64, {500, 2}), Type(f64, {2})}, [](Builder& b, View v) {
        return loop(b, 500, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            return call(l.builder, {l.invariants[0], l.carries[0], l.counter},
                        [](Builder&, View a) { return Values{ops::sin(row(a[0], a[2])) * a[1]}; });
        });
    });
    const FunctionPtr back = pass::optimize(pullback_of(f, Mask{true, true}));
    const ir::Function& body = *find_op(*back, OpCode::loop, 1).regions[0];
    EXPECT_EQ(count_ops(body, OpCode::freeze), 0u);
    EXPECT_EQ(count_ops(body, OpCode::accumulator_zeros), 0u);
    EXPECT_EQ(count_ops(body, OpCode::accumulator_add_at), 1u);
}

} // namespace
} // namespace stithy::test
