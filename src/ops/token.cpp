#include "ops/families.hpp"

namespace stithy::ops {

Rule find_token(OpCode) { return {}; }

} // namespace stithy::ops
