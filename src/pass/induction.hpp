#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Integers that grow by the same number at each step of a counted loop are computed from its counter instead of being carried.
ir::FunctionPtr derive_counters(const ir::FunctionPtr& f);

} // namespace stithy::pass
