#pragma once
#include "ir/function.hpp"

#include <functional>

/// A slow, plain interpreter of the IR that tests compare with: one element at a time, floats in double and rounded once per operation,
/// libm's functions.
namespace stithy::reference {

/// Called for each custom_call with its operands; returns its results.
using CustomCall = std::function<std::vector<ir::Literal>(const ir::Op&, std::span<const ir::Literal>)>;

/// The results of the function. Parameters and results are tensors, or accumulators (given and returned as their tensors).
std::vector<ir::Literal> evaluate(const ir::Function& function, std::span<const ir::Literal> arguments,
                                  const CustomCall& custom_call = nullptr);

} // namespace stithy::reference
