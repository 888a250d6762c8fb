#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Turns a `while` that counts one carried integer up by one to an invariant limit, as JAX prints its scans and fori_loops, into a counted loop.
ir::FunctionPtr count_whiles(const ir::FunctionPtr& f);

} // namespace stithy::pass
