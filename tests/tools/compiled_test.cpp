#include "compiled_backend.hpp"
#include "gradient.hpp"
#include "ops/verify_types.hpp"
#include "reference/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>

/// Programs from text, compiled and by the reference interpreter: both must agree.
namespace stithy::tool {
namespace {

/// Values between -1 and 1 that differ (floats), small numbers (integers).
ir::Literal sample(const ir::Type& type, std::uint64_t seed) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
    const std::size_t size = type.dtype().size();
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const auto random = static_cast<double>(seed >> 11) / static_cast<double>(std::uint64_t{1} << 53);
        const std::uint64_t bits = type.dtype().is_floating() ? ir::bits_of(type.dtype(), 2 * random - 1)
                                                              : ir::bits_of(type.dtype(), static_cast<int>(random * 5));
        std::memcpy(bytes.data() + i * size, &bits, size);
    }
    return ir::Literal::dense(type, std::move(bytes));
}

void expect_same(const ir::FunctionPtr& function) {
    std::vector<ir::Literal> arguments;
    for (const ir::Type& t : function->parameter_types()) arguments.push_back(sample(t, arguments.size() + 1));
    CompiledBackend backend;
    const std::vector<ir::Literal> got = backend.run(function, arguments), expected = reference::evaluate(*function, arguments);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t r = 0; r < got.size(); ++r) {
        ASSERT_EQ(got[r].type(), expected[r].type());
        const double tolerance = got[r].type().dtype() == f32 ? 1e-5 : 1e-12;
        for (std::int64_t i = 0; i < got[r].type().elements(); ++i) {
            if (got[r].element_bits(i) == expected[r].element_bits(i)) continue;
            const double x = got[r].element_as_double(i), y = expected[r].element_as_double(i);
            EXPECT_TRUE((std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance * (1 + std::fabs(y)))
                << "result " << r << ", element " << i << ": " << x << ", expected " << y;
        }
    }
}

struct Case {
    const char* name;
    const char* text;
    std::vector<std::int64_t> wrt = {}; ///< the gradient by these is compared too
};
class Compiled : public testing::TestWithParam<Case> {};

TEST_P(Compiled, AgreesWithTheReference) {
    const ir::FunctionPtr function = ops::parse(GetParam().text, GetParam().name).main();
    expect_same(function);
    if (!GetParam().wrt.empty()) expect_same(gradient_function(function, GetParam().wrt));
}

