#include "ops/families.hpp"

namespace stithy::ops {

Rule find_slice(OpCode) { return {}; }

} // namespace stithy::ops
