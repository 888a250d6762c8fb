#include "ir/text/text.hpp"

#include <gtest/gtest.h>

namespace stithy::ir {
namespace {

std::string error_of(const std::string& text) {
    try {
        (void)parse(text, "bad.mlir");
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

std::string missing_of(const std::string& text) {
    try {
        (void)parse(text, "bad.mlir");
    } catch (const NotSupported& e) {
        return e.thing();
    }
    return "supported";
}

struct Case {
    const char* text;
    const char* says; ///< what the message begins with
};

TEST(TextErrors, NameLineAndColumn) {
    const Case cases[] = {
        {"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.sine %77 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}",
         "bad.mlir:2:23: undefined value %77"},
        {"func.func @main(%x: tensor<4xf32>) {\n  %0 = stablehlo.sine %x : tensor<5xf32>\n  return\n}",
         "bad.mlir:2:8: operand 0 of stablehlo.sine is tensor<4xf32>"},
        {"func.func @main(%x: tensor<4xf32>) {\n  %0 = stablehlo.sine %x\n  return\n}", "bad.mlir:3:3: expected ':', found 'return'"},
        {"func.func @main(%x: tensor<4xf32>) {\n  %0:2 = stablehlo.sine %x : tensor<4xf32>\n  return\n}",
         "bad.mlir:2:3: stablehlo.sine has 1 results, 2 are named"},
        {"func.func @main(%x: tensor<4xf32>, %x: tensor<f32>) {\n  return\n}", "bad.mlir:1:36: %x is defined twice"},
        {"func.func @main(%x: tensor<4xf32>) {\n  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}",
         "bad.mlir:2:8: no function @f"},
        {"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = call @main(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : "
         "tensor<f32>\n}",
         "bad.mlir:2:8: @main calls itself"},
        {"func.func @main() {\n  %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n  return\n}",
         "bad.mlir:2:38: a list does not have the length"},
        {"func.func @main() {\n  %0 = stablehlo.constant dense<300> : tensor<3xi8>\n  return\n}",
         "bad.mlir:2:33: '300' is no element of tensor<3xi8>"},
        {"func.func @main() {\n  %0 = stablehlo.constant dense<\"0x0102\"> : tensor<3xi32>\n  return\n}",
         "bad.mlir:2:33: the hex string has 2 bytes"},
        {"func.func @main() {\n  %0 = stablehlo.iota : tensor<3xi8>\n  return\n}", "bad.mlir:2:8: stablehlo.iota without iota_dimension"},
        {"func.func @main(%x: tensor<4xf32> {", "bad.mlir:1:36: expected an attribute's name, found the end of the text"},
        {"module @m {\n func.func @main() {\n return\n }\n", "bad.mlir:5:1: expected '}' at the end of the module"},
        {"hello", "bad.mlir:1:1: expected a module or a function, found 'hello'"},
        {"func.func @main() {\n  frobnicate\n}", "bad.mlir:2:3: unknown operation 'frobnicate'"},
        {"func.func @main(%x: tensor<99999999999999999999xf32>) {\n  return\n}", "bad.mlir:1:28: extent too large"},
        {"func.func @main(%x: tensor<4294967296x4294967296xf32>) {\n  return\n}", "bad.mlir:1:21: tensor too large"},
        {"func.func @f() {\n return\n}\nfunc.func @f() {\n return\n}", "bad.mlir:4:11: @f is defined twice"},
        {"func.func @main(%x: tensor<i32>) -> tensor<f32> {\n return %x : tensor<i32>\n}",
         "bad.mlir:1:11: result 0 of @main is tensor<i32>"},
    };
    for (const Case& c : cases) EXPECT_TRUE(error_of(c.text).starts_with(c.says)) << error_of(c.text) << "\nexpected " << c.says;
}

TEST(TextErrors, WhatIsMissingIsNamed) {
    const auto with_type = [](const std::string& type) { return "func.func @main(%x: " + type + ") {\n return\n}"; };
    EXPECT_EQ(missing_of(with_type("tensor<3xbf16>")), "type bf16");
    EXPECT_EQ(missing_of(with_type("tensor<3xcomplex<f64>>")), "type complex<f64>");
    EXPECT_EQ(missing_of(with_type("tensor<3xf8E4M3FN>")), "type f8E4M3FN");
    EXPECT_EQ(missing_of(with_type("tensor<?x3xf32>")), "dynamic shapes (an extent '?')");
    EXPECT_EQ(missing_of(with_type("tensor<2x!quant.uniform<i8:f32, 0.1:-3>>")), "type !quant.uniform");
    EXPECT_EQ(missing_of(
                  "func.func @main(%x: tensor<3xf32>) {\n %0 = \"stablehlo.sort\"(%x) ({}) : (tensor<3xf32>) -> tensor<3xf32>\n return\n}"),
              "stablehlo.sort");
    EXPECT_EQ(missing_of("func.func @main(%x: tensor<3xf32>) {\n %0 = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>\n return\n}"),
              "chlo.lgamma");
    EXPECT_EQ(missing_of("module attributes {mhlo.num_partitions = 2 : i32} {\n}"),
              "programs for several devices (mhlo.num_partitions = 2)");
    EXPECT_EQ(
        missing_of("func.func @main() {\n %0 = stablehlo.constant dense_resource<__elided__> : tensor<3xf32>\n return\n}").substr(0, 14),
        "dense_resource");
    EXPECT_EQ(error_of(with_type("tensor<3xbf16>")), "bad.mlir:1:30: not supported: type bf16");
}

TEST(TextErrors, BytecodeIsNamed) { EXPECT_NE(error_of(std::string("ML\xEFR\x01", 5)).find("bytecode"), std::string::npos); }

TEST(TextErrors, NestingHasALimit) {
    EXPECT_NE(error_of("module attributes {a = " + std::string(100000, '[')).find("nested too deeply"), std::string::npos);
    std::string types;
    for (int i = 0; i < 5000; ++i) types += "tuple<";
    EXPECT_NE(error_of("func.func @main(%x: " + types).find("nested too deeply"), std::string::npos);
}

/// Every beginning of a good text, and every text with one character gone, is read or refused by an Error.
TEST(TextErrors, DamagedTextsAreRefused) {
    const std::string good = "module @m {\n func.func @main(%x: tensor<2x3xf32>, %n: tensor<i64>) -> tensor<3xf32> {\n"
                             "  %c = stablehlo.constant dense<\"0x0000803F\"> : tensor<f32>\n"
                             "  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, "
                             "tensor<f32>) -> tensor<3xf32>\n"
                             "  %1 = stablehlo.while(%i = %n) : tensor<i64> cond {\n   %2 = stablehlo.compare LT, %i, %n, SIGNED : "
                             "(tensor<i64>, tensor<i64>) -> tensor<i1>\n"
                             "   stablehlo.return %2 : tensor<i1>\n  } do {\n   stablehlo.return %i : tensor<i64>\n  }\n"
                             "  %3 = stablehlo.slice %0 [0:3] {a = #b.c<\"d\", [1]>} : (tensor<3xf32>) -> tensor<3xf32> loc(\"x\":1:2)\n"
                             "  %4 = stablehlo.dynamic_slice %3, %1, sizes = [3] : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>\n  return "
                             "%4 : tensor<3xf32>\n }\n}\n";
    EXPECT_EQ(error_of(good), "no error");
    for (std::size_t i = 0; i < good.size(); ++i) {
        (void)error_of(good.substr(0, i)); // anything but Error would end the test
        std::string one_less = good;
        one_less.erase(i, 1);
        (void)error_of(one_less);
    }
}

} // namespace
} // namespace stithy::ir
