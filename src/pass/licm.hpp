#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Moves what does not change from step to step out of loops (loop-invariant code motion), unless that would keep something wider than what
/// it is made of.
ir::FunctionPtr hoist_invariants(const ir::FunctionPtr& f);

} // namespace stithy::pass
