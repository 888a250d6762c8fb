#include "ops/families.hpp"

namespace stithy::ops {

Rule find_reduce(OpCode) { return {}; }

} // namespace stithy::ops
