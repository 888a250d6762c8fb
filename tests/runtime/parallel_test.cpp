#include "runtime/parallel.hpp"

#include "runtime/float_mode.hpp"
#include "runtime/threads.hpp"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace stithy::runtime;

TEST(ParallelFor, EveryChunkOnce) {
    for (std::int64_t size : {1, 2, 99, 100, 101, 1000, 12345})
        for (std::int64_t chunk : {1, 7, 100, 20000}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
            std::atomic<bool> bad{false};
            const auto status = parallel_for(size, chunk, [&](std::int64_t begin, std::int64_t end) {
                if (begin % chunk != 0 || end != std::min(size, begin + chunk)) bad = true;
                for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
            });
            EXPECT_EQ(status, 0);
            EXPECT_FALSE(bad);
            for (auto& count : seen) ASSERT_EQ(count, 1);
        }
}

TEST(ParallelFor, EmptyAndOddArguments) {
    int calls = 0;
    auto count = [&](std::int64_t begin, std::int64_t end) {
        ++calls;
        EXPECT_LT(begin, end);
    };
    parallel_for(0, 10, count);
    parallel_for(-5, 10, count);
    EXPECT_EQ(calls, 0);
    const ThreadLimit limit(1);
    parallel_for(3, 0, count); // a chunk below one is one
    EXPECT_EQ(calls, 3);
    parallel_for(std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max() / 2, count); // no overflow
    EXPECT_EQ(calls, 6);
}

TEST(ParallelFor, SumsDoNotDependOnThreads) {
    std::vector<float> values(100'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
    auto sum = [&] {
        std::vector<float> partial(100);
        parallel_for(100'000, 1000, [&](std::int64_t begin, std::int64_t end) {
            float total = 0;
            for (std::int64_t i = begin; i < end; ++i) total += values[static_cast<std::size_t>(i)];
            partial[static_cast<std::size_t>(begin / 1000)] = total;
        });
        float total = 0;
        for (float p : partial) total += p;
        return total;
    };
    const float whole = sum();
    for (int round = 0; round < 100; ++round) ASSERT_EQ(sum(), whole);
    const ThreadLimit limit(1);
    EXPECT_EQ(sum(), whole);
}

TEST(ParallelFor, TheLowestFailureWins) {
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> run_below{0};
        const auto status = parallel_for(64, 1, [&](std::int64_t begin, std::int64_t) -> std::int32_t {
            if (begin < 20) ++run_below;
            return begin >= 20 && begin % 2 == 0 ? static_cast<std::int32_t>(100 + begin) : 0;
        });
        ASSERT_EQ(status, 120);
        ASSERT_EQ(run_below, 20);
    }
    EXPECT_EQ(parallel_for(10, 1, [](std::int64_t, std::int64_t) { return -3; }), -3); // negative ones too
    EXPECT_EQ(parallel_for(10, 1, [](std::int64_t, std::int64_t) { return 0; }), 0);   // and nothing sticks
}

TEST(ParallelFor, MoreChunksThanCanBeCounted) {
    constexpr std::int64_t size = 700001, chunk = 2;
    std::vector<std::atomic<unsigned char>> seen(size);
    std::atomic<bool> odd{false};
    EXPECT_EQ(parallel_for(size, chunk,
                           [&](std::int64_t begin, std::int64_t end) {
                               if (begin % chunk != 0 || end != std::min(begin + chunk, size)) odd = true;
                               for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
                           }),
              0);
    EXPECT_FALSE(odd);
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
    const auto status = parallel_for(
        size, 1, [](std::int64_t begin, std::int64_t) -> std::int32_t { return begin >= 400000 ? static_cast<std::int32_t>(begin) : 0; });
    EXPECT_EQ(status, 400000);
}

TEST(ParallelFor, NestedLoopsRun) {
    std::atomic<int> total{0};
    parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
        const auto outer = std::this_thread::get_id();
        parallel_for(10, 1, [&](std::int64_t, std::int64_t) {
            EXPECT_EQ(std::this_thread::get_id(), outer);
            ++total;
        });
    });
    EXPECT_EQ(total, 80);
}

TEST(ParallelFor, ManyCallersAtOnce) {
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 6; ++t)
        callers.emplace_back([&] {
            for (int round = 0; round < 300; ++round) {
                std::int64_t partial[16] = {};
                parallel_for(160, 10, [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i) partial[begin / 10] += i;
                });
                std::int64_t total = 0;
                for (std::int64_t p : partial) total += p;
                if (total != 160 * 159 / 2) ++wrong;
            }
        });
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, ShortLoopsInARow) {
    // Loops end and slots are used again while workers still look at the last one.
    std::int64_t total = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::int64_t partial[2] = {};
        parallel_for(2, 1, [&](std::int64_t begin, std::int64_t) { partial[begin] = round + begin; });
        total += partial[0] + partial[1];
    }
    EXPECT_EQ(total, 20'000LL * 19'999 + 20'000);
}

TEST(ParallelFor, LimitsAreScopesOfAThread) {
    EXPECT_EQ(current_thread_limit(), 0);
    {
        const ThreadLimit one(1);
        EXPECT_EQ(thread_count(), 1);
        std::set<std::thread::id> ids;
        parallel_for(100, 1, [&](std::int64_t, std::int64_t) { ids.insert(std::this_thread::get_id()); });
        EXPECT_EQ(ids.size(), 1u);
        {
            const ThreadLimit many(1000);
            EXPECT_EQ(thread_count(), machine_threads());
            const ThreadLimit none(0); // no limit of its own
            EXPECT_EQ(current_thread_limit(), 1000);
        }
        EXPECT_EQ(thread_count(), 1);
        std::thread([] { EXPECT_EQ(current_thread_limit(), 0); }).join();
    }
    EXPECT_EQ(thread_count(), machine_threads());
}

TEST(Processors, TheEnvironmentLimitsThem) {
    const char* before = std::getenv("STITHY_THREADS");
    const std::string kept = before ? before : "";
    unsetenv("STITHY_THREADS");
    const int all = count_processors();
    setenv("STITHY_THREADS", "1", 1);
    EXPECT_EQ(count_processors(), 1);
    for (const char* wrong : {"abc", "2x", "0", "-3"}) {
        setenv("STITHY_THREADS", wrong, 1);
        testing::internal::CaptureStderr();
        EXPECT_EQ(count_processors(), all) << wrong;
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("STITHY_THREADS is '" + std::string(wrong) + "', expected a number from 1"), std::string::npos) << said;
    }
    if (before)
        setenv("STITHY_THREADS", kept.c_str(), 1);
    else
        unsetenv("STITHY_THREADS");
}

TEST(FloatMode, SubnormalsAreKeptInsideTheScope) {
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); // flush to zero, subnormals are zero
    volatile double tiny = std::numeric_limits<double>::min();
    EXPECT_EQ(tiny / 4, 0.0);
    {
        const DefaultFloatMode mode;
        EXPECT_GT(tiny / 4, 0.0);
        std::atomic<int> flushed{0};
        parallel_for(64, 1, [&](std::int64_t, std::int64_t) { flushed += tiny / 4 == 0.0; });
        EXPECT_EQ(flushed, 0);
    }
    EXPECT_EQ(tiny / 4, 0.0);
    _mm_setcsr(before);
#endif
}

} // namespace
