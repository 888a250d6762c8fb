#pragma once
#include <atomic>
#include <cstdint>

namespace stithy::runtime {

/// Sleeps while the word holds `expected` (may wake without cause).
void futex_wait(const std::uint32_t* word, std::uint32_t expected) noexcept;
/// Wakes up to `count` sleepers on the word; the address need not be valid any more.
void futex_wake(const std::uint32_t* word, int count) noexcept;

/// One spin of a wait loop: tells the processor that we wait.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// A count of events on which threads sleep. Unlike a condition variable it survives a fork, and waking nobody costs one load.
///
///     auto seen = signal.current(); if (!condition()) signal.wait(seen);   // the waiter, in a loop
///     make_condition_true(); signal.notify(1);                             // the other side
class Signal {
public:
    [[nodiscard]] std::uint32_t current() const noexcept { return epoch_.load(std::memory_order_seq_cst); }
    /// Sleeps unless something happened since `seen`; spins first for about `spins` pauses.
    void wait(std::uint32_t seen, int spins) noexcept;
    /// Counts an event and wakes up to `count` sleepers.
    void notify(int count) noexcept {
        epoch_.fetch_add(1, std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(word(), count);
    }
    void notify_all() noexcept { notify(1 << 30); }
    [[nodiscard]] std::uint32_t sleepers() const noexcept { return sleepers_.load(std::memory_order_relaxed); }
    /// Forgets sleepers of the parent process.
    void reset_after_fork() noexcept { sleepers_.store(0, std::memory_order_relaxed); }

private:
    [[nodiscard]] const std::uint32_t* word() const noexcept { return reinterpret_cast<const std::uint32_t*>(&epoch_); }

    std::atomic<std::uint32_t> epoch_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

} // namespace stithy::runtime
