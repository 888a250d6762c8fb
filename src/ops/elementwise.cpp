#include "ops/families.hpp"

namespace stithy::ops {

Rule find_elementwise(OpCode) { return {}; }

} // namespace stithy::ops
