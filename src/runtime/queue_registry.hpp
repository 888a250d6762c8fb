#pragma once

namespace stithy::runtime {

// All queues at the turns of the process's life.

/// Waits until nothing is queued or running, then keeps the queues locked: a child that inherited half a computation could
/// neither finish nor drop it.
void prepare_queues_for_fork() noexcept;
void release_queues_after_fork(bool child) noexcept;
/// At exit: runs what is queued and ends the executors.
void close_queues() noexcept;

} // namespace stithy::runtime
