#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Values that a loop or while carries but never changes become its invariants: text that JAX prints carries everything that a body reads.
ir::FunctionPtr settle_invariants(const ir::FunctionPtr& f);

} // namespace stithy::pass
