#pragma once

namespace stithy::runtime {

/// Once per process, at the first use of the runtime: what happens at fork (queues drain before, locks are held across, the
/// child starts its own threads) and at exit (queues drain, threads end). Cheap to call again.
void install_process_hooks() noexcept;

} // namespace stithy::runtime
