#include "ops/families.hpp"

namespace stithy::ops {

Rule find_control(OpCode) { return {}; }

} // namespace stithy::ops
