// What happens at fork and at exit.
#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"
#include "runtime/queue.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

namespace {

using namespace stithy::runtime;
using stithy::Ref;

/// Runs `body` in a forked child, in at most 20 seconds; gives its exit code, -1 if it was killed.
int in_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool loop_is_right() {
    std::int64_t partial[50] = {};
    parallel_for(1000, 20, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) partial[begin / 20] += i;
    });
    std::int64_t total = 0;
    for (std::int64_t p : partial) total += p;
    return total == 1000 * 999 / 2;
}

int queued_sum(Queue& queue, int count) {
    int sum = 0;
    Ref<Buffer> last;
    for (int i = 0; i < count; ++i) {
        last = Buffer::make_pending(8);
        queue.submit({}, {last}, [&sum, i](Task& task) {
            task.results[0]->materialize();
            sum += i;
        });
    }
    last->wait();
    return sum;
}

#ifdef THREAD_SANITIZER // which refuses threads in a forked child
#define SKIP_UNDER_THREAD_SANITIZER() GTEST_SKIP()
#else
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif

TEST(Process, AForkedChildWorks) {
    SKIP_UNDER_THREAD_SANITIZER();
    ASSERT_TRUE(loop_is_right());
    ASSERT_EQ(queued_sum(cpu_queue(), 10), 45);
    for (int round = 0; round < 5; ++round)
        EXPECT_EQ(in_child([] {
                      if (!loop_is_right()) return 1;
                      if (queued_sum(cpu_queue(), 100) != 4950) return 2;
                      cpu_queue().synchronize();
                      void* block = allocate(1 << 20);
                      deallocate(block, 1 << 20);
                      return in_child([] { return loop_is_right() && queued_sum(cpu_queue(), 3) == 3 ? 0 : 1; }) == 0
                                 ? 0
                                 : 3; // a child of the child
                  }),
                  0);
    EXPECT_TRUE(loop_is_right());
    EXPECT_EQ(queued_sum(cpu_queue(), 10), 45);
}

TEST(Process, ForkWaitsForWhatIsQueued) {
    SKIP_UNDER_THREAD_SANITIZER();
    Ref<Buffer> value = Buffer::make_pending(sizeof(int));
    cpu_queue().submit({}, {value}, [](Task& task) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        *static_cast<int*>(task.results[0]->materialize()) = 17;
    });
    EXPECT_EQ(in_child([&] {
                  value->wait(); // there already: it would never come
                  return *static_cast<int*>(value->data()) == 17 ? 0 : 1;
              }),
              0);
}

TEST(Process, ForkWhileOthersWork) {
    SKIP_UNDER_THREAD_SANITIZER();
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) {
            loop_is_right();
            void* block = allocate(100'000);
            deallocate(block, 100'000);
            queued_sum(cpu_queue(), 3);
        }
    });
    for (int round = 0; round < 10; ++round)
        EXPECT_EQ(in_child([] { return loop_is_right() && queued_sum(cpu_queue(), 5) == 10 ? 0 : 1; }), 0);
    stop = true;
    busy.join();
}

/// In static storage of a program that exits normally: it works after everything was closed.
struct LateUser {
    bool armed = false;
    ~LateUser() {
        if (!armed) return;
        const bool right = loop_is_right() && queued_sum(cpu_queue(), 4) == 6;
        Ref<Buffer> buffer = Buffer::allocate(1 << 20);
        std::_Exit(right ? 7 : 8);
    }
};

TEST(ProcessDeathTest, ExitDrainsAndLateUseIsFine) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            static LateUser late; // made before the runtime's hooks, so destroyed after them
            late.armed = true;
            loop_is_right();
            cpu_queue().submit({}, {}, [](Task&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                std::fputs("drained\n", stderr);
            });
            std::exit(0);
        },
        testing::ExitedWithCode(7), "drained");
}

TEST(ProcessDeathTest, ACallMayEndTheProcess) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            loop_is_right();
            cpu_queue().submit({}, {}, [](Task&) { std::exit(3); });
            cpu_queue().synchronize();
            pause();
        },
        testing::ExitedWithCode(3), "");
}

} // namespace
