#include "runtime/signal.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stithy::runtime {

void futex_wait(const std::uint32_t* word, std::uint32_t expected) noexcept {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(const std::uint32_t* word, int count) noexcept { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0); }

void Signal::wait(std::uint32_t seen, int spins) noexcept {
    for (int i = 0; i < spins; ++i) {
        if (epoch_.load(std::memory_order_relaxed) != seen) return;
        spin_pause();
    }
    // Announce first, look again after: either the notifier sees the sleeper or the sleeper sees the event.
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while (epoch_.load(std::memory_order_seq_cst) == seen) futex_wait(word(), seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace stithy::runtime
