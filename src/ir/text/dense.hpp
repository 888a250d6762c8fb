#pragma once
#include "ir/text/reader.hpp"

namespace stithy::ir::text {

/// The literal of `dense<PAYLOAD> : TYPE`; `begin` and `end` bound the payload in the reader's text.
Literal decode_dense(const Reader& reader, std::size_t begin, std::size_t end, const Type& type);

/// `dense<...>` of a literal, without its type: numbers that read back to the same bits, a hex string for more than 100 different elements.
std::string dense_text(const Literal& literal);

/// A float as MLIR's text wants it: decimal with a dot when that reads back to the same bits, else its bits in hex (NaN, infinities).
std::string float_text(DType dtype, std::uint64_t bits);

} // namespace stithy::ir::text
