#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// A simple reduction over axes of extent 1 only becomes one combination with its initial value. The planner relies on it.
ir::FunctionPtr settle_unit_reductions(const ir::FunctionPtr& f);

} // namespace stithy::pass
