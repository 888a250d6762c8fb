#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Sums of outer products over the steps of a loop leave it: the loop runs in chunks that stack the factors, and each chunk adds one matrix
/// product to the accumulator. The choice is by bytes: only where the factors of a step are small against the accumulator. Belongs after
/// all transformations.
ir::FunctionPtr gather_outer_products(const ir::FunctionPtr& f);

} // namespace stithy::pass
