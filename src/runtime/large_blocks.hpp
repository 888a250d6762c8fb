#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>

namespace stithy::runtime {

/// Blocks above 32 KiB: cut from mapped regions by best fit, joined with free neighbours when they come back. The last few
/// freed ones wait in a short list, where a loop that frees and takes the same sizes finds them at once.
class LargeBlocks {
public:
    /// Null when the system has no memory.
    [[nodiscard]] void* take(std::size_t bytes) noexcept;
    void give(void* start, std::size_t bytes) noexcept;

    [[nodiscard]] std::uint64_t pooled() noexcept;
    [[nodiscard]] std::uint64_t mapped() noexcept;
    [[nodiscard]] std::uint64_t limit() noexcept;
    void set_limit(std::uint64_t bytes) noexcept;
    void trim() noexcept;

    /// Held across a fork.
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

private:
    struct Block {
        char* start;
        std::size_t size;
        std::size_t warm; // of a free block: bytes at most that may hold pages
        Block* before;    // neighbours in the same region
        Block* after;
        bool free;
    };
    struct BySize {
        bool operator()(const Block* a, const Block* b) const { return a->size != b->size ? a->size < b->size : a->start < b->start; }
    };
    struct Recent {
        char* start = nullptr;
        std::size_t size = 0;
    };

    [[nodiscard]] char* take_recent(std::size_t size) noexcept;
    [[nodiscard]] char* take_fitting(std::size_t size);
    [[nodiscard]] bool map_more(std::size_t size);
    void join(char* start);
    void flush_recent();
    void merge_after(Block* block);
    void trim_to(std::uint64_t bytes);

    std::mutex mutex_;
    std::set<Block*, BySize> free_;
    std::unordered_map<char*, Block*> used_; // also those in recent_
    std::array<Recent, 16> recent_{};
    std::size_t next_recent_ = 0;
    std::uint64_t pooled_ = 0; // free bytes that may hold pages
    std::uint64_t mapped_ = 0;
    std::uint64_t limit_ = 0; // 0: not set yet
};

[[nodiscard]] LargeBlocks& large_blocks() noexcept;

} // namespace stithy::runtime
