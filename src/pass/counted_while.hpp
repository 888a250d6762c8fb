#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Turns a `while` that counts one carried integer up to an invariant limit, as JAX prints its scans and fori_loops, into a counted loop.
ir::FunctionPtr count_whiles(const ir::FunctionPtr& f);

/// What reverse mode wants of a program's loops before it differentiates: invariants settled, whiles counted, counters derived, and what
/// does not change from step to step computed before the loop, so that its derivative is taken once after it.
ir::FunctionPtr settle_loops(const ir::FunctionPtr& f);

} // namespace stithy::pass
