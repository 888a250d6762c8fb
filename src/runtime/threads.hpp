#pragma once
#include <cstddef>
#include <pthread.h>

namespace stithy::runtime {

/// Starts a thread of the library: all signals blocked, so that the host's handlers run on the host's threads, and plain
/// floating-point mode, which it would else inherit. False when the system refuses.
[[nodiscard]] bool start_thread(pthread_t& thread, const char* name, std::size_t stack_bytes, void* (*main)(void*),
                                void* argument) noexcept;

/// Processors that this process may use: its affinity mask and its control group's quota, or STITHY_THREADS if that is less. At least 1.
[[nodiscard]] int count_processors();

} // namespace stithy::runtime
