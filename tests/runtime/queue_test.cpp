#include "runtime/queue.hpp"

#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"
#include "stithy/error.hpp"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace stithy::runtime;
using stithy::Ref;

int& value_of(const Ref<Buffer>& buffer) { return *static_cast<int*>(buffer->data()); }

Ref<Buffer> constant(int value) {
    Ref<Buffer> buffer = Buffer::allocate(sizeof(int));
    value_of(buffer) = value;
    return buffer;
}

/// Queues "result = input + 1".
Ref<Buffer> add_one(Queue& queue, Ref<Buffer> input) {
    Ref<Buffer> result = Buffer::make_pending(sizeof(int));
    queue.submit({std::move(input)}, {result}, [](Task& task) {
        task.results[0]->materialize();
        value_of(task.results[0]) = value_of(task.inputs[0]) + 1;
    });
    return result;
}

Ref<Buffer> throwing(Queue& queue, const char* text) {
    Ref<Buffer> result = Buffer::make_pending(sizeof(int));
    queue.submit({}, {result}, [text](Task&) { throw stithy::Error(text); });
    return result;
}

/// A task that holds the queue until it is let go.
struct Gate {
    std::promise<void> promise;
    std::shared_future<void> future = promise.get_future().share();
    explicit Gate(Queue& queue) {
        queue.submit({}, {}, [open = future](Task&) { open.wait(); });
    }
    void open() { promise.set_value(); }
};

TEST(Queue, RunsInOrder) {
    Queue queue;
    EXPECT_TRUE(queue.idle());
    EXPECT_EQ(Queue::current(), nullptr);
    Ref<Buffer> x = constant(0);
    for (int i = 0; i < 1000; ++i) x = add_one(queue, std::move(x));
    x->wait();
    EXPECT_EQ(value_of(x), 1000);
    queue.synchronize();
    EXPECT_TRUE(queue.idle());
}

TEST(Queue, ReturnsBeforeTheWorkIsDone) {
    Queue queue;
    Gate gate(queue);
    Ref<Buffer> y = add_one(queue, constant(4));
    EXPECT_FALSE(y->done());
    EXPECT_FALSE(queue.idle());
    EXPECT_FALSE(queue.run_inline(1));
    gate.open();
    y->wait();
    EXPECT_EQ(value_of(y), 5);
    queue.drain();
    EXPECT_TRUE(queue.run_inline(1));
    EXPECT_FALSE(queue.run_inline(1e6));
    EXPECT_FALSE(queue.run_inline(-1)); // unknown trip counts queue
}

TEST(Queue, TheCallerWaitsWhenTooManyRunAhead) {
    Queue queue;
    Gate gate(queue);
    std::atomic<int> submitted{0};
    std::thread caller([&] {
        for (int i = 0; i < 100; ++i) {
            queue.submit({}, {}, [](Task&) {});
            ++submitted;
        }
    });
    while (submitted < Queue::run_ahead - 1) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(submitted, Queue::run_ahead - 1); // the gate is one of them
    gate.open();
    caller.join();
    queue.synchronize();
    EXPECT_EQ(submitted, 100);
}

TEST(Queue, HeldBytesAreBounded) {
    Queue queue;
    Gate gate(queue);
    struct Heavy final : Task {
        void run() override {}
    };
    std::atomic<int> submitted{0};
    std::thread caller([&] {
        for (int i = 0; i < 4; ++i) {
            auto task = std::make_unique<Heavy>();
            task->bytes_held = Queue::run_ahead_bytes / 2;
            queue.submit(std::move(task));
            ++submitted;
        }
    });
    while (submitted < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(submitted, 2);
    gate.open();
    caller.join();
    queue.synchronize();
}

TEST(Queue, ErrorsPassToDependentsUnrun) {
    Queue queue;
    Ref<Buffer> broken = throwing(queue, "not positive definite");
    bool ran = false;
    Ref<Buffer> dependent = Buffer::make_pending(sizeof(int));
    queue.submit({broken}, {dependent}, [&ran](Task&) { ran = true; });
    Ref<Buffer> independent = add_one(queue, constant(1));
    EXPECT_THROW(dependent->wait(), stithy::Error);
    EXPECT_THROW(dependent->wait(), stithy::Error);
    EXPECT_THROW(broken->wait(), stithy::Error);
    EXPECT_FALSE(ran);
    independent->wait();
    EXPECT_EQ(value_of(independent), 2);
    EXPECT_EQ(broken->failure(), dependent->failure());
    queue.synchronize(); // somebody has seen it
}

TEST(Queue, SynchronizeThrowsWhatNobodyRead) {
    Queue queue;
    static_cast<void>(throwing(queue, "first"));
    static_cast<void>(throwing(queue, "second"));
    try {
        queue.synchronize();
        FAIL();
    } catch (const stithy::Error& error) {
        EXPECT_STREQ(error.what(), "first");
    }
    queue.synchronize(); // once
    Ref<Buffer> read = throwing(queue, "third");
    EXPECT_THROW(read->wait(), stithy::Error);
    static_cast<void>(throwing(queue, "fourth"));
    EXPECT_THROW(queue.synchronize(), stithy::Error);
    Ref<Buffer> after = add_one(queue, constant(1)); // the queue goes on
    after->wait();
    EXPECT_EQ(value_of(after), 2);
}

TEST(Queue, ForgottenMemoryIsAnInternalError) {
    Queue queue;
    Ref<Buffer> result = Buffer::make_pending(1 << 20);
    queue.submit({}, {result}, [](Task&) {});
    EXPECT_THROW(result->wait(), stithy::InternalError);
}

TEST(Queue, OutOfMemoryInsideACallFailsItsResults) {
    Queue queue;
    Ref<Buffer> result = Buffer::make_pending(std::size_t{1} << 60);
    queue.submit({}, {result}, [](Task& task) { task.results[0]->materialize(); });
    EXPECT_THROW(result->wait(), stithy::Error);
}

TEST(Queue, HandlesAreFreeBeforeAWaiterWakes) {
    Queue queue;
    const auto before = memory_figures().bytes_in_use;
    for (int round = 0; round < 100; ++round) {
        std::vector<Ref<Buffer>> inputs;
        inputs.push_back(Buffer::allocate(1 << 20));
        Ref<Buffer> result = Buffer::make_pending(1 << 16);
        queue.submit(std::move(inputs), {result}, [](Task& task) {
            EXPECT_TRUE(task.inputs[0].unique());
            task.results[0]->materialize();
        });
        result->wait();
        EXPECT_TRUE(result->exclusive());
        EXPECT_LE(memory_figures().bytes_in_use, before + (1 << 16));
    }
}

TEST(Queue, ResultsAndInputsNobodyWantsAreFine) {
    Queue queue;
    for (int i = 0; i < 200; ++i) static_cast<void>(add_one(queue, constant(i)));
    queue.synchronize();
}

TEST(Queue, ManyCallers) {
    Queue queue;
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t)
        callers.emplace_back([&, t] {
            for (int round = 0; round < 20; ++round) {
                Ref<Buffer> x = constant(t);
                for (int i = 0; i < 20; ++i) x = add_one(queue, std::move(x));
                x->wait();
                if (value_of(x) != t + 20) ++wrong;
            }
            queue.synchronize();
        });
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
}

