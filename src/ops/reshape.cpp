#include "ops/families.hpp"

namespace stithy::ops {

Rule find_reshape(OpCode) { return {}; }

} // namespace stithy::ops
