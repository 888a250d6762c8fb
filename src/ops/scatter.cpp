#include "ops/families.hpp"

namespace stithy::ops {

Rule find_scatter(OpCode) { return {}; }

} // namespace stithy::ops
