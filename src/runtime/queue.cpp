#include "runtime/queue.hpp"

#include "base/error.hpp"
#include "runtime/float_mode.hpp"
#include "runtime/parallel.hpp"
#include "runtime/process_hooks.hpp"
#include "runtime/queue_registry.hpp"
#include "runtime/threads.hpp"

#include <algorithm>
#include <utility>

namespace stithy::runtime {
namespace {

constexpr std::size_t executor_stack = std::size_t{16} << 20;
constexpr std::size_t failures_kept = 64;
constexpr int spins_before_sleep = 128; // some microseconds; a sleeping thread costs tens to wake

[[gnu::tls_model("initial-exec")]] constinit thread_local Queue* executing = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local int depth = 0; // of calls within calls

struct Registry {
    std::mutex mutex;
    std::vector<Queue*> queues;
};

Registry& registry() {
    static Registry* const only = new Registry;
    return *only;
}

class FunctionTask final : public Task {
public:
    explicit FunctionTask(std::function<void(Task&)> work) : work_(std::move(work)) {}
    void run() override { work_(*this); }

private:
    std::function<void(Task&)> work_;
};

} // namespace

Queue* Queue::current() noexcept { return executing; }

Queue::Queue() {
    install_process_hooks();
    const std::lock_guard lock(registry().mutex);
    registry().queues.push_back(this);
}

Queue::~Queue() {
    close();
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().queues, this);
}

bool Queue::has_room(std::uint64_t bytes) const noexcept {
    const std::uint32_t calls = in_flight_.load(std::memory_order_relaxed);
    return calls == 0 || (calls < run_ahead && bytes_held_.load(std::memory_order_relaxed) + bytes <= run_ahead_bytes);
}

/// Takes a place among the calls in flight; mutex_ is held when it returns.
void Queue::admit(std::uint64_t bytes) {
    const bool inside = on_executor();
    for (;;) {
        const std::uint32_t seen = progress_.current();
        mutex_.lock();
        if (closed_ || has_room(bytes)) break;
        // The executor cannot wait for itself: it makes room, or goes over the limit when only calls that wait for it are left.
        if (inside && waiting_.empty()) break;
        mutex_.unlock();
        if (inside)
            help();
        else
            progress_.wait(seen, 0);
    }
    in_flight_.fetch_add(1, std::memory_order_relaxed);
    bytes_held_.fetch_add(bytes, std::memory_order_relaxed);
    ++submitted_;
}

void Queue::submit(std::unique_ptr<Task> task) {
    const std::uint64_t bytes = task->bytes_held;
    Entry entry{std::move(task), current_thread_limit()};
    admit(bytes);
    std::unique_lock lock(mutex_, std::adopt_lock);
    if (!closed_ && !started_ && !on_executor()) start_executor();
    if (closed_) { // the process ends, or no thread is to be had
        lock.unlock();
        execute_closed(entry);
        return;
    }
    waiting_.push_back(std::move(entry));
    lock.unlock();
    work_.notify(1);
}

void Queue::submit(std::vector<Ref<Buffer>> inputs, std::vector<Ref<Buffer>> results, std::function<void(Task&)> work) {
    auto task = std::make_unique<FunctionTask>(std::move(work));
    task->inputs = std::move(inputs);
    task->results = std::move(results);
    submit(std::move(task));
}

void Queue::start_executor() {
    if (start_thread(executor_, "stithy-queue", executor_stack, executor_main, this))
        started_ = true;
    else
        closed_ = true;
}

void* Queue::executor_main(void* self) {
    auto* queue = static_cast<Queue*>(self);
    executing = queue;
    queue->execute_loop();
    return nullptr;
}

bool Queue::pop(Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    entry = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
}

void Queue::execute_loop() noexcept {
    Entry entry;
    for (;;) {
        const std::uint32_t seen = work_.current();
        if (pop(entry)) {
            execute(entry);
            continue;
        }
        {
            const std::lock_guard lock(mutex_);
            if (stop_ && waiting_.empty()) {
                closed_ = true;
                return;
            }
        }
        work_.wait(seen, spins_before_sleep);
    }
}

bool Queue::help() {
    Entry entry;
    if (!pop(entry)) return false;
    execute(entry);
    return true;
}

