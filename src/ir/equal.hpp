#pragma once
#include "ir/function.hpp"

namespace stithy::ir {

/// Whether two functions are the same operation by operation: types, attributes, operands, effects, regions, linear marks. Names of
/// functions and locations do not count.
bool equal(const Function& a, const Function& b);

} // namespace stithy::ir
