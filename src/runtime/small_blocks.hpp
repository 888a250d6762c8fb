#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stithy::runtime {

inline constexpr std::size_t small_limit = 32768;
inline constexpr std::size_t small_classes = 32;

/// Sizes of the classes: multiples of 64 to 512, then four to each doubling.
[[nodiscard]] constexpr std::size_t class_size(std::size_t index) {
    if (index < 8) return (index + 1) * 64;
    const std::size_t octave = (index - 8) / 4, step = (index - 8) % 4;
    return (std::size_t{512} << octave) / 4 * (5 + step);
}

/// For each size in units of 64 bytes, the class that serves it.
inline constexpr auto class_table = [] {
    std::array<std::uint8_t, small_limit / 64 + 1> table{};
    std::size_t index = 0;
    for (std::size_t units = 0; units < table.size(); ++units) {
        while (class_size(index) < units * 64) ++index;
        table[units] = static_cast<std::uint8_t>(index);
    }
    return table;
}();
static_assert(class_size(small_classes - 1) == small_limit);

[[nodiscard]] constexpr std::size_t class_of(std::size_t bytes) { return class_table[(bytes + 63) / 64]; }

/// A free block's own memory links it to the next one; the first block of a batch links batches too.
struct FreeBlock {
    FreeBlock* next;
    FreeBlock* next_batch;
    std::size_t batch_count;
};

/// Bytes of live blocks that one thread adds or takes away before it tells the others.
inline constexpr std::int64_t counting_slop = 65536;

/// Free blocks and byte counts of one thread. Caches are reused by later threads and never destroyed. Only the owner writes;
/// the counts are atomic because statistics read them from elsewhere.
class ThreadCache {
public:
    struct Bin {
        FreeBlock* head = nullptr;
        std::uint32_t count = 0;
        std::uint32_t most = 0; // beyond this half of the bin goes to the common lists
    };
    ThreadCache();

    std::array<Bin, small_classes> bins;
    std::atomic<std::int64_t> delta{0}; // not yet in the common count
    std::atomic<std::int64_t> high{0};  // highest delta since it was last folded in
    ThreadCache* next_known = nullptr;
    ThreadCache* next_idle = nullptr;

    /// Counts bytes that came to life, or died when negative.
    void count(std::int64_t bytes) noexcept {
        const std::int64_t now = delta.load(std::memory_order_relaxed) + bytes;
        delta.store(now, std::memory_order_relaxed);
        if (now > high.load(std::memory_order_relaxed)) high.store(now, std::memory_order_relaxed);
        if (now > counting_slop || now < -counting_slop) [[unlikely]]
            fold();
    }
    /// Adds the count to the common one.
    void fold() noexcept;
    /// A block of a class whose bin is empty; null when the system has no memory.
    [[nodiscard]] void* refill(std::size_t index) noexcept;
    /// Gives half of a full bin to the common lists.
    void spill(std::size_t index) noexcept;
    void spill_all() noexcept;
};

/// This thread's cache once it has one. One word of static TLS, which the loader keeps room for even in libraries loaded late.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadCache* own_cache;
[[nodiscard]] ThreadCache& attach_cache() noexcept;
/// This thread's cache.
[[nodiscard]] inline ThreadCache& thread_cache() noexcept {
    if (ThreadCache* cache = own_cache) [[likely]]
        return *cache;
    return attach_cache();
}

/// Counts a large block at once.
void count_large(std::int64_t bytes) noexcept;
/// Bytes of live blocks.
[[nodiscard]] std::uint64_t counted_bytes() noexcept;
/// The same without what threads have not folded in: one load.
[[nodiscard]] std::uint64_t counted_bytes_roughly() noexcept;
[[nodiscard]] std::uint64_t counted_peak() noexcept;
void reset_counted_peak() noexcept;
/// Address space taken for small blocks.
[[nodiscard]] std::uint64_t small_mapped() noexcept;

// Held across a fork.
void lock_small_blocks() noexcept;
void unlock_small_blocks() noexcept;

} // namespace stithy::runtime
