#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Replaces every call by the operations of its callee, in regions too.
ir::FunctionPtr inline_calls(const ir::FunctionPtr& f);

} // namespace stithy::pass