const Case cases[] = {
    {"sum_of_sums_over_extents_of_one",
     R"(func.func @main(%x: tensor<19x4xf64>) -> tensor<19xf64> {
      %z = stablehlo.constant dense<0.0> : tensor<f64>
      %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<19x4xf64>, tensor<f64>) -> tensor<19xf64>
      %2 = stablehlo.reshape %1 : (tensor<19xf64>) -> tensor<19x1xf64>
      %3 = stablehlo.negate %2 : tensor<19x1xf64>
      %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<19x1xf64>, tensor<f64>) -> tensor<19xf64>
      return %4 : tensor<19xf64>
    })",
     {0}},
    {"argmax", R"(func.func @main(%x: tensor<5x7xf32>) -> (tensor<5xf32>, tensor<5xi32>) {
      %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %i = stablehlo.iota dim = 1 : tensor<5x7xi32>
      %1:2 = stablehlo.reduce(%x init: %z), (%i init: %c) across dimensions = [1] : (tensor<5x7xf32>, tensor<5x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
       reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {
        %2 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
        %4 = stablehlo.select %2, %d, %e : tensor<i1>, tensor<i32>
        stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
      }
      return %1#0, %1#1 : tensor<5xf32>, tensor<5xi32>
    })"},
    {"counted_while",
     R"(func.func @main(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<6> : tensor<i32>
      %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<3xf64> cond {
        %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %2 = stablehlo.add %i, %one : tensor<i32>
        %3 = stablehlo.multiply %y, %w : tensor<3xf64>
        %4 = stablehlo.sine %3 : tensor<3xf64>
        stablehlo.return %2, %4 : tensor<i32>, tensor<3xf64>
      }
      return %0#1 : tensor<3xf64>
    })",
     {0, 1}},
    {"while_on_values", R"(func.func @main(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<i64>) {
      %c = stablehlo.constant dense<0> : tensor<i64>
      %one = stablehlo.constant dense<1> : tensor<i64>
      %z = stablehlo.constant dense<0.0> : tensor<f64>
      %limit = stablehlo.constant dense<20.0> : tensor<f64>
      %two = stablehlo.constant dense<1.5> : tensor<4xf64>
      %0:2 = stablehlo.while(%y = %x, %k = %c) : tensor<4xf64>, tensor<i64> cond {
        %s = stablehlo.multiply %y, %y : tensor<4xf64>
        %t = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
        %1 = stablehlo.compare LT, %t, %limit, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %2 = stablehlo.multiply %y, %two : tensor<4xf64>
        %3 = stablehlo.add %k, %one : tensor<i64>
        stablehlo.return %2, %3 : tensor<4xf64>, tensor<i64>
      }
      return %0#0, %0#1 : tensor<4xf64>, tensor<i64>
    })"},
    {"loop_with_slices",
     R"(func.func @main(%x: tensor<3xf64>, %w: tensor<f64>, %s: tensor<10x3xf64>) -> (tensor<3xf64>, tensor<10xf64>) {
      %z = stablehlo.constant dense<0.0> : tensor<f64>
      %r:2 = stithy.loop length = 10 reverse counter(%i) invariants(%k = %w : tensor<f64>, %zero = %z : tensor<f64>) carries(%c = %x : tensor<3xf64>)
             xs(%e = %s : tensor<10x3xf64>) -> (tensor<3xf64>, tensor<10xf64>) {
        %1 = stablehlo.multiply %c, %e : tensor<3xf64>
        %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f64>) -> tensor<3xf64>
        %2 = stablehlo.add %1, %b : tensor<3xf64>
        %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
        stithy.yield %2, %3 : tensor<3xf64>, tensor<f64>
      }
      return %r#0, %r#1 : tensor<3xf64>, tensor<10xf64>
    })",
     {0, 1, 2}},
    {"branches",
     R"(func.func @main(%i: tensor<i32>, %x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
      %0 = "stablehlo.case"(%i) ({
        %1 = stablehlo.add %x, %y : tensor<6xf32>
        stablehlo.return %1 : tensor<6xf32>
      }, {
        stablehlo.return %y : tensor<6xf32>
      }, {
        %2 = stablehlo.exponential %x : tensor<6xf32>
        stablehlo.return %2 : tensor<6xf32>
      }) : (tensor<i32>) -> tensor<6xf32>
      return %0 : tensor<6xf32>
    })",
     {1}},
    {"scatter_and_gather_out_of_bounds",
     R"(func.func @main(%x: tensor<5xf64>, %u: tensor<2x3xf64>) -> (tensor<5xf64>, tensor<2x3xf64>) {
      %i = stablehlo.constant dense<[[-1], [3]]> : tensor<2x1xi32>
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %s : tensor<f64>
      }) : (tensor<5xf64>, tensor<2x1xi32>, tensor<2x3xf64>) -> tensor<5xf64>
      %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3>}>
           : (tensor<5xf64>, tensor<2x1xi32>) -> tensor<2x3xf64>
      return %0, %1 : tensor<5xf64>, tensor<2x3xf64>
    })",
     {0, 1}},
    {"products",
     R"(func.func @main(%x: tensor<5x2x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x4xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
      %1 = stablehlo.tanh %0 : tensor<5x2x4xf32>
      %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.multiply across dimensions = [1] : (tensor<5x2x4xf32>, tensor<f32>) -> tensor<5x4xf32>
      return %2 : tensor<5x4xf32>
    })",
     {0, 1}},
    {"windows",
     R"(func.func @main(%x: tensor<4x6xf64>, %u: tensor<2x2xf64>, %i: tensor<i32>) -> (tensor<4x6xf64>, tensor<3x2xf64>, tensor<9x4xf64>) {
      %v = stablehlo.constant dense<0.5> : tensor<f64>
      %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x6xf64>, tensor<2x2xf64>, tensor<i32>, tensor<i32>) -> tensor<4x6xf64>
      %1 = stablehlo.dynamic_slice %x, %i, %i, sizes = [3, 2] : (tensor<4x6xf64>, tensor<i32>, tensor<i32>) -> tensor<3x2xf64>
      %2 = stablehlo.pad %x, %v, low = [1, -1], high = [1, -1], interior = [1, 0] : (tensor<4x6xf64>, tensor<f64>) -> tensor<9x4xf64>
      %3 = stablehlo.reverse %2, dims = [0] : tensor<9x4xf64>
      return %0, %1, %3 : tensor<4x6xf64>, tensor<3x2xf64>, tensor<9x4xf64>
    })",
     {0, 1}},
};
INSTANTIATE_TEST_SUITE_P(Programs, Compiled, testing::ValuesIn(cases), [](const auto& one) { return std::string(one.param.name); });

/// Faults of a running program cite its text.
TEST(CompiledErrors, NameTheLineOfTheText) {
    const ir::FunctionPtr f = ops::parse("func.func @main(%x: tensor<1048576xf64>) -> tensor<1048576x1048576xf64> {\n"
                                         "  %0 = stablehlo.sine %x : tensor<1048576xf64>\n\n"
                                         "  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1048576xf64>) -> "
                                         "tensor<1048576x1048576xf64>\n"
                                         "  return %1 : tensor<1048576x1048576xf64>\n}\n",
                                         "folder/big.mlir")
                                  .main();
    EXPECT_EQ(describe(f->ops()[0].location), "big.mlir:2");
    EXPECT_EQ(describe(f->ops()[1].location), "big.mlir:4");
    CompiledBackend backend;
    std::string text;
    try {
        const std::vector<ir::Literal> arguments{ir::Literal::splat(f->type(0), 1)};
        (void)backend.run(f, arguments);
    } catch (const Error& e) {
        text = e.what();
    }
    EXPECT_NE(text.find("out of memory"), std::string::npos) << text;
    EXPECT_NE(text.find("(big.mlir:"), std::string::npos) << text;
}

} // namespace
} // namespace stithy::tool
