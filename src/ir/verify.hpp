#pragma once
#include "ir/function.hpp"

namespace stithy::ir {

/// Checks the structure of a function and its regions: values defined before use, numbers and kinds of operands, attributes, regions and
/// results per operation, signatures of regions, accumulators and stacks used at most once, linear parameters used linearly only. Throws
/// InternalError that shows the operation. Shapes and dtypes of plain operations are checked by ops::verify_types.
void verify(const Function& function);

/// Checks that what depends on the marked parameters is used linearly only; returns which results depend on them. Part of `verify`.
std::vector<bool> verify_linear(const Function& function, const std::vector<bool>& linear_parameters);

/// An operation in one line, for messages: "op 3, add (f64[2], f64[2]) -> (f64[2]), of @f".
std::string describe(const Function& function, const Op& op);

} // namespace stithy::ir