TEST(Queue, ACallMayQueueCallsAndReadThem) {
    Queue queue;
    Ref<Buffer> result = Buffer::make_pending(sizeof(int));
    queue.submit({}, {result}, [&queue](Task& task) {
        EXPECT_EQ(Queue::current(), &queue);
        Ref<Buffer> x = constant(0);
        for (int i = 0; i < 200; ++i) x = add_one(queue, std::move(x)); // more than may run ahead
        x->wait();
        queue.drain();
        task.results[0]->materialize();
        value_of(task.results[0]) = value_of(x);
    });
    result->wait();
    EXPECT_EQ(value_of(result), 200);
    queue.synchronize();
    EXPECT_TRUE(queue.idle());
}

TEST(Queue, ACallThatReadsItsOwnResultFails) {
    Queue queue;
    Ref<Buffer> result = Buffer::make_pending(sizeof(int));
    queue.submit({}, {result}, [](Task& task) { task.results[0]->wait(); });
    EXPECT_THROW(result->wait(), stithy::Error);
}

TEST(Queue, TheThreadLimitGoesAlong) {
    Queue queue;
    std::atomic<int> seen{-1};
    {
        const ThreadLimit limit(1);
        queue.submit({}, {}, [&](Task&) { seen = thread_count(); });
    }
    queue.synchronize();
    EXPECT_EQ(seen, 1);
    queue.submit({}, {}, [&](Task&) { seen = current_thread_limit(); });
    queue.synchronize();
    EXPECT_EQ(seen, 0);
}

TEST(Queue, ClosedQueuesRunAtOnce) {
    Queue queue;
    Ref<Buffer> before = add_one(queue, constant(1));
    queue.close();
    EXPECT_TRUE(before->ready());
    Ref<Buffer> after = add_one(queue, before);
    EXPECT_TRUE(after->ready());
    EXPECT_EQ(value_of(after), 3);
    queue.submit({}, {}, [&](Task&) { // also from within a call
        Ref<Buffer> inner = add_one(queue, after);
        inner->wait();
        EXPECT_EQ(value_of(inner), 4);
        queue.drain();
    });
    static_cast<void>(throwing(queue, "late"));
    EXPECT_THROW(queue.synchronize(), stithy::Error);
}

TEST(Queue, SynchronizeAllCoversTheDeviceQueues) {
    std::atomic<int> done{0};
    for (int i = 0; i < 10; ++i) cpu_queue().submit({}, {}, [&](Task&) { ++done; });
    synchronize_all();
    EXPECT_EQ(done, 10);
    static_cast<void>(throwing(cpu_queue(), "unseen"));
    EXPECT_THROW(synchronize_all(), stithy::Error);
    synchronize_all();
}

TEST(Queue, ParallelLoopsInsideCalls) {
    Queue queue;
    std::atomic<std::int64_t> total{0};
    for (int i = 0; i < 20; ++i)
        queue.submit({}, {}, [&](Task&) { parallel_for(100, 5, [&](std::int64_t begin, std::int64_t end) { total += end - begin; }); });
    queue.synchronize();
    EXPECT_EQ(total, 2000);
}

} // namespace
