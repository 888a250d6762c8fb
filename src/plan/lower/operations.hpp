#pragma once
#include "plan/lowering.hpp"

/// Operations that are lowered alone, one file each.
namespace stithy::plan {

Work lower_dot(Writer& w, Scope& scope, const ir::Op& op);
Work lower_scatter(Writer& w, Scope& scope, const ir::Op& op);

// plan/loops: operations with bodies
Work lower_loop(Writer& w, Scope& scope, const ir::Op& op);
Work lower_while(Writer& w, Scope& scope, const ir::Op& op);
Work lower_branch(Writer& w, Scope& scope, const ir::Op& op);

} // namespace stithy::plan
