#pragma once

namespace stithy {

/// Waits until everything that was asked for is computed. Throws the first failure that no reader has seen.
void synchronize();

} // namespace stithy
