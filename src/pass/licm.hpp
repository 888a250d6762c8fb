#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Moves what does not change from step to step out of loops (loop-invariant code motion), unless that would keep something wider than what
/// it is made of.
ir::FunctionPtr hoist_invariants(const ir::FunctionPtr& f);

/// The same, only out of loops that are known to make a step: the derivative of what a loop of no steps never computes is zero, but outside
/// of the loop it would be 0 times a slope that may be infinite.
ir::FunctionPtr hoist_before_derivative(const ir::FunctionPtr& f);

} // namespace stithy::pass
