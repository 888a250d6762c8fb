#pragma once
#include "ops/rules.hpp"

namespace stithy::ops {

/// The forward derivative of a combining region (accumulated.. N, elements.. N) -> N, as a region (accumulated.. N, their tangents.. N,
/// elements.. N, their tangents.. N) -> 2 N.
FunctionPtr dual_region(const ir::Function& region);

} // namespace stithy::ops
