#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// The function with only the needed results (all of them kept in order where needed[i]) and without operations nobody needs; inside loops,
/// whiles, branches and calls too: dead carries, xs, ys, accumulators, invariants and captures go. Parameters stay.
FunctionPtr eliminate_dead(const FunctionPtr& f, const Mask& needed);
/// All results needed.
FunctionPtr eliminate_dead(const FunctionPtr& f);

/// Which parameters the needed results depend on.
Mask needed_parameters(const Function& f, const Mask& needed_results);

} // namespace stithy::transform
