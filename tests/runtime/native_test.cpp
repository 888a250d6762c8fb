#include "runtime/native.hpp"

#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace stithy::runtime;

std::int32_t scale(Runtime*, void* const* buffers, const std::int64_t* params, std::int64_t begin, std::int64_t end) {
    auto* values = static_cast<double*>(buffers[0]);
    for (std::int64_t i = begin; i < end; ++i) values[i] *= static_cast<double>(params[0]);
    return native_ok;
}

std::int32_t fail_from_500(Runtime* runtime, void* const*, const std::int64_t*, std::int64_t begin, std::int64_t) {
    if (begin < 500) return native_ok;
    return runtime->table->fail(runtime, native_first_free, 7, begin, -begin);
}

std::int32_t fail_silently(Runtime*, void* const*, const std::int64_t*, std::int64_t, std::int64_t) { return 99; }

TEST(Native, ParallelForRunsCompiledFunctions) {
    std::vector<double> values(1001, 2.0);
    void* buffers[] = {values.data()};
    const std::int64_t params[] = {3};
    Runtime runtime = make_runtime();
    EXPECT_EQ(runtime.table->parallel_for(&runtime, scale, buffers, params, 1001, 100), native_ok);
    EXPECT_EQ(values, std::vector<double>(1001, 6.0));
    EXPECT_EQ(runtime.record.status, native_ok);
}

TEST(Native, TheLowestFailureIsRecorded) {
    for (int round = 0; round < 100; ++round) {
        Runtime runtime = make_runtime();
        EXPECT_EQ(runtime.table->parallel_for(&runtime, fail_from_500, nullptr, nullptr, 1000, 10), native_first_free);
        EXPECT_EQ(runtime.record.status, native_first_free);
        EXPECT_EQ(runtime.record.operation, 7);
        EXPECT_EQ(runtime.record.detail[0], 500);
        EXPECT_EQ(runtime.record.detail[1], -500);
    }
}

TEST(Native, TheFirstRecordStays) {
    Runtime runtime = make_runtime();
    runtime.table->fail(&runtime, native_failed, 1, 2, 3);
    EXPECT_EQ(runtime.table->fail(&runtime, native_first_free, 4, 5, 6), native_first_free);
    EXPECT_EQ(runtime.record.status, native_failed);
    EXPECT_EQ(runtime.record.operation, 1);
}

TEST(Native, AStatusWithoutRecordIsRecorded) {
    Runtime runtime = make_runtime();
    EXPECT_EQ(runtime.table->parallel_for(&runtime, fail_silently, nullptr, nullptr, 10, 1), 99);
    EXPECT_EQ(runtime.record.status, 99);
    EXPECT_EQ(runtime.record.operation, -1);
}

TEST(Native, ScratchMemory) {
    Runtime runtime = make_runtime();
    const auto before = memory_figures().bytes_in_use;
    void* block = runtime.table->allocate(&runtime, 100'000);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(memory_figures().bytes_in_use, before + 100'000);
    runtime.table->release(&runtime, block, 100'000);
    EXPECT_EQ(memory_figures().bytes_in_use, before);
    EXPECT_EQ(runtime.table->allocate(&runtime, std::int64_t{1} << 60), nullptr);
    EXPECT_EQ(runtime.record.status, native_out_of_memory);
    EXPECT_EQ(runtime.record.detail[0], std::int64_t{1} << 60);
}

} // namespace
