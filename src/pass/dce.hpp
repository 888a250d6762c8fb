#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Drops what no result needs, inside loops and branches too (dead code).
ir::FunctionPtr drop_dead(const ir::FunctionPtr& f);

} // namespace stithy::pass
