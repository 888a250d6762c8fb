#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Local rewrites that keep every bit: identities (x * 1, x - 0, select of equal sides), folded constants, merged reshapes, transposes and
/// broadcasts, dynamic slices at constant places.
ir::FunctionPtr simplify(const ir::FunctionPtr& f);

} // namespace stithy::pass