void Queue::execute(Entry& entry) noexcept {
    ++depth;
    Task& task = *entry.task;
    Ref<Failure> failure;
    {
        const ThreadLimit limit(entry.thread_limit);
        const DefaultFloatMode mode;
        try {
            for (const Ref<Buffer>& input : task.inputs) {
                if (!input) continue;
                input->wait_done();
                if (!failure && input->failed()) failure = input->failure();
            }
            if (!failure) {
                task.run();
                for (const Ref<Buffer>& result : task.results)
                    internal_check(result->data() != nullptr, "a call left a result without memory");
            }
        } catch (...) {
            failure = make_ref<Failure>(std::current_exception());
            note_failure(failure);
        }
    }
    // Whatever the call held is free before a waiter wakes, so that memory figures and uniqueness do not depend on timing.
    std::vector<Ref<Buffer>> results = std::move(task.results);
    const std::uint64_t bytes = task.bytes_held;
    entry.task.reset();
    for (Ref<Buffer>& result : results) {
        if (failure)
            result->set_failed(failure);
        else
            Buffer::set_ready(std::move(result));
    }
    results.clear();
    --depth;
    finish(bytes);
}

/// Runs a call in its caller's thread, which plays the executor meanwhile.
void Queue::execute_closed(Entry& entry) noexcept {
    const std::lock_guard lock(closed_mutex_);
    Queue* const before = std::exchange(executing, this);
    execute(entry);
    executing = before;
}

/// Calls run by `help` end before the one that they interrupt: they count as finished when that does, else `drain` could return too early.
void Queue::finish(std::uint64_t bytes_held) noexcept {
    bytes_held_.fetch_sub(bytes_held, std::memory_order_relaxed);
    ++finished_inside_;
    if (depth == 0) finished_.fetch_add(std::exchange(finished_inside_, 0), std::memory_order_release);
    in_flight_.fetch_sub(1, std::memory_order_release);
    progress_.notify_all();
}

void Queue::note_failure(const Ref<Failure>& failure) {
    const std::lock_guard lock(mutex_);
    if (failures_.size() >= failures_kept) std::erase_if(failures_, [](const Ref<Failure>& f) { return f->reported(); });
    if (failures_.size() < failures_kept) failures_.push_back(failure);
}

void Queue::drain() noexcept {
    if (on_executor()) {
        while (help()) {
        }
        return;
    }
    std::uint64_t target = 0;
    {
        const std::lock_guard lock(mutex_);
        target = submitted_;
    }
    for (;;) {
        const std::uint32_t seen = progress_.current();
        if (finished_.load(std::memory_order_acquire) >= target) return;
        progress_.wait(seen, spins_before_sleep);
    }
}

void Queue::synchronize() {
    drain();
    std::vector<Ref<Failure>> failures;
    {
        const std::lock_guard lock(mutex_);
        failures.swap(failures_);
    }
    Ref<Failure> first;
    for (const Ref<Failure>& failure : failures) {
        if (!first && !failure->reported()) first = failure;
        failure->set_reported();
    }
    if (first) first->raise();
}

void Queue::close() noexcept {
    if (on_executor()) { // a call ends the process: its thread cannot be waited for
        while (help()) {
        }
        const std::lock_guard lock(mutex_);
        closed_ = true;
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if (!started_) closed_ = true;
        if (!started_ || stop_) return;
        stop_ = true;
    }
    work_.notify_all();
    pthread_join(executor_, nullptr);
    const std::lock_guard lock(mutex_);
    started_ = false;
}

void Queue::prepare_fork() {
    for (;;) {
        if (!on_executor()) drain();
        mutex_.lock();
        if (on_executor() || idle()) return;
        mutex_.unlock();
    }
}

void Queue::after_fork(bool child) noexcept {
    if (child) {
        if (!on_executor()) started_ = false;
        work_.reset_after_fork();
        progress_.reset_after_fork();
    }
    mutex_.unlock();
}

Queue& cpu_queue() {
    static Queue* const only = new Queue; // never destroyed: it is closed at exit
    return *only;
}

void synchronize_all() {
    std::vector<Queue*> queues;
    {
        const std::lock_guard lock(registry().mutex);
        queues = registry().queues;
    }
    for (Queue* queue : queues) queue->drain();
    for (Queue* queue : queues) queue->synchronize();
}

void prepare_queues_for_fork() noexcept {
    registry().mutex.lock();
    for (Queue* queue : registry().queues) queue->prepare_fork();
}

void release_queues_after_fork(bool child) noexcept {
    for (Queue* queue : registry().queues) queue->after_fork(child);
    registry().mutex.unlock();
}

void close_queues() noexcept {
    std::vector<Queue*> queues;
    {
        const std::lock_guard lock(registry().mutex);
        queues = registry().queues;
    }
    for (Queue* queue : queues) queue->close();
}

} // namespace stithy::runtime
