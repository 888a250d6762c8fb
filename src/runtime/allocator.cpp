#include "runtime/allocator.hpp"

#include "base/error.hpp"
#include "runtime/control_group.hpp"
#include "runtime/large_blocks.hpp"
#include "runtime/small_blocks.hpp"
#include "runtime/system_memory.hpp"

#include <limits>
#include <string>
#include <unistd.h>

namespace stithy::runtime {
namespace {

[[noreturn]] void out_of_memory(std::size_t bytes) {
    throw OutOfMemory("out of memory: " + std::to_string(bytes) + " bytes were asked for with " + std::to_string(counted_bytes()) +
                      " in use, of " + std::to_string(memory_limit()) + " that this process may use");
}

[[gnu::noinline]] void* take_large(std::size_t bytes, std::size_t counted) noexcept {
    // Linux lends more than it has and kills whoever touches it: refuse what cannot be there.
    const std::uint64_t limit = memory_limit();
    if (bytes > limit || counted_bytes_roughly() > limit - bytes) return nullptr;
    void* const block = large_blocks().take(bytes);
    if (block) count_large(static_cast<std::int64_t>(counted));
    return block;
}

inline void* take(std::size_t bytes, std::size_t counted) noexcept {
    if (bytes > small_limit) return take_large(bytes, counted);
    ThreadCache& cache = thread_cache();
    const std::size_t index = class_of(bytes);
    ThreadCache::Bin& bin = cache.bins[index];
    void* block = bin.head;
    if (block) [[likely]] {
        bin.head = bin.head->next;
        --bin.count;
    } else {
        block = cache.refill(index);
        if (!block) return nullptr;
    }
    mark_used(block, bytes);
    if (counted != 0) cache.count(static_cast<std::int64_t>(counted));
    return block;
}

} // namespace

void* allocate_counted(std::size_t bytes, std::size_t counted) {
    void* const block = take(bytes, counted);
    if (!block) [[unlikely]]
        out_of_memory(bytes);
    return block;
}

void* allocate(std::size_t bytes) { return allocate_counted(bytes, bytes); }

void* try_allocate(std::size_t bytes) noexcept { return take(bytes, bytes); }

void deallocate_counted(void* block, std::size_t bytes, std::size_t counted) noexcept {
    if (!block) return;
    if (bytes > small_limit) {
        large_blocks().give(block, bytes);
        count_large(-static_cast<std::int64_t>(counted));
        return;
    }
    ThreadCache& cache = thread_cache();
    const std::size_t index = class_of(bytes);
    ThreadCache::Bin& bin = cache.bins[index];
    auto* const free_block = static_cast<FreeBlock*>(block);
    mark_used(free_block, sizeof(FreeBlock));
    mark_free(free_block + 1, class_size(index) - sizeof(FreeBlock));
    free_block->next = bin.head;
    bin.head = free_block;
    if (++bin.count > bin.most) [[unlikely]]
        cache.spill(index);
    if (counted != 0) cache.count(-static_cast<std::int64_t>(counted));
}

void deallocate(void* block, std::size_t bytes) noexcept { deallocate_counted(block, bytes, bytes); }

std::size_t checked_multiply(std::size_t a, std::size_t b) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw OutOfMemory("out of memory: a size of " + std::to_string(a) + " x " + std::to_string(b) + " bytes does not fit in 64 bits");
    return product;
}

MemoryFigures memory_figures() {
    return {counted_bytes(), counted_peak(), large_blocks().pooled(), large_blocks().mapped() + small_mapped()};
}

void reset_memory_peak() { reset_counted_peak(); }

std::uint64_t pool_limit() { return large_blocks().limit(); }

void set_pool_limit(std::uint64_t bytes) { large_blocks().set_limit(bytes); }

void trim_pool() { large_blocks().trim(); }

std::uint64_t memory_limit() {
    static const std::uint64_t limit = [] {
        const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        const std::uint64_t group = control_group_memory();
        return group && group < physical ? group : physical;
    }();
    return limit;
}

} // namespace stithy::runtime
