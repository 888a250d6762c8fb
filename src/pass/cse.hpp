#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Shares equal pure operations within each function (common subexpressions).
ir::FunctionPtr share_common(const ir::FunctionPtr& f);

} // namespace stithy::pass
