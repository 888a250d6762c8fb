#pragma once
#include "stithy/error.hpp"

#include <cstddef>
#include <cstdint>

/// The process-wide caching allocator. Blocks are 64-byte aligned and hold whatever was there before.
/// Up to 32 KiB they come from per-thread free lists of fixed classes; larger ones are cut from huge-page-advised
/// regions, joined again when freed, and kept for reuse up to `pool_limit()`.
namespace stithy::runtime {

inline constexpr std::size_t block_alignment = 64;

/// Memory that is not to be had. Who knows the operation and the user's line adds them.
class OutOfMemory final : public Error {
public:
    using Error::Error;
};

/// Memory of at least `bytes` bytes (a zero size gives a valid block), counted as `bytes` in the statistics.
/// Throws OutOfMemory when the size is absurd or the memory is not to be had.
[[nodiscard]] void* allocate(std::size_t bytes);
/// As `allocate`, but null instead of an Error.
[[nodiscard]] void* try_allocate(std::size_t bytes) noexcept;
/// Gives back a block of `allocate(bytes)`, from any thread; null is ignored.
void deallocate(void* block, std::size_t bytes) noexcept;

/// As above, with another figure in the statistics than the size (a header is not the user's memory).
[[nodiscard]] void* allocate_counted(std::size_t bytes, std::size_t counted);
void deallocate_counted(void* block, std::size_t bytes, std::size_t counted) noexcept;

/// The product, or OutOfMemory when it does not fit: sizes of arrays go through here.
[[nodiscard]] std::size_t checked_multiply(std::size_t a, std::size_t b);

/// Figures of the allocator. Large blocks are counted exactly. Small ones are counted per thread and folded in at every
/// 64 KiB, so with several threads at work `bytes_peak` may be off by 64 KiB a thread; with one it is exact.
struct MemoryFigures {
    std::uint64_t bytes_in_use; ///< counted bytes of live blocks
    std::uint64_t bytes_peak;   ///< highest bytes_in_use since the last reset
    std::uint64_t bytes_pooled; ///< bytes of large free blocks kept for reuse
    std::uint64_t bytes_mapped; ///< address space taken from the system
};
[[nodiscard]] MemoryFigures memory_figures();
/// Makes the peak what is in use now.
void reset_memory_peak();

/// Bytes of large free blocks that the pool may keep (a quarter of the memory unless set).
[[nodiscard]] std::uint64_t pool_limit();
void set_pool_limit(std::uint64_t bytes);
/// Gives the pages of large free blocks back to the system.
void trim_pool();

/// Bytes that this process may use: the machine's memory or the control group's limit, whichever is less.
[[nodiscard]] std::uint64_t memory_limit();

} // namespace stithy::runtime
