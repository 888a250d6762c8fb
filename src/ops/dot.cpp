#include "ops/families.hpp"

namespace stithy::ops {

Rule find_dot(OpCode) { return {}; }

} // namespace stithy::ops
