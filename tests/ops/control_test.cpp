// Shape rules of the structured operations and of tuples: what they refuse.
#include "transform/structured.hpp"

namespace stithy::test {
namespace {

Value number(Builder& b, double v, DType t = f64) { return ops::scalar(b, t, v); }

TEST(While, Errors) {
    const auto loop_of = [](Type predicate, Type next) {
        return [=](Builder& b, View v) {
            return while_loop(
                b, {}, {v[0]}, [&](Builder& c, View, View) { return ops::zeros(c, predicate); },
                [&](Builder& c, View, View) { return Values{ops::zeros(c, next)}; });
        };
    };
    const std::vector<Type> types{Type(f64, {2})};
    EXPECT_EQ(error_of(types, loop_of(Type(boolean, {}), types[0])), "");
    expect_error(types, loop_of(Type(f64, {}), types[0]), {"while", "condition", "bool[]"});
    expect_error(types, loop_of(Type(boolean, {2}), types[0]), {"while", "condition"});
    expect_error(types, loop_of(Type(boolean, {}), Type(f64, {3})), {"while", "carried value 0", "f64[2]", "f64[3]"});
}

TEST(Branches, Errors) {
    const auto choose = [](Type selector, std::vector<Branch> branches) {
        return [=](Builder& b, View v) { return branch(b, ops::zeros(b, selector), {v[0]}, branches); };
    };
    const Branch same = [](Builder&, View a) { return Values{a[0]}; }, other = [](Builder& b, View) { return Values{number(b, 1, f32)}; },
                 none = [](Builder&, View) { return Values{}; };
    const std::vector<Type> types{Type(f64, {})};
    EXPECT_EQ(error_of(types, choose(Type(boolean, {}), {same, same})), "");
    EXPECT_EQ(error_of(types, choose(Type(i32, {}), {same})), "");
    expect_error(types, choose(Type(boolean, {}), {same, other}), {"if", "branch 1 gives f32[]", "f64[]"});
    expect_error(types, choose(Type(i32, {}), {same, same, none}), {"case", "branch 2 gives 0 values"});
    expect_error(types, choose(Type(i64, {}), {same}), {"case", "index i64[]", "i32[]"});
    expect_error(types, choose(Type(boolean, {}), {same}), {"if", "1 regions, expected 2"});
}

TEST(Loop, Errors) {
    const std::vector<Type> types{Type(f64, {2}), Type(f64, {3, 2}), Type(i32, {})};
    EXPECT_EQ(error_of(types,
                       [](Builder& b, View v) {
                           return loop(b, 3, {.carries = {v[0]}, .xs = {v[1]}},
                                       [](const LoopView& l) { return Values{l.carries[0] + l.xs[0]}; });
                       }),
              "");
    expect_error(types,
                 [](Builder& b, View v) {
                     return loop(b, 4, {.carries = {v[0]}, .xs = {v[1]}}, [](const LoopView& l) { return Values{l.carries[0]}; });
                 },
                 {"loop", "f64[2]", "f64[3,2]", "4 steps"});
    expect_error(types,
                 [](Builder& b, View v) {
                     return loop(b, 3, {.carries = {v[0]}}, [](const LoopView& l) { return Values{ops::convert(l.carries[0], f32)}; });
                 },
                 {"loop", "carried value 0", "f64[2]", "f32[2]"});
    expect_error(types,
                 [](Builder& b, View v) {
                     return loop(b, -1, {.carries = {v[0]}, .trip = v[2]}, [](const LoopView& l) { return Values{l.carries[0]}; });
                 },
                 {"loop", "number of steps i32[]", "i64[]"});
    expect_error(types,
                 [](Builder& b, View v) {
                     return loop(b, -1, {.carries = {v[0]}, .trip = ops::scalar(b, i64, 3)},
                                 [](const LoopView& l) { return Values{l.carries[0], l.carries[0]}; });
                 },
                 {"loop", "unknown length"});
}

TEST(Call, Errors) {
    const std::vector<Type> types{Type(f64, {2}), Type(f64, {3})};
    expect_error(types,
                 [](Builder& b, View v) {
                     const Values right{v[0]};
                     const FunctionPtr callee = region(right, [](Builder&, View a) { return Values{a[0]}; }, "callee");
                     return Values{ops::emit1(b, OpCode::call, {v[1]}, ir::make_attr(ir::CallAttr{"callee"}), {callee})};
                 },
                 {"call", "callee", "f64[2]", "f64[3]"});
}

TEST(Tuple, DifferentiatesAndRefuses) {
    const Program f = [](Builder& b, View v) {
        const Value t = ops::emit1(b, OpCode::tuple, {ops::sin(v[0]), v[0] * v[1]});
        const auto element = [&](std::int64_t i) { return ops::emit1(b, OpCode::get_tuple_element, {t}, ir::make_attr(ir::DimAttr{i})); };
        return Values{element(1) * element(0)};
    };
    const Arguments x{random_f64({2}, 1), random_f64({2}, 2)};
    CheckOptions options;
    options.reverse = options.second = false;
    check_derivatives(build(x, f), x, options, "tuple");
    expect_error({Type(f64, {})},
                 [](Builder& b, View v) {
                     const Value t = ops::emit1(b, OpCode::tuple, {v[0]});
                     return Values{ops::emit1(b, OpCode::get_tuple_element, {t}, ir::make_attr(ir::DimAttr{1}))};
                 },
                 {"get_tuple_element", "element 1", "out of range"});
    expect_error({Type(f64, {})},
                 [](Builder& b, View v) { return Values{ops::emit1(b, OpCode::get_tuple_element, {v[0]}, ir::make_attr(ir::DimAttr{0}))}; },
                 {"get_tuple_element", "f64[]", "tuple"});
}

} // namespace
} // namespace stithy::test
