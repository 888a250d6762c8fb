#include "runtime/small_blocks.hpp"

#include "runtime/process_hooks.hpp"
#include "runtime/system_memory.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <pthread.h>

namespace stithy::runtime {

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache* own_cache = nullptr;

namespace {

/// What the threads share. Everything here is usable before constructors ran and after destructors did.
struct Common {
    std::mutex mutex;
    std::array<FreeBlock*, small_classes> batches{}; // guarded by mutex, as all up to here
    char* slab = nullptr;                            // what is left of the newest slab
    std::size_t slab_left = 0;
    ThreadCache* known = nullptr; // all caches ever made
    ThreadCache* idle = nullptr;  // those whose thread has ended
    std::atomic<std::uint64_t> mapped{0};
    alignas(64) std::atomic<std::int64_t> bytes{0}; // of live blocks, but for what threads have not folded in
    std::atomic<std::int64_t> peak{0};
};
constinit Common common;

constexpr std::size_t chunk_bytes(std::size_t index) { return std::max<std::size_t>(16384, class_size(index) * 4); }
constexpr std::uint32_t batch_blocks(std::size_t index) {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(32768 / class_size(index), 2, 32));
}

void raise_peak(std::int64_t value) noexcept {
    std::int64_t peak = common.peak.load(std::memory_order_relaxed);
    while (value > peak && !common.peak.compare_exchange_weak(peak, value, std::memory_order_relaxed)) {
    }
}

/// Memory for new blocks, from 2 MiB slabs that are never given back. Needs the lock.
char* carve(std::size_t bytes) noexcept {
    if (common.slab_left < bytes) { // the remainder, less than a chunk, is lost
        char* fresh = static_cast<char*>(map_region(huge_page));
        if (!fresh) return nullptr;
        common.slab = fresh;
        common.slab_left = huge_page;
        common.mapped.fetch_add(huge_page, std::memory_order_relaxed);
    }
    char* const start = common.slab;
    common.slab += bytes;
    common.slab_left -= bytes;
    return start;
}

void push_batch(std::size_t index, FreeBlock* head, std::size_t count) noexcept {
    head->next_batch = common.batches[index];
    head->batch_count = count;
    common.batches[index] = head;
}

/// At the end of a thread: its blocks go to the others.
void retire(void* cache_pointer) {
    auto* cache = static_cast<ThreadCache*>(cache_pointer);
    cache->spill_all();
    cache->fold();
    own_cache = nullptr;
    const std::lock_guard lock(common.mutex);
    cache->next_idle = common.idle;
    common.idle = cache;
}

/// A key's destructor, unlike a thread_local object's, runs after those of all thread_local objects, and again if they come back.
pthread_key_t retire_key() noexcept {
    static const pthread_key_t key = [] {
        pthread_key_t made{};
        pthread_key_create(&made, retire);
        return made;
    }();
    return key;
}

} // namespace

ThreadCache& attach_cache() noexcept {
    install_process_hooks();
    ThreadCache* cache = nullptr;
    {
        const std::lock_guard lock(common.mutex);
        if (common.idle) {
            cache = common.idle;
            common.idle = cache->next_idle;
        }
    }
    if (!cache) {
        cache = new ThreadCache;
        const std::lock_guard lock(common.mutex);
        cache->next_known = common.known;
        common.known = cache;
    }
    own_cache = cache;
    pthread_setspecific(retire_key(), cache);
    return *cache;
}

ThreadCache::ThreadCache() {
    for (std::size_t i = 0; i < small_classes; ++i) bins[i].most = 2 * batch_blocks(i);
}

void ThreadCache::fold() noexcept {
    raise_peak(common.bytes.load(std::memory_order_relaxed) + high.load(std::memory_order_relaxed));
    common.bytes.fetch_add(delta.load(std::memory_order_relaxed), std::memory_order_relaxed);
    delta.store(0, std::memory_order_relaxed);
    high.store(0, std::memory_order_relaxed);
}

void* ThreadCache::refill(std::size_t index) noexcept {
    Bin& bin = bins[index];
    const std::size_t size = class_size(index);
    char* start = nullptr;
    {
        const std::lock_guard lock(common.mutex);
        if (FreeBlock* batch = common.batches[index]) {
            common.batches[index] = batch->next_batch;
            bin.head = batch->next;
            bin.count = static_cast<std::uint32_t>(batch->batch_count - 1);
            return batch;
        }
        start = carve(chunk_bytes(index));
    }
    if (!start) return nullptr;
    const std::size_t blocks = chunk_bytes(index) / size;
    for (std::size_t i = blocks; i-- > 1;) { // in address order; touches each block, which its user would do anyway
        auto* block = reinterpret_cast<FreeBlock*>(start + i * size);
        block->next = bin.head;
        bin.head = block;
        mark_free(block + 1, size - sizeof(FreeBlock));
    }
    bin.count = static_cast<std::uint32_t>(blocks - 1);
    return start;
}

void ThreadCache::spill(std::size_t index) noexcept {
    Bin& bin = bins[index];
    const std::uint32_t keep = bin.count / 2; // the most recently freed ones
    FreeBlock* last = bin.head;
    for (std::uint32_t i = 1; i < keep; ++i) last = last->next;
    FreeBlock* const rest = last->next;
    last->next = nullptr;
    {
        const std::lock_guard lock(common.mutex);
        push_batch(index, rest, bin.count - keep);
    }
    bin.count = keep;
}

void ThreadCache::spill_all() noexcept {
    const std::lock_guard lock(common.mutex);
    for (std::size_t i = 0; i < small_classes; ++i) {
        if (bins[i].count) push_batch(i, bins[i].head, bins[i].count);
        bins[i].head = nullptr;
        bins[i].count = 0;
    }
}

void count_large(std::int64_t bytes) noexcept {
    thread_cache().fold(); // so that this thread's small blocks are in the peak with it
    raise_peak(common.bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

std::uint64_t counted_bytes() noexcept {
    const std::lock_guard lock(common.mutex);
    std::int64_t bytes = common.bytes.load(std::memory_order_relaxed);
    for (const ThreadCache* cache = common.known; cache; cache = cache->next_known) bytes += cache->delta.load(std::memory_order_relaxed);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

std::uint64_t counted_bytes_roughly() noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(common.bytes.load(std::memory_order_relaxed), 0));
}

std::uint64_t counted_peak() noexcept {
    const auto now = static_cast<std::int64_t>(counted_bytes());
    raise_peak(now);
    const std::lock_guard lock(common.mutex);
    for (const ThreadCache* cache = common.known; cache; cache = cache->next_known) {
        // What this thread had at its highest, with what the others have now.
        raise_peak(now + cache->high.load(std::memory_order_relaxed) - cache->delta.load(std::memory_order_relaxed));
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(common.peak.load(std::memory_order_relaxed), 0));
}

void reset_counted_peak() noexcept {
    thread_cache().fold();
    const auto now = static_cast<std::int64_t>(counted_bytes());
    const std::lock_guard lock(common.mutex);
    for (ThreadCache* cache = common.known; cache; cache = cache->next_known)
        cache->high.store(cache->delta.load(std::memory_order_relaxed), std::memory_order_relaxed);
    common.peak.store(now, std::memory_order_relaxed);
}

std::uint64_t small_mapped() noexcept { return common.mapped.load(std::memory_order_relaxed); }

void lock_small_blocks() noexcept { common.mutex.lock(); }

void unlock_small_blocks() noexcept { common.mutex.unlock(); }

} // namespace stithy::runtime
