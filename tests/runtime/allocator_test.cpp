#include "runtime/allocator.hpp"

#include "runtime/large_blocks.hpp"
#include "runtime/small_blocks.hpp"
#include "runtime/system_memory.hpp"
#include "stithy/error.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace stithy::runtime;

TEST(Allocator, ClassesCoverEverySmallSize) {
    for (std::size_t bytes = 0; bytes <= small_limit; ++bytes) {
        const std::size_t index = class_of(bytes);
        ASSERT_LT(index, small_classes);
        ASSERT_GE(class_size(index), bytes);
        ASSERT_EQ(class_size(index) % 64, 0u);
        if (index > 0) {
            ASSERT_LT(class_size(index - 1), bytes);
        }
    }
}

TEST(Allocator, BlocksAreAlignedAndDisjoint) {
    std::mt19937_64 random(1);
    struct Block {
        unsigned char* start;
        std::size_t bytes;
        unsigned char mark;
    };
    std::vector<Block> live;
    auto intact = [](const Block& b) {
        return b.bytes == 0 || (b.start[0] == b.mark && b.start[b.bytes / 2] == b.mark && b.start[b.bytes - 1] == b.mark);
    };
    for (int step = 0; step < 6000; ++step) {
        if (live.size() < 200 || random() % 2) {
            const std::size_t bytes = random() % 8 == 0 ? random() % 3'000'000 : random() % 5000;
            Block block{static_cast<unsigned char*>(allocate(bytes)), bytes, static_cast<unsigned char>(random())};
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.start) % block_alignment, 0u);
            if (bytes) block.start[0] = block.start[bytes / 2] = block.start[bytes - 1] = block.mark;
            live.push_back(block);
        } else {
            std::swap(live[random() % live.size()], live.back());
            ASSERT_TRUE(intact(live.back()));
            deallocate(live.back().start, live.back().bytes);
            live.pop_back();
        }
    }
    for (const Block& block : live) {
        EXPECT_TRUE(intact(block));
        deallocate(block.start, block.bytes);
    }
}

