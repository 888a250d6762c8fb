#pragma once
#include "base/error.hpp"
#include "stithy/dtype.hpp"
#include "stithy/operand.hpp"

#include <cstdint>
#include <optional>
#include <span>

/// Weak C++ numbers among arrays, and single elements as numbers.
namespace stithy::detail {

/// The dtype in which operands meet: that of the arrays, promoted; a weak number joins if its kind (bool < integer < floating) is not
/// above, else i32 for an integer with bools and f64 for a floating number. Numbers alone promote as their own dtypes.
DType common_dtype(std::span<const Operand* const> operands);

/// The bits of a weak number in a dtype. Error, for `operation`, for an integer that does not fit.
std::uint64_t number_as(const Operand& number, DType dtype, const char* operation);

/// An element converted to another dtype; nothing where its value would change.
std::optional<std::uint64_t> convert_exactly(DType from, std::uint64_t bits, DType to);
/// An element converted as C++ converts.
std::uint64_t convert_bits(DType from, std::uint64_t bits, DType to);
/// The element as text, for messages and printing: "2.5", "nan", "true".
std::string element_text(DType dtype, std::uint64_t bits);

} // namespace stithy::detail
