#include "ops/families.hpp"

namespace stithy::ops {

Rule find_dynamic(OpCode) { return {}; }

} // namespace stithy::ops
