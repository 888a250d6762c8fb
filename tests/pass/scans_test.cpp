// Scans as JAX prints them: rows read and written at the counter become xs and ys.
#include "pass/check.hpp"
#include "pass/counted_while.hpp"
#include "transform/check.hpp"

namespace stithy::test {
namespace {

const LoopAttr& attr_of(const FunctionPtr& f) { return find_op(*f, OpCode::loop).get<LoopAttr>(); }

Value at_row(Value x, Value i) {
    const Value starts[] = {i, ops::constant(x.builder(), Literal::splat(Type(i.dtype(), Shape{}), 0))};
    Dims sizes = x.shape().dims();
    sizes[0] = 1;
    return ops::reshape(ops::dynamic_slice(x, starts, sizes), Shape{x.shape()[1]});
}
Value put_row(Value x, Value row_value, Value i) {
    const Value starts[] = {i, ops::constant(x.builder(), Literal::splat(Type(i.dtype(), Shape{}), 0))};
    return ops::dynamic_update_slice(x, ops::reshape(row_value, Shape{1, x.shape()[1]}), starts);
}
/// JAX's guard: i < 0 ? i + n : i.
Value guarded(Value i, std::int64_t n) { return ops::select(ops::compare(i, 0.0, ir::Direction::lt), i + static_cast<double>(n), i); }

struct Scan {
    std::int64_t steps = 5, rows = 5;
    DType index = i32;
    bool down_in = false, down_out = false; ///< which way xs are read, ys written
    double shift = 0;                       ///< of the row that is written
    bool loop_reversed = false, read_back = false, other_use = false;
};

/// c' = tanh(c * x_t + w); y_t = c'
FunctionPtr make(const Scan& s) {
    return build(std::vector{Type(f64, {s.rows, 3}), Type(f64, {3}), Type(f64, {3}), Type(f64, {s.rows, 3})}, [=](Builder& b, View v) {
        return loop(
            b, s.steps, {.invariants = {v[0], v[1]}, .carries = {v[2], v[3]}},
            [=](const LoopView& l) {
                const Value up = ops::convert(l.counter, s.index);
                const Value down = static_cast<double>(s.steps - 1) - up;
                const Value in = guarded(s.down_in ? down : up, s.rows), out = guarded((s.down_out ? down : up) + s.shift, s.rows);
                Value c = ops::tanh(l.carries[0] * at_row(l.invariants[0], in) + l.invariants[1]);
                if (s.other_use) c = c + ops::reduce_sum(l.invariants[0], Dims(1, 0));
                if (s.read_back) c = c + at_row(l.carries[1], out);
                return Values{c, put_row(l.carries[1], c, out)};
            },
            s.loop_reversed);
    });
}
Arguments arguments(const Scan& s) {
    return {random_f64({s.rows, 3}, 1), random_f64({3}, 2), random_f64({3}, 3), random_f64({s.rows, 3}, 4)};
}

TEST(Scans, RowsAtTheCounterBecomeSlices) {
    for (DType index : {i32, i64, u32})
        for (bool reversed : {false, true})
            for (bool down_in : {false, true})
                for (bool down_out : {false, true}) {
                    const Scan s{.index = index, .down_in = down_in, .down_out = down_out, .loop_reversed = reversed};
                    const FunctionPtr f = make(s), g = run_pass("scans", f);
                    const std::string what = std::string(index.name()) + (reversed ? " reversed" : "") + (down_in ? " reads down" : "") +
                                             (down_out ? " writes down" : "");
                    expect_same(f, g, arguments(s), what);
                    check_transforms(g, arguments(s), what, 1);
                    // one direction in a loop: of two that differ, the upward one is sliced
                    EXPECT_EQ(attr_of(g).xs, down_in && !down_out ? 0 : 1) << what;
                    EXPECT_EQ(attr_of(g).ys, down_out && !down_in ? 0 : 1) << what;
                    EXPECT_EQ(run_pass("scans", g), g);
                }
}

TEST(Scans, OthersAreLeft) {
    struct Case {
        const char* what;
        Scan scan;
        std::int64_t xs, ys;
    };
    for (const Case& c : std::vector<Case>{{"fewer steps than rows", {.steps = 4}, 0, 0},
                                           {"more steps than rows", {.steps = 6}, 0, 0},
                                           {"written one further", {.shift = 1}, 1, 0},
                                           {"written one before, and the first at the end", {.shift = -1}, 1, 0},
                                           {"what is written is read", {.read_back = true}, 1, 0},
                                           {"all of what is sliced is read", {.other_use = true}, 0, 1}}) {
        const FunctionPtr f = make(c.scan), g = run_pass("scans", f);
        EXPECT_EQ(attr_of(g).xs, c.xs) << c.what;
        EXPECT_EQ(attr_of(g).ys, c.ys) << c.what;
        expect_same(f, g, arguments(c.scan), c.what);
    }
}

TEST(Scans, TheGradientStoresEachValueOnce) {
    const Scan s{.steps = 7, .rows = 7};
    const FunctionPtr f = make(s), g = pass::settle_loops(f);
    const transform::Linearized l = transform::linearize(g, Mask{true, true, true, true});
    // y is the residual of tanh: besides the results, nothing of a row for each step is kept but the carries that entered
    std::size_t stacks = 0;
    for (std::size_t r = g->results().size(); r < l.primal->results().size(); ++r)
        stacks += l.primal->type(l.primal->results()[r]) == Type(f64, {7, 3}) ? 1 : 0;
    EXPECT_EQ(stacks, 1u);
    const FunctionPtr back = pass::optimize(pullback_of(g, Mask{true, true, true, true}));
    EXPECT_EQ(count_ops(*back, OpCode::accumulator_add_at), 0u);
    EXPECT_EQ(count_ops(*back, OpCode::dynamic_update_slice), 0u);
}

} // namespace
} // namespace stithy::test
