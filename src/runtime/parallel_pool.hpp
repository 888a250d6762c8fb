#pragma once

namespace stithy::runtime {

// The worker threads behind parallel_for, at the turns of the process's life.

/// In the child of a fork: forgets the parent's workers and the loops of its other threads; new workers start at the next loop.
void reset_pool_after_fork() noexcept;
/// At exit: ends the workers; later loops run serially.
void stop_pool() noexcept;

} // namespace stithy::runtime
