#include "stithy/synchronize.hpp"

#include "runtime/queue.hpp"

namespace stithy {

void synchronize() { runtime::synchronize_all(); }

} // namespace stithy
