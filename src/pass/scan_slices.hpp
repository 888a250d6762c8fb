#pragma once
#include "ir/function.hpp"

namespace stithy::pass {

/// Slices that a loop's body reads at its counter become xs, and a carry that it only writes at its counter becomes ys, where the loop runs
/// over all of the array: scans as JAX prints them, whose gradients then keep each of these values once.
ir::FunctionPtr slices_of_scans(const ir::FunctionPtr& f);

} // namespace stithy::pass
