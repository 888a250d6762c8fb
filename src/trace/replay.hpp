#pragma once
#include "array/bind.hpp"
#include "ir/function.hpp"

namespace stithy::detail {

/// The results of a function on arrays, one level below whoever asks: run now operation by operation, inlined into a staging trace, or
/// recorded as a call. Accumulator parameters and results are given as their tensors.
Arrays replay(const ir::FunctionPtr& f, Arrays arguments);

/// A function of one operation: its operands as parameters. With `values`, integers of rank 0 that are known without reading are constants
/// inside: bounds and starts of counters.
ir::FunctionPtr as_function(const ir::Op& op, std::span<const ir::Type> operands, std::span<const ir::Type> results,
                            const Arrays& values = {});

} // namespace stithy::detail
