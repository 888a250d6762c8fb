#include "runtime/stats.hpp"

#include "runtime/allocator.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace stithy::runtime;

TEST(Stats, CountersAddUp) {
    const stithy::Stats before = stithy::stats();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) bump(&Counters::traces);
        });
    for (auto& thread : threads) thread.join();
    bump(&Counters::kernels_compiled);
    bump(&Counters::plans);
    const stithy::Stats after = stithy::stats();
    EXPECT_EQ(after.traces - before.traces, 4000u);
    EXPECT_EQ(after.kernels_compiled - before.kernels_compiled, 1u);
    EXPECT_EQ(after.plans - before.plans, 1u);
    EXPECT_EQ(after.library_compiles, before.library_compiles);
}

TEST(Stats, PeakCanBeReset) {
    void* block = allocate(1 << 22);
    EXPECT_GE(stithy::stats().bytes_peak, stithy::stats().bytes_in_use);
    EXPECT_GE(stithy::stats().bytes_in_use, std::uint64_t{1} << 22);
    deallocate(block, 1 << 22);
    EXPECT_GE(stithy::stats().bytes_peak, std::uint64_t{1} << 22);
    stithy::reset_peak();
    EXPECT_EQ(stithy::stats().bytes_peak, stithy::stats().bytes_in_use);
}

} // namespace
