#include "ops/families.hpp"

namespace stithy::ops {

Rule find_linear_types(OpCode) { return {}; }

} // namespace stithy::ops
