#include "ir/equal.hpp"
#include "ir/text/text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace stithy::ir {
namespace {

Literal literal_of(const std::string& dense_and_type) {
    const FunctionPtr f = parse("func.func @main() {\n %0 = stablehlo.constant " + dense_and_type + "\n return\n}", "literal").main();
    return f->ops()[0].get<ConstantAttr>().value;
}

Literal printed_and_read(const Literal& value) {
    Builder b("main");
    Op op;
    op.code = OpCode::constant;
    op.attr = make_attr(ConstantAttr{value});
    (void)b.append(std::move(op), std::span(&value.type(), 1));
    return parse(print(*b.finish({})), "printed").main()->ops()[0].get<ConstantAttr>().value;
}

TEST(Literals, Splats) {
    EXPECT_EQ(literal_of("dense<-7> : tensor<2x3xi8>").element_as_int(4), -7);
    EXPECT_EQ(literal_of("dense<18446744073709551615> : tensor<ui64>").element_bits(0), ~std::uint64_t{0});
    EXPECT_EQ(literal_of("dense<true> : tensor<3xi1>").element_bits(1), 1u);
    EXPECT_EQ(literal_of("dense<8.0E-4> : tensor<f64>").element_as_double(0), 8.0e-4);
    EXPECT_EQ(literal_of("dense<0xFF> : tensor<ui8>").element_as_int(0), 255);
    EXPECT_EQ(literal_of("dense<0x7FC00001> : tensor<f32>").element_bits(0), 0x7FC00001u);
    EXPECT_TRUE(std::signbit(literal_of("dense<-0.000000e+00> : tensor<f32>").element_as_double(0)));
    EXPECT_TRUE(literal_of("dense<\"0x0000803F\"> : tensor<5xf32>").is_splat());
    EXPECT_EQ(literal_of("dense<1.0e+99> : tensor<f32>").element_as_double(0), std::numeric_limits<double>::infinity());
}

TEST(Literals, ListsAndHex) {
    const Literal list = literal_of("dense<[[1.5, -2.0, 0xFF800000], [3.0, 4, 5.0e-1]]> : tensor<2x3xf32>");
    EXPECT_EQ(list.element_as_double(0), 1.5);
    EXPECT_EQ(list.element_as_double(2), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(list.element_as_double(4), 4.0);
    EXPECT_EQ(literal_of("dense<\"0x0100FFFF\"> : tensor<2xi16>").element_as_int(1), -1);
    EXPECT_EQ(literal_of("dense<\"0x0001\"> : tensor<2xi1>").element_bits(1), 1u);
    EXPECT_EQ(literal_of("dense<\"0x0502\"> : tensor<10xi1>").element_bits(9), 1u) << "older texts pack bools";
    EXPECT_EQ(literal_of("dense<> : tensor<0x4xi64>").type().elements(), 0);
    EXPECT_EQ(literal_of("dense<1> : tensor<0x4xi64>").type().elements(), 0);
}

TEST(Literals, AreReadBackBitByBit) {
    const double doubles[] = {
        0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, 1.7976931348623157e308, 123456789.0, std::numeric_limits<double>::infinity(), std::nan("7")};
    for (double d : doubles) {
        const Literal wide = Literal::splat(Type(f64, {}), d);
        EXPECT_EQ(printed_and_read(wide), wide) << d;
        const Literal narrow = Literal::splat(Type(f32, {}), d);
        EXPECT_EQ(printed_and_read(narrow), narrow) << d;
    }
    const Literal nan = Literal::splat_bits(Type(f32, {}), 0xFFC01234u);
    EXPECT_EQ(printed_and_read(nan), nan);
    for (DType dtype : {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64}) {
        for (std::int64_t n : {0, 1, 7, 101}) { // listed, and as a hex string
            std::vector<std::byte> bytes(static_cast<std::size_t>(2 * n) * dtype.size());
            for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(dtype.is_bool() ? i % 3 == 0 : i * 37 + 5);
            const Literal value = Literal::dense(Type(dtype, {2, n}), bytes);
            EXPECT_EQ(printed_and_read(value), value) << dtype.name() << " " << n;
        }
    }
}

TEST(Literals, LargeHexStringsAreQuick) {
    const std::size_t n = 1 << 20;
    std::string text = "dense<\"0x";
    for (std::size_t i = 0; i < n; ++i) text += i % 2 == 0 ? "0000803F" : "00000040";
    const Literal value = literal_of(text + "\"> : tensor<1048576xf32>");
    EXPECT_EQ(value.element_as_double(1 << 19), 1.0);
    EXPECT_EQ(value.element_as_double((1 << 20) - 1), 2.0);
}

} // namespace
} // namespace stithy::ir