TEST(Allocator, ReusesWhatWasFreed) {
    for (std::size_t bytes : {std::size_t{64}, std::size_t{5000}, std::size_t{100'000}, std::size_t{10'000'000}}) {
        void* first = allocate(bytes);
        deallocate(first, bytes);
        void* second = allocate(bytes);
        EXPECT_EQ(first, second) << bytes;
        deallocate(second, bytes);
    }
}

TEST(Allocator, FreeNeighboursAreJoined) {
    // Two thirds of a region's worth in pieces, freed, then one block of that size: nothing new is mapped.
    std::vector<void*> pieces;
    for (int i = 0; i < 40; ++i) pieces.push_back(allocate(1 << 20));
    const auto mapped = memory_figures().bytes_mapped;
    for (void* piece : pieces) deallocate(piece, 1 << 20);
    void* whole = allocate(4 << 20);
    EXPECT_EQ(memory_figures().bytes_mapped, mapped);
    deallocate(whole, 4 << 20);
}

TEST(Allocator, CountsExactlyInOneThread) {
    reset_memory_peak();
    const MemoryFigures before = memory_figures();
    EXPECT_EQ(before.bytes_peak, before.bytes_in_use);
    void* small = allocate(1000);
    void* large = allocate(1'000'000);
    EXPECT_EQ(memory_figures().bytes_in_use, before.bytes_in_use + 1'001'000);
    deallocate(large, 1'000'000);
    void* other = allocate(500'000);
    deallocate(other, 500'000);
    deallocate(small, 1000);
    const MemoryFigures after = memory_figures();
    EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
    EXPECT_EQ(after.bytes_peak, before.bytes_in_use + 1'001'000);
    reset_memory_peak();
    EXPECT_EQ(memory_figures().bytes_peak, before.bytes_in_use);
}

TEST(Allocator, PeakSeesSmallBlocksAlone) {
    reset_memory_peak();
    const auto before = memory_figures().bytes_in_use;
    std::vector<void*> blocks;
    for (int i = 0; i < 500; ++i) blocks.push_back(allocate(1024));
    for (void* block : blocks) deallocate(block, 1024);
    EXPECT_EQ(memory_figures().bytes_peak, before + 500 * 1024);
    EXPECT_EQ(memory_figures().bytes_in_use, before);
}

TEST(Allocator, ThreadsExchangeBlocks) {
    const auto before = memory_figures();
    reset_memory_peak();
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::pair<void*, std::size_t>> mailbox;
    bool finished = false;
    std::thread consumer([&] {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return finished || !mailbox.empty(); });
            if (mailbox.empty()) return;
            auto [block, bytes] = mailbox.back();
            mailbox.pop_back();
            EXPECT_EQ(*static_cast<std::size_t*>(block), bytes);
            deallocate(block, bytes);
        }
    });
    for (std::size_t i = 0; i < 20000; ++i) {
        const std::size_t bytes = 64 + i * 37 % 40000;
        void* block = allocate(bytes);
        *static_cast<std::size_t*>(block) = bytes;
        const std::lock_guard lock(mutex);
        mailbox.emplace_back(block, bytes);
        changed.notify_one();
    }
    {
        const std::lock_guard lock(mutex);
        finished = true;
    }
    changed.notify_one();
    consumer.join();
    EXPECT_EQ(memory_figures().bytes_in_use, before.bytes_in_use);
}

TEST(Allocator, ManyThreadsAtOnce) {
    const auto before = memory_figures().bytes_in_use;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            std::mt19937 random(static_cast<unsigned>(t));
            std::vector<std::pair<int*, std::size_t>> live;
            for (int i = 0; i < 5000; ++i) {
                const std::size_t bytes = random() % 16 == 0 ? 40'000 + random() % 200'000 : 4 + random() % 3000;
                live.emplace_back(static_cast<int*>(allocate(bytes)), bytes);
                *live.back().first = t;
                if (live.size() > 50) {
                    EXPECT_EQ(*live.front().first, t);
                    deallocate(live.front().first, live.front().second);
                    live.erase(live.begin());
                }
            }
            for (auto [block, bytes] : live) deallocate(block, bytes);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(memory_figures().bytes_in_use, before);
}

TEST(Allocator, ShortLivedThreadsLeaveNothing) {
    auto round = [] {
        std::thread([] {
            std::vector<void*> blocks;
            for (int i = 0; i < 100; ++i) blocks.push_back(allocate(2048));
            for (void* block : blocks) deallocate(block, 2048);
        }).join();
    };
    round();
    const auto mapped = memory_figures().bytes_mapped;
    for (int i = 0; i < 100; ++i) round();
    EXPECT_EQ(memory_figures().bytes_mapped, mapped);
}

TEST(Allocator, OutOfMemoryIsAnError) {
    EXPECT_THROW(static_cast<void>(allocate(std::size_t{1} << 62)), stithy::Error);
    EXPECT_THROW(static_cast<void>(allocate(~std::size_t{0})), stithy::Error);
    EXPECT_THROW(static_cast<void>(allocate(memory_limit() + 1)), stithy::Error);
    EXPECT_EQ(try_allocate(std::size_t{1} << 50), nullptr);
    EXPECT_THROW(static_cast<void>(checked_multiply(std::size_t{1} << 40, std::size_t{1} << 40)), stithy::Error);
    EXPECT_EQ(checked_multiply(6, 7), 42u);
    void* block = allocate(100); // and life goes on
    deallocate(block, 100);
    try {
        static_cast<void>(allocate(std::size_t{1} << 60));
    } catch (const stithy::Error& error) {
        EXPECT_NE(std::string(error.what()).find("out of memory: 1152921504606846976 bytes"), std::string::npos);
    }
}

TEST(Allocator, PoolIsBounded) {
    const auto limit = pool_limit();
    EXPECT_GT(limit, 0u);
    set_pool_limit(8 << 20);
    std::vector<void*> blocks;
    for (int i = 0; i < 20; ++i) {
        blocks.push_back(allocate(3 << 20));
        std::memset(blocks.back(), 1, 3 << 20);
    }
    for (void* block : blocks) deallocate(block, 3 << 20);
    EXPECT_LE(memory_figures().bytes_pooled, std::uint64_t{8} << 20);
    set_pool_limit(limit);
    trim_pool();
    EXPECT_LE(memory_figures().bytes_pooled, huge_page * 2);
    void* again = allocate(3 << 20);
    std::memset(again, 2, 3 << 20);
    deallocate(again, 3 << 20);
}

TEST(Allocator, NullAndEmpty) {
    deallocate(nullptr, 10);
    void* a = allocate(0);
    void* b = allocate(0);
    EXPECT_NE(a, nullptr);
    EXPECT_NE(a, b);
    deallocate(a, 0);
    deallocate(b, 0);
}

} // namespace
