#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// A sum that was accumulated on its own and then added to an accumulator goes into that accumulator from the start: what inlined callees
/// give to a loop's.
ir::FunctionPtr join_accumulators(const ir::FunctionPtr& f);

} // namespace stithy::pass
