#include "ir/equal.hpp"
#include "ir/text/text.hpp"
#include "ir/verify.hpp"

#include <gtest/gtest.h>

namespace stithy::ir {
namespace {

/// A function body in a module's dress.
std::string in_main(const std::string& signature, const std::string& body) { return "func.func @main" + signature + " {\n" + body + "\n}"; }

/// Reads, checks, prints, reads again: both must be the same.
FunctionPtr round_trip(const std::string& text) {
    const FunctionPtr first = parse(text, "test.mlir").main();
    verify(*first);
    const std::string printed = print(*first);
    const FunctionPtr second = parse(printed, "printed.mlir").main();
    verify(*second);
    EXPECT_TRUE(equal(*first, *second)) << printed;
    EXPECT_EQ(printed, print(*second));
    return first;
}

struct Case {
    const char* name;
    const char* signature;
    const char* body;
};
class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, IsTheSame) {
    const FunctionPtr f = round_trip(in_main(GetParam().signature, GetParam().body));
    EXPECT_FALSE(f->ops().empty());
}

constexpr Case cases[] = {
    {"unary", "(%x: tensor<3xf32>) -> tensor<3xf32>", "%0 = stablehlo.exponential %x : tensor<3xf32>\nreturn %0 : tensor<3xf32>"},
    {"unary_functional", "(%x: tensor<3xf32>) -> tensor<3xi1>",
     "%0 = stablehlo.is_finite %x : (tensor<3xf32>) -> tensor<3xi1>\nreturn %0 : tensor<3xi1>"},
    {"accuracy", "(%x: tensor<3xf32>) -> tensor<3xf32>",
     "%0 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : "
     "tensor<3xf32>\n"
     "return %0 : tensor<3xf32>"},
    {"convert", "(%x: tensor<3xi8>) -> tensor<3xf64>",
     "%0 = stablehlo.convert %x : (tensor<3xi8>) -> tensor<3xf64>\nreturn %0 : tensor<3xf64>"},
    {"binary", "(%x: tensor<ui8>, %y: tensor<ui8>) -> tensor<ui8>", "%0 = stablehlo.xor %x, %y : tensor<ui8>\nreturn %0 : tensor<ui8>"},
    {"binary_generic", "(%x: tensor<ui8>) -> tensor<ui8>",
     "%0 = \"stablehlo.add\"(%x, %x) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>\n\"func.return\"(%0) : (tensor<ui8>) -> ()"},
    {"compare", "(%x: tensor<2xf64>) -> tensor<2xi1>",
     "%0 = stablehlo.compare  LT, %x, %x,  TOTALORDER : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>\nreturn %0 : tensor<2xi1>"},
    {"compare_short", "(%x: tensor<2xi64>) -> tensor<2xi1>",
     "%0 = stablehlo.compare NE, %x, %x : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>\nreturn %0 : tensor<2xi1>"},
    {"compare_generic", "(%x: tensor<2xi64>) -> tensor<2xi1>",
     "%0 = \"stablehlo.compare\"(%x, %x) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = "
     "#stablehlo<comparison_direction GE>} : "
     "(tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>\nreturn %0 : tensor<2xi1>"},
    {"select", "(%p: tensor<i1>, %x: tensor<2xi64>) -> tensor<2xi64>",
     "%0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<2xi64>\nreturn %0 : tensor<2xi64>"},
    {"select_functional", "(%p: tensor<2xi1>, %x: tensor<2xi64>) -> tensor<2xi64>",
     "%0 = stablehlo.select %p, %x, %x : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>\nreturn %0 : tensor<2xi64>"},
    {"clamp", "(%l: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32>",
     "%0 = stablehlo.clamp %l, %x, %l : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>"},
    {"iota", "() -> tensor<0x4xi64>", "%0 = stablehlo.iota dim = 1 : tensor<0x4xi64>\nreturn %0 : tensor<0x4xi64>"},
    {"broadcast", "(%x: tensor<3xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>"},
    {"broadcast_old", "(%x: tensor<3xf32>) -> tensor<2x3xf32>",
     "%0 = \"stablehlo.broadcast_in_dim\"(%x) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<3xf32>) -> "
     "tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>"},
    {"reshape", "(%x: tensor<6xf32>) -> tensor<2x3xf32>",
     "%0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>"},
    {"bitcast", "(%x: tensor<6xf32>) -> tensor<6xui32>",
     "%0 = stablehlo.bitcast_convert %x : (tensor<6xf32>) -> tensor<6xui32>\nreturn %0 : tensor<6xui32>"},
    {"transpose", "(%x: tensor<2x3xf32>) -> tensor<3x2xf32>",
     "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\nreturn %0 : tensor<3x2xf32>"},
    {"slice", "(%x: tensor<10x3xf32>) -> tensor<5x1xf32>",
     "%0 = stablehlo.slice %x [0:10:2, 2:3] : (tensor<10x3xf32>) -> tensor<5x1xf32>\nreturn %0 : tensor<5x1xf32>"},
    {"dynamic_slice", "(%x: tensor<10xf32>, %i: tensor<i32>) -> tensor<4xf32>",
     "%0 = stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32>"},
    {"dynamic_update_slice", "(%x: tensor<10xf32>, %u: tensor<4xf32>, %i: tensor<i32>) -> tensor<10xf32>",
     "%0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<10xf32>, tensor<4xf32>, tensor<i32>) -> tensor<10xf32>\nreturn %0 : "
     "tensor<10xf32>"},
    {"concatenate", "(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32>",
     "%0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>\nreturn %0 : tensor<5xf32>"},
    {"pad", "(%x: tensor<2xf32>, %v: tensor<f32>) -> tensor<4xf32>",
     "%0 = stablehlo.pad %x, %v, low = [2], high = [-1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>\nreturn %0 : "
     "tensor<4xf32>"},
    {"reverse", "(%x: tensor<2xf32>) -> tensor<2xf32>", "%0 = stablehlo.reverse %x, dims = [0] : tensor<2xf32>\nreturn %0 : tensor<2xf32>"},
    {"gather", "(%x: tensor<12x4xf64>, %i: tensor<9x1xi32>) -> tensor<9x4xf64>",
     "%6 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
     "start_index_map = [0], index_vector_dim = 1>, "
     "indices_are_sorted = true, slice_sizes = array<i64: 1, 4>}> : (tensor<12x4xf64>, tensor<9x1xi32>) -> tensor<9x4xf64>\nreturn %6 : "
     "tensor<9x4xf64>"},
    {"scatter", "(%x: tensor<12xf64>, %i: tensor<9x1xi32>, %u: tensor<9xf64>) -> tensor<12xf64>",
     "%6 = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = "
     "#stablehlo.scatter<inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({\n^bb0(%a: tensor<f64>, %b: tensor<f64>):\n%s = "
     "stablehlo.add %a, %b : tensor<f64>\n"
     "stablehlo.return %s : tensor<f64>\n}) : (tensor<12xf64>, tensor<9x1xi32>, tensor<9xf64>) -> tensor<12xf64>\nreturn %6 : "
     "tensor<12xf64>"},
    {"dot", "(%x: tensor<5x2x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32>",
     "%0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST], "
     "algorithm = <lhs_precision_type = tf32, "
     "rhs_precision_type = tf32> : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>\nreturn %0 : tensor<5x2x4xf32>"},
    {"dot_generic", "(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32>",
     "%0 = \"stablehlo.dot_general\"(%x, %y) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
     "rhs_contracting_dimensions = [0]>, "
     "precision_config = [#stablehlo<precision DEFAULT>]} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>"},
    {"reduce_short", "(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<3xf32>",
     "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> "
     "tensor<3xf32>\nreturn %0 : tensor<3xf32>"},
    {"reduce_two", "(%x: tensor<4xf32>, %i: tensor<4xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>)",
     "%1:2 = stablehlo.reduce(%x init: %a), (%i init: %b) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, "
     "tensor<i32>) -> (tensor<f32>, tensor<i32>)\n"
     " reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>)  {\n%c = stablehlo.compare GE, %p, %q, FLOAT : "
     "(tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "%m = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>\n%n = stablehlo.select %c, %r, %s : tensor<i1>, tensor<i32>\n"
     "stablehlo.return %m, %n : tensor<f32>, tensor<i32>\n}\nreturn %1#0, %1#1 : tensor<f32>, tensor<i32>"},
    {"while_captures", "(%n: tensor<i64>, %x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64>",
     "%c = stablehlo.constant dense<0> : tensor<i64>\n%one = stablehlo.constant dense<1> : tensor<i64>\n"
     "%0:2 = stablehlo.while(%it = %c, %y = %x) : tensor<i64>, tensor<3xf64> attributes {mhlo.frontend_attributes = {}}\n"
     " cond {\n%1 = stablehlo.compare LT, %it, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>\nstablehlo.return %1 : tensor<i1>\n} "
     "do {\n"
     "%2 = stablehlo.add %it, %one : tensor<i64>\n%3 = stablehlo.multiply %y, %w : tensor<3xf64>\nstablehlo.return %2, %3 : tensor<i64>, "
     "tensor<3xf64>\n}\n"
     "return %0#1 : tensor<3xf64>"},
    {"while_nested", "(%n: tensor<i64>, %w: tensor<i64>) -> tensor<i64>",
     "%0 = stablehlo.while(%i = %n) : tensor<i64> cond {\n%1 = stablehlo.compare LT, %i, %w : (tensor<i64>, tensor<i64>) -> "
     "tensor<i1>\nstablehlo.return %1 : tensor<i1>\n} do {\n"
     "%2 = stablehlo.while(%j = %i) : tensor<i64> cond {\n%1 = stablehlo.compare LT, %w, %j : (tensor<i64>, tensor<i64>) -> "
     "tensor<i1>\nstablehlo.return %1 : tensor<i1>\n} do {\n"
     "%3 = stablehlo.subtract %j, %n : tensor<i64>\nstablehlo.return %3 : tensor<i64>\n}\nstablehlo.return %2 : tensor<i64>\n}\nreturn %0 "
     ": tensor<i64>"},
    {"case", "(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32>",
     "%0 = \"stablehlo.case\"(%i) ({\nstablehlo.return %y : tensor<f32>\n}, {\n%1 = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return "
     "%1 : tensor<f32>\n}) : (tensor<i32>) -> "
     "tensor<f32>\nreturn %0 : tensor<f32>"},
    {"if_unused_capture", "(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32>",
     "%0 = \"stablehlo.if\"(%p) ({\nstablehlo.return %y : tensor<f32>\n}, {\nstablehlo.return %y : tensor<f32>\n}) {stithy.captures = "
     "\"%x, %y\"} : (tensor<i1>) -> tensor<f32>\n"
     "return %0 : tensor<f32>"},
    {"tuple", "(%x: tensor<f32>) -> tensor<f32>",
     "%0 = stablehlo.tuple %x, %x : tuple<tensor<f32>, tensor<f32>>\n%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<f32>, "
     "tensor<f32>>) -> tensor<f32>\n"
     "return %1 : tensor<f32>"},
    {"barrier_and_tokens", "(%x: tensor<f32>, %y: tensor<i8>) -> tensor<f32>",
     "%0:2 = stablehlo.optimization_barrier %x, %y : tensor<f32>, tensor<i8>\n%1 = stablehlo.create_token : !stablehlo.token\n%2 = "
     "stablehlo.after_all %1, %1 : !stablehlo.token\n"
     "return %0#0 : tensor<f32>"},
    {"custom_call", "(%x: tensor<f32>) -> (tensor<f32>, tensor<2xi32>)",
     "%0:2 = stablehlo.custom_call @my.kernel(%x) {backend_config = \"\", mhlo.backend_config = {level = 3 : i32, name = \"a\\22b\"}, "
     "operand_layouts = [dense<> : tensor<0xindex>], "
     "has_side_effect = true, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=4, j=4}, custom>} : (tensor<f32>) -> "
     "(tensor<f32>, tensor<2xi32>)\n"
     "return %0#0, %0#1 : tensor<f32>, tensor<2xi32>"},
    {"loop", "(%x: tensor<3xf64>, %w: tensor<f64>, %s: tensor<10x3xf64>) -> (tensor<3xf64>, tensor<10xf64>)",
     "%acc = \"stithy.accumulator_zeros\"() : () -> !stithy.accumulator<3xf64>\n"
     "%r:3 = stithy.loop length = 10 reverse counter(%i) invariants(%k = %w : tensor<f64> {stithy.linear}) carries(%c = %x : "
     "tensor<3xf64>) "
     "accumulators(%a = %acc : !stithy.accumulator<3xf64>) xs(%e = %s : tensor<10x3xf64>) -> (tensor<3xf64>, !stithy.accumulator<3xf64>, "
     "tensor<10xf64>) {\n"
     "%1 = stablehlo.add %c, %e : tensor<3xf64>\n%2 = \"stithy.accumulator_add\"(%a, %1) : (!stithy.accumulator<3xf64>, tensor<3xf64>) -> "
     "!stithy.accumulator<3xf64>\n"
     "stithy.yield %1, %2, %k : tensor<3xf64>, !stithy.accumulator<3xf64>, tensor<f64>\n}\n"
     "%f = \"stithy.freeze\"(%r#1) : (!stithy.accumulator<3xf64>) -> tensor<3xf64>\nreturn %f, %r#2 : tensor<3xf64>, tensor<10xf64>"},
    {"loop_of_unknown_length", "(%n: tensor<i64>, %x: tensor<i64>) -> tensor<i64>",
     "%r = stithy.loop length = %n counter(%i) carries(%c = %x : tensor<i64>) -> (tensor<i64>) {\n%1 = stablehlo.add %c, %i : "
     "tensor<i64>\nstithy.yield %1 : tensor<i64>\n}\n"
     "return %r : tensor<i64>"},
    {"accumulators", "(%u: tensor<2xf64>, %i: tensor<i32>, %k: tensor<4x1xi32>, %v: tensor<4xf64>) -> tensor<5xf64>",
     "%a = \"stithy.accumulator_zeros\"() : () -> !stithy.accumulator<5xf64>\n"
     "%b = \"stithy.accumulator_add_at\"(%a, %u, %i) : (!stithy.accumulator<5xf64>, tensor<2xf64>, tensor<i32>) -> "
     "!stithy.accumulator<5xf64>\n"
     "%c = \"stithy.accumulator_scatter_add\"(%b, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1>}> : (!stithy.accumulator<5xf64>, tensor<4x1xi32>, tensor<4xf64>) -> !stithy.accumulator<5xf64>\n"
     "%d = \"stithy.freeze\"(%c) : (!stithy.accumulator<5xf64>) -> tensor<5xf64>\nreturn %d : tensor<5xf64>"},
    {"stacks", "(%x: tensor<f64>, %y: tensor<3xi32>) -> (tensor<f64>, tensor<3xi32>)",
     "%a = \"stithy.stack_empty\"() : () -> !stithy.stack<tensor<f64>, tensor<3xi32>>\n"
     "%b = \"stithy.stack_push\"(%a, %x, %y) : (!stithy.stack<tensor<f64>, tensor<3xi32>>, tensor<f64>, tensor<3xi32>) -> "
     "!stithy.stack<tensor<f64>, tensor<3xi32>>\n"
     "%c:3 = \"stithy.stack_pop\"(%b) : (!stithy.stack<tensor<f64>, tensor<3xi32>>) -> (!stithy.stack<tensor<f64>, tensor<3xi32>>, "
     "tensor<f64>, tensor<3xi32>)\n"
     "return %c#1, %c#2 : tensor<f64>, tensor<3xi32>"},
};
INSTANTIATE_TEST_SUITE_P(Operations, RoundTrip, testing::ValuesIn(cases), [](const auto& one) { return std::string(one.param.name); });

TEST(Text, EveryElementwiseOperationGoesRound) {
    for (std::size_t i = 0; i < opcode_count; ++i) {
        const auto code = static_cast<OpCode>(i);
        if (!is_unary_elementwise(code) && !is_binary_elementwise(code)) continue;
        if (code == OpCode::compare) continue;
        const std::string operands = is_unary_elementwise(code) ? "%x" : "%x, %y";
        const FunctionPtr f = round_trip(
            in_main("(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32>",
                    "%0 = stablehlo." + std::string(name(code)) + " " + operands + " : tensor<2xf32>\nreturn %0 : tensor<2xf32>"));
        EXPECT_EQ(f->ops()[0].code, code);
    }
}

TEST(Text, CallsShareTheirCallee) {
    const FunctionPtr f = round_trip("module @m attributes {mhlo.num_partitions = 1 : i32} {\n"
                                     "func.func public @main(%arg0: tensor<f32> {jax.arg_info = \"x\", mhlo.sharding = \"{replicated}\"}) "
                                     "-> (tensor<f32> {jax.result_info = \"\"}) {\n"
                                     "%0 = call @\"*half\"(%arg0) : (tensor<f32>) -> tensor<f32>\n%1 = func.call @\"*half\"(%0) : "
                                     "(tensor<f32>) -> tensor<f32>\nreturn %1 : tensor<f32>\n}\n"
                                     "func.func private @\"*half\"(%arg0: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.sine %arg0 : "
                                     "tensor<f32>\nreturn %0 : tensor<f32>\n}\n}\n");
    ASSERT_EQ(f->ops().size(), 2u);
    EXPECT_EQ(f->ops()[0].regions[0], f->ops()[1].regions[0]);
}

TEST(Text, ReducersCopyConstantsFromOutside) {
    const FunctionPtr f =
        round_trip(in_main("(%x: tensor<4xf32>) -> tensor<f32>",
                           "%c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                           "%0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
                           "reducer(%a: tensor<f32>, %b: tensor<f32>) {\n%1 = stablehlo.multiply %b, %c : tensor<f32>\n%2 = stablehlo.add "
                           "%a, %1 : tensor<f32>\n"
                           "stablehlo.return %2 : tensor<f32>\n}\nreturn %0 : tensor<f32>"));
    const Function& region = *f->ops()[1].regions[0];
    EXPECT_EQ(region.parameter_count(), 2u);
    EXPECT_EQ(region.ops()[0].code, OpCode::constant);
}

TEST(Text, WhatIsUsedFromOutsideBecomesAnOperand) {
    const FunctionPtr f = parse(in_main("(%n: tensor<i64>, %w: tensor<i64>) -> tensor<i64>",
                                        "%0 = stablehlo.while(%i = %n) : tensor<i64> cond {\n%1 = stablehlo.compare LT, %i, %w : "
                                        "(tensor<i64>, tensor<i64>) -> tensor<i1>\n"
                                        "stablehlo.return %1 : tensor<i1>\n} do {\n%2 = stablehlo.add %i, %n : "
                                        "tensor<i64>\nstablehlo.return %2 : tensor<i64>\n}\nreturn %0 : tensor<i64>"),
                                "t")
                              .main();
    const Op& op = f->ops()[0];
    EXPECT_EQ(op.get<WhileAttr>().invariants, 2);
    EXPECT_EQ(op.operands, (ir::Operands{1, 0, 0}));
}

TEST(Text, AnnotationsAreSkipped) {
    round_trip("#loc1 = loc(\"f.py\":3:4)\n#map = {a = 1}\nmodule @m attributes {jax.uses_shape_polymorphism = false, mhlo.x = #map} {\n"
               "sdy.mesh @mesh = <[\"a\"=2]> {stablehlo.mesh = {axes = []}}\n"
               "func.func public @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>} loc(\"x\"(#loc1))) -> "
               "tensor<2xf32> attributes {a.b = unit} {\n"
               "%0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = \"{devices=[1]<=[1]}\"} : (tensor<2xf32>) -> tensor<2xf32> "
               "loc(callsite(#loc1 at #loc2)) // done\n"
               "%1 = sdy.sharding_constraint %0 <@mesh, [{\"a\"}]> : tensor<2xf32>\n"
               "%2 = stablehlo.sine %1 {mhlo.frontend_attributes = {note = \"say \\22hi\\22 // \\\\ \\0A\"}} : tensor<2xf32> "
               "loc(fused<\"a\">[#loc1, \"b\"])\n"
               "return %2 : tensor<2xf32> loc(#loc)\n} loc(#loc)\n} loc(#loc)\n#loc2 = loc(unknown)\n{-# dialect_resources: { a: { b: "
               "\"0x00\" } } #-}\n");
}

TEST(Text, SimpleForeignOperationsAreMadeOfOthers) {
    const FunctionPtr f =
        round_trip(in_main("(%x: tensor<2xf64>, %a: tensor<2x3xf64>, %s: tensor<2xi32>) -> tensor<3xf64>",
                           "%0 = chlo.square %x : tensor<2xf64> -> tensor<2xf64>\n%1 = chlo.asinh %0 : tensor<2xf64> -> tensor<2xf64>\n"
                           "%2 = stablehlo.dot %1, %a, precision = [DEFAULT, DEFAULT] : (tensor<2xf64>, tensor<2x3xf64>) -> tensor<3xf64>\n"
                           "%3 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf64>) -> tensor<i32>\n"
                           "%4 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<2xf64>, tensor<2xi32>) -> "
                           "tensor<2x3xf64>\nreturn %2 : tensor<3xf64>"));
    EXPECT_EQ(f->ops()[0].code, OpCode::multiply);
}

TEST(Text, ChecksAreOrderedCustomCalls) {
    const FunctionPtr f = round_trip(in_main(
        "(%x: tensor<2xf64>)", "check.expect_almost_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf64>, tolerance = 0.5\n"
                               "check.expect_close %x, %x, max_ulp_difference = 7 : tensor<2xf64>, tensor<2xf64>\n"
                               "check.expect_eq %x, %x : tensor<2xf64>\n"
                               "stablehlo.custom_call @check.expect_eq(%x, %x) : (tensor<2xf64>, tensor<2xf64>) -> ()\nfunc.return"));
    EXPECT_EQ(f->ops()[1].get<CustomCallAttr>().target, "check.expect_almost_eq");
    EXPECT_NE(f->ops()[1].get<CustomCallAttr>().backend_config.find("tolerance = 5.0e-01"), std::string::npos);
    EXPECT_NE(f->ops()[2].get<CustomCallAttr>().backend_config.find("max_ulp_difference = 7"), std::string::npos);
    for (std::size_t i = 1; i < f->ops().size(); ++i) EXPECT_EQ(f->ops()[i].effect, Effect::ordered);
}

TEST(Text, CompositesCallTheirDecomposition) {
    const FunctionPtr f = round_trip("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.composite \"my.op\" %x "
                                     "{composite_attributes = {k = 3 : i64}, decomposition = @impl, "
                                     "version = 1 : i32} : (tensor<f32>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}\nfunc.func private "
                                     "@impl(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}");
    EXPECT_EQ(f->ops()[0].code, OpCode::call);
}

TEST(Text, LinearParametersKeepTheirMark) {
    const FunctionPtr f = round_trip(in_main("(%x: tensor<f32>, %t: tensor<f32> {stithy.linear}) -> tensor<f32>",
                                             "%0 = stablehlo.multiply %x, %t : tensor<f32>\nreturn %0 : tensor<f32>"));
    EXPECT_FALSE(f->is_linear(0));
    EXPECT_TRUE(f->is_linear(1));
}

} // namespace
} // namespace stithy::ir
