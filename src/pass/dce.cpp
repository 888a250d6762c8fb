#include "pass/dce.hpp"

#include "transform/dce.hpp"

namespace stithy::pass {

ir::FunctionPtr drop_dead(const ir::FunctionPtr& f) { return transform::eliminate_dead(f); }

} // namespace stithy::pass
