#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Lets products read and write what lies in memory: transpositions of an operand go into the product's dimension numbers, a transposed
/// product becomes the product of exchanged operands, and an operand whose axes the library cannot take is laid out by an explicit
/// transposition, which can then leave a loop.
ir::FunctionPtr fold_transposes(const ir::FunctionPtr& f);

} // namespace stithy::pass
