#pragma once
#include "runtime/buffer.hpp"
#include "runtime/intrusive.hpp"
#include "runtime/signal.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace stithy::runtime {

/// A call that waits for its turn. It owns its handles: `inputs` keep operands alive (moved-in ones are then unique when the
/// call starts), `results` are the pending buffers that it computes.
class Task {
public:
    virtual ~Task() = default;
    /// Computes the results: each must have its memory (`materialize` or `adopt`) when it returns. May drop inputs early.
    /// The queue marks results ready afterwards, or failed with whatever this throws.
    virtual void run() = 0;

    std::vector<Ref<Buffer>> inputs;
    std::vector<Ref<Buffer>> results;
    /// Bytes that stay alive only because the call has not run; a long queue of large ones makes the caller wait.
    std::uint64_t bytes_held = 0;
};

/// First in, first out, one executor thread, started at the first use. Tasks see everything that earlier tasks wrote.
///
/// A task with a failed input is not run: its results fail with the same record. A task that throws makes its results fail.
class Queue {
public:
    static constexpr int run_ahead = 64;                                     ///< calls in flight before `submit` waits
    static constexpr std::uint64_t run_ahead_bytes = std::uint64_t{1} << 30; ///< bytes held by them before it waits
    static constexpr double inline_limit_us = 100;                           ///< work estimated below this is run by the caller

    Queue();
    /// Runs what is queued, then ends the executor.
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// Queues a task; waits while too many run ahead. From inside a task it never waits. The thread limit of the caller goes along.
    void submit(std::unique_ptr<Task> task);
    /// The same for a callable that computes `results` from `inputs` (`void f(Task&)`). (Move handles into the
    /// vector one by one: a braced list holds copies until the end of the statement, and no operand is unique then.)
    void submit(std::vector<Ref<Buffer>> inputs, std::vector<Ref<Buffer>> results, std::function<void(Task&)> work);

    /// True when nothing is queued or running: a short call whose inputs are ready may be run by its caller.
    [[nodiscard]] bool idle() const noexcept { return in_flight_.load(std::memory_order_acquire) == 0; }
    /// Whether a call should be run by its caller: an estimate in microseconds, below zero when it is unknown. The caller checks that its
    /// inputs are ready.
    [[nodiscard]] bool run_inline(double estimate_us, double limit_us = inline_limit_us) const noexcept {
        return estimate_us >= 0 && estimate_us < limit_us && idle();
    }

    /// Waits for what was submitted before; throws the first failure that nobody has seen and forgets the others.
    void synchronize();
    /// Waits only.
    void drain() noexcept;
    /// Notes a failure of a call that was run by its caller, so that `synchronize` reports it if no reader does.
    void note_failure(const Ref<Failure>& failure);

    /// Inside a task: runs the next queued task at once; false when there is none. (A task that reads a later task's result helps itself
    /// so.)
    bool help();
    /// The queue whose executor this thread is; null elsewhere.
    [[nodiscard]] static Queue* current() noexcept;

    // For fork and exit, see queue.cpp.
    void prepare_fork();
    void after_fork(bool child) noexcept;
    void close() noexcept;

private:
    struct Entry {
        std::unique_ptr<Task> task;
        int thread_limit;
    };
    void start_executor();
    void execute_closed(Entry& entry) noexcept;
    static void* executor_main(void* self);
    void execute_loop() noexcept;
    bool pop(Entry& entry);
    void execute(Entry& entry) noexcept;
    void finish(std::uint64_t bytes_held) noexcept;
    void admit(std::uint64_t bytes);
    [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept;
    [[nodiscard]] bool on_executor() const noexcept { return current() == this; }

    std::mutex mutex_;
    std::deque<Entry> waiting_;          // guarded by mutex_
    std::vector<Ref<Failure>> failures_; // guarded by mutex_; unseen ones since the last synchronize
    bool started_ = false;               // guarded by mutex_
    bool closed_ = false;                // guarded by mutex_; after that tasks run at once, in their callers
    bool stop_ = false;                  // guarded by mutex_
    pthread_t executor_{};
    std::uint64_t submitted_ = 0; // guarded by mutex_
    std::atomic<std::uint64_t> finished_{0};
    std::atomic<std::uint32_t> in_flight_{0};
    std::atomic<std::uint64_t> bytes_held_{0};
    std::uint64_t finished_inside_ = 0; // of whoever executes
    std::recursive_mutex closed_mutex_; // one executor at a time once there is no executor thread
    Signal work_;                       // something was queued
    Signal progress_;                   // something was finished
};

/// The queue of the CPU; lives to the end of the process.
[[nodiscard]] Queue& cpu_queue();

/// Waits for every queue; throws the first failure that nobody has seen.
void synchronize_all();

} // namespace stithy::runtime
