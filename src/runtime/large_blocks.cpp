#include "runtime/large_blocks.hpp"

#include "runtime/allocator.hpp"
#include "runtime/system_memory.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace stithy::runtime {
namespace {

constexpr std::size_t granule = 4096;
constexpr std::size_t least_region = std::size_t{8} << 20, most_region = std::size_t{128} << 20;

} // namespace

LargeBlocks& large_blocks() noexcept {
    static LargeBlocks* const blocks = new LargeBlocks; // never destroyed: buffers may outlive everything
    return *blocks;
}

void* LargeBlocks::take(std::size_t bytes) noexcept {
    if (bytes > (std::size_t{1} << 47)) return nullptr;
    const std::size_t size = round_up(bytes, granule);
    const std::lock_guard lock(mutex_);
    try {
        char* start = take_recent(size);
        if (!start) start = take_fitting(size);
        if (!start) {
            flush_recent();
            start = take_fitting(size);
        }
        if (!start && map_more(size)) start = take_fitting(size);
        if (start) mark_used(start, bytes);
        return start;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void LargeBlocks::give(void* start, std::size_t bytes) noexcept {
    const std::size_t size = round_up(bytes, granule);
    const std::lock_guard lock(mutex_);
    mark_free(start, size);
    Recent& oldest = recent_[next_recent_];
    next_recent_ = (next_recent_ + 1) % recent_.size();
    if (oldest.start) join(oldest.start);
    oldest = {static_cast<char*>(start), size};
    pooled_ += size;
    if (limit_ == 0) limit_ = memory_limit() / 4;
    if (pooled_ > limit_) trim_to(limit_ / 2);
}

char* LargeBlocks::take_recent(std::size_t size) noexcept {
    for (std::size_t i = 1; i <= recent_.size(); ++i) { // newest first: its data may still be in the cache
        Recent& recent = recent_[(next_recent_ + recent_.size() - i) % recent_.size()];
        if (recent.size != size || !recent.start) continue;
        pooled_ -= size;
        return std::exchange(recent, Recent{}).start;
    }
    return nullptr;
}

char* LargeBlocks::take_fitting(std::size_t size) {
    Block wanted{nullptr, size, 0, nullptr, nullptr, true};
    const auto found = free_.lower_bound(&wanted);
    if (found == free_.end()) return nullptr;
    Block* const block = *found;
    Block* rest = nullptr;
    if (block->size > size) rest = new Block{block->start + size, block->size - size, 0, block, block->after, true};
    try {
        used_.emplace(block->start, block);
    } catch (...) {
        delete rest;
        throw;
    }
    auto node = free_.extract(found);
    pooled_ -= block->warm;
    block->free = false;
    if (!rest) return block->start;
    rest->warm = std::min(block->warm, rest->size);
    block->size = size;
    if (block->after) block->after->before = rest;
    block->after = rest;
    pooled_ += rest->warm;
    node.value() = rest; // the node is used again: this cannot fail
    free_.insert(std::move(node));
    return block->start;
}

bool LargeBlocks::map_more(std::size_t size) {
    const std::size_t usual = std::clamp(round_up(static_cast<std::size_t>(mapped_ / 4), huge_page), least_region, most_region);
    auto block = std::make_unique<Block>();
    std::size_t bytes = std::max(round_up(size, huge_page), usual);
    void* region = map_region(bytes);
    if (!region) {
        trim_to(0);
        bytes = round_up(size, huge_page);
        region = map_region(bytes);
    }
    if (!region) return false;
    *block = {static_cast<char*>(region), bytes, 0, nullptr, nullptr, true};
    try {
        free_.insert(block.get());
    } catch (...) {
        unmap_region(region, bytes);
        throw;
    }
    block.release();
    mapped_ += bytes;
    return true;
}

/// Makes a given-back block a free one and joins it with its free neighbours. Its bytes are in pooled_ already.
void LargeBlocks::join(char* start) {
    const auto found = used_.find(start);
    Block* block = found->second;
    used_.erase(found);
    block->warm = block->size;
    block->free = true;
    if (Block* before = block->before; before && before->free) {
        free_.erase(before);
        merge_after(before);
        block = before;
    }
    if (Block* after = block->after; after && after->free) {
        free_.erase(after);
        merge_after(block);
    }
    free_.insert(block);
}

void LargeBlocks::merge_after(Block* block) {
    Block* const after = block->after;
    block->size += after->size;
    block->warm += after->warm;
    block->after = after->after;
    if (block->after) block->after->before = block;
    delete after;
}

void LargeBlocks::flush_recent() {
    for (Recent& recent : recent_)
        if (char* start = std::exchange(recent, Recent{}).start) join(start);
}

void LargeBlocks::trim_to(std::uint64_t bytes) {
    flush_recent();
    std::vector<Block*> largest_first(free_.rbegin(), free_.rend());
    for (Block* block : largest_first) {
        if (pooled_ <= bytes) return;
        if (!block->before && !block->after) { // a whole region
            free_.erase(block);
            pooled_ -= block->warm;
            mapped_ -= block->size;
            unmap_region(block->start, block->size);
            delete block;
            continue;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(block->start);
        const std::size_t head = round_up(address, huge_page) - address;
        if (block->size < head + huge_page || block->warm == 0) continue;
        const std::size_t inner = (block->size - head) / huge_page * huge_page;
        release_pages(block->start + head, inner);
        const std::size_t left = std::min(block->warm, block->size - inner);
        pooled_ -= block->warm - left;
        block->warm = left;
    }
}

std::uint64_t LargeBlocks::pooled() noexcept {
    const std::lock_guard lock(mutex_);
    return pooled_;
}

std::uint64_t LargeBlocks::mapped() noexcept {
    const std::lock_guard lock(mutex_);
    return mapped_;
}

std::uint64_t LargeBlocks::limit() noexcept {
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) limit_ = memory_limit() / 4;
    return limit_;
}

void LargeBlocks::set_limit(std::uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    limit_ = std::max<std::uint64_t>(bytes, 1);
    if (pooled_ > limit_) trim_to(limit_);
}

void LargeBlocks::trim() noexcept {
    const std::lock_guard lock(mutex_);
    trim_to(0);
}

} // namespace stithy::runtime
