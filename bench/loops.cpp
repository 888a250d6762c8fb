// Bare loops.
#include "harness.hpp"

namespace st = stithy;
using st::Array;

namespace bench {

std::vector<Work> loop_works() {
    auto recurrence = [](Array x) { return st::fori_loop(0, 10'000'000, [](Array, Array s) { return s * 0.999999 + 1e-3; }, x); };
    return {{"scan_1e7", [=] { return jitted(recurrence, Array(1.0)); }}};
}

} // namespace bench
