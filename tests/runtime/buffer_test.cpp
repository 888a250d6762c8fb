#include "runtime/buffer.hpp"

#include "runtime/allocator.hpp"
#include "stithy/error.hpp"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace stithy::runtime;
using stithy::make_ref;
using stithy::Ref;

Ref<Failure> failure_of(const char* text) { return make_ref<Failure>(std::make_exception_ptr(stithy::Error(text))); }

TEST(Buffer, ReadyMemoryOfEverySize) {
    const auto before = memory_figures().bytes_in_use;
    for (std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 64, 4096, 4097, 100'000, 5'000'000}) {
        Ref<Buffer> buffer = Buffer::allocate(bytes);
        EXPECT_TRUE(buffer->ready() && buffer->done() && !buffer->failed());
        EXPECT_EQ(buffer->size(), bytes);
        ASSERT_NE(buffer->data(), nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0u);
        std::memset(buffer->data(), 7, bytes);
        EXPECT_EQ(memory_figures().bytes_in_use, before + bytes);
        EXPECT_TRUE(buffer->exclusive());
        buffer->wait();
    }
    EXPECT_EQ(memory_figures().bytes_in_use, before);
}

TEST(Buffer, PendingGetsItsMemoryLate) {
    const auto before = memory_figures().bytes_in_use;
    Ref<Buffer> buffer = Buffer::make_pending(1 << 20);
    EXPECT_FALSE(buffer->done());
    EXPECT_EQ(buffer->data(), nullptr);
    EXPECT_EQ(memory_figures().bytes_in_use, before);
    void* data = buffer->materialize();
    EXPECT_EQ(data, buffer->data());
    EXPECT_EQ(buffer->materialize(), data);
    EXPECT_EQ(memory_figures().bytes_in_use, before + (1 << 20));
    buffer->set_ready();
    EXPECT_TRUE(buffer->ready());
}

TEST(Buffer, AdoptsTheMemoryOfADyingOperand) {
    for (std::size_t bytes : std::initializer_list<std::size_t>{100, 100'000}) {
        const auto before = memory_figures().bytes_in_use;
        Ref<Buffer> value = Buffer::allocate(bytes);
        void* const memory = value->data();
        std::memset(memory, 42, bytes);
        for (int step = 0; step < 1000; ++step) { // hand-overs do not pile up
            Ref<Buffer> next = Buffer::make_pending(bytes);
            next->adopt(std::move(value));
            next->set_ready();
            value = std::move(next);
            ASSERT_EQ(value->data(), memory);
            ASSERT_TRUE(value->exclusive());
        }
        EXPECT_EQ(static_cast<char*>(value->data())[bytes - 1], 42);
        EXPECT_LE(memory_figures().bytes_in_use, before + 3 * bytes);
        value.reset();
        EXPECT_EQ(memory_figures().bytes_in_use, before);
    }
}

TEST(Buffer, AdoptsASmallerPart) {
    Ref<Buffer> whole = Buffer::allocate(100'000);
    void* const memory = whole->data();
    Ref<Buffer> part = Buffer::make_pending(50'000);
    part->adopt(std::move(whole));
    part->set_ready();
    EXPECT_EQ(part->data(), memory);
    EXPECT_EQ(part->size(), 50'000u);
    EXPECT_TRUE(part->exclusive());
}

TEST(Buffer, PartsKeepTheWholeAlive) {
    Ref<Buffer> whole = Buffer::allocate(1000);
    static_cast<char*>(whole->data())[500] = 9;
    Ref<Buffer> part = Buffer::alias(whole, 500, 100);
    Ref<Buffer> of_part = Buffer::alias(part, 0, 10);
    EXPECT_FALSE(part->exclusive()); // the whole is still held
    whole.reset();
    EXPECT_FALSE(part->exclusive()); // the part of the part uses the same memory
    part.reset();
    EXPECT_TRUE(of_part->exclusive());
    EXPECT_EQ(*static_cast<char*>(of_part->data()), 9);
    EXPECT_THROW(static_cast<void>(Buffer::alias(of_part, 5, 6)), stithy::InternalError);
}

TEST(Buffer, BorrowedMemoryIsGivenBackOnce) {
    int given_back = 0;
    double values[4] = {1, 2, 3, 4};
    {
        Ref<Buffer> buffer = Buffer::borrow(values, sizeof values, [](void* count) { ++*static_cast<int*>(count); }, &given_back);
        EXPECT_EQ(buffer->data(), values);
        EXPECT_FALSE(buffer->exclusive());
        Ref<Buffer> next = Buffer::make_pending(sizeof values);
        next->adopt(std::move(buffer));
        next->set_ready();
        EXPECT_FALSE(next->exclusive());
        EXPECT_EQ(given_back, 0);
    }
    EXPECT_EQ(given_back, 1);
    static_cast<void>(Buffer::borrow(values, sizeof values, nullptr, nullptr));
}

TEST(Buffer, FailuresAreThrownByEveryReader) {
    Ref<Failure> failure = failure_of("it broke");
    Ref<Buffer> buffer = Buffer::make_pending(10);
    buffer->set_failed(failure);
    EXPECT_TRUE(buffer->done() && buffer->failed() && !buffer->ready());
    EXPECT_FALSE(failure->reported());
    buffer->wait_done();
    EXPECT_FALSE(failure->reported());
    for (int i = 0; i < 2; ++i) {
        try {
            buffer->wait();
            FAIL();
        } catch (const stithy::Error& error) {
            EXPECT_STREQ(error.what(), "it broke");
        }
    }
    EXPECT_TRUE(failure->reported());
    EXPECT_THROW(Buffer::make_failed(8, failure)->wait(), stithy::Error);
}

TEST(Buffer, WakesEverybody) {
    for (int round = 0; round < 50; ++round) {
        Ref<Buffer> buffer = Buffer::make_pending(sizeof(int));
        std::atomic<int> right{0};
        std::vector<std::thread> readers;
        for (int t = 0; t < 3; ++t)
            readers.emplace_back([&right, buffer] {
                buffer->wait();
                right += *static_cast<int*>(buffer->data()) == 5;
            });
        if (round % 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
        *static_cast<int*>(buffer->materialize()) = 5;
        Buffer::set_ready(std::move(buffer));
        for (auto& reader : readers) reader.join();
        EXPECT_EQ(right, 3);
    }
}

TEST(Buffer, AWaiterFindsItselfTheOnlyHolder) {
    for (int round = 0; round < 200; ++round) {
        Ref<Buffer> mine = Buffer::make_pending(100);
        std::thread executor([theirs = mine]() mutable {
            theirs->materialize();
            Buffer::set_ready(std::move(theirs));
        });
        mine->wait();
        EXPECT_TRUE(mine->exclusive());
        mine.reset();
        executor.join();
    }
    Ref<Buffer> unread = Buffer::make_pending(100);
    Buffer::set_ready(std::move(unread)); // the last handle: freed
}

} // namespace
