#pragma once
#include "ir/attributes.hpp"
#include "ir/opcode.hpp"

/// Arithmetic on single elements given as bits (zero-extended, as ir::Literal keeps them): exact integers; floats in double, rounded once
/// to the dtype.
namespace stithy::reference {

double to_double(DType dtype, std::uint64_t bits);
/// Sign- or zero-extended.
std::int64_t to_int(DType dtype, std::uint64_t bits);
std::uint64_t from_double(DType dtype, double value);
/// Keeps the low bits (integers and bool).
std::uint64_t from_int(DType dtype, std::int64_t value);

std::uint64_t convert(DType from, DType to, std::uint64_t bits);
/// Any unary elementwise operation but convert; `is_finite` gives a bool.
std::uint64_t unary(ir::OpCode code, DType dtype, std::uint64_t x);
/// Any binary elementwise operation but compare.
std::uint64_t binary(ir::OpCode code, DType dtype, std::uint64_t x, std::uint64_t y);
bool compare(const ir::CompareAttr& attr, DType dtype, std::uint64_t x, std::uint64_t y);

} // namespace stithy::reference
