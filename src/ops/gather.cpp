#include "ops/families.hpp"

namespace stithy::ops {

Rule find_gather(OpCode) { return {}; }

} // namespace stithy::ops
