#include "runtime/parallel.hpp"

#include "runtime/parallel_pool.hpp"
#include "runtime/process_hooks.hpp"
#include "runtime/signal.hpp"
#include "runtime/threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

namespace stithy::runtime {
namespace {

constexpr std::size_t slot_count = 64;
constexpr std::size_t worker_stack = std::size_t{8} << 20;
constexpr int worker_spins = 400; // some 10 or 20 microseconds before a worker sleeps: less than it costs to wake it
constexpr int caller_spins = 256; // and before a caller sleeps that waits for the last chunks
constexpr unsigned end_bits = 18;
constexpr std::uint32_t closed = (1U << end_bits) - 1; // above all numbers of chunks
constexpr std::uint64_t front_unit = 1, back_unit = std::uint64_t{1} << end_bits, helper_unit = back_unit << end_bits,
                        generation_unit = helper_unit << 8;
constexpr std::uint64_t no_failure = std::numeric_limits<std::uint64_t>::max();

// Static TLS: a few bytes, which the loader keeps room for even in libraries loaded late.
[[gnu::tls_model("initial-exec")]] constinit thread_local int limit_of_thread = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool inside_loop = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local int own_slot = -1;

struct Loop {
    ChunkFunction function;
    void* context;
    std::int64_t size, chunk;
    std::uint32_t chunks;
};

/// What stands in a slot's claim word: generation (20 bits), helpers still wanted (8), chunks taken from the back (18) and from the front
/// (18).
struct Claim {
    std::uint64_t word;

    [[nodiscard]] std::uint64_t generation() const noexcept { return word / generation_unit; }
    [[nodiscard]] bool wants_help() const noexcept { return (word / helper_unit & 0xff) != 0; }
    [[nodiscard]] std::uint32_t front() const noexcept { return static_cast<std::uint32_t>(word) & closed; }
    [[nodiscard]] std::uint32_t back() const noexcept { return static_cast<std::uint32_t>(word >> end_bits) & closed; }
    [[nodiscard]] bool any_left(std::uint32_t chunks) const noexcept { return front() + back() < chunks; }
};

/// Place of one running loop. Slots live for ever, so a late worker may look at one whose loop has ended: the claim word, which
/// carries a generation, then refuses it. Fields are written between the closing of the old generation and the opening of the new one.
/// The caller takes chunks from the front and workers from the back, so that in loop after loop over the same memory a core meets what it
/// has in its caches.
struct alignas(64) Slot {
    std::atomic<std::uint64_t> claim{closed};
    std::atomic<ChunkFunction> function{nullptr};
    std::atomic<void*> context{nullptr};
    std::atomic<std::int64_t> size{0}, chunk{0};
    std::atomic<std::uint32_t> chunks{0};
    alignas(64) std::atomic<std::uint32_t> done{0};
    std::atomic<std::uint32_t> caller_sleeps{0};
    std::atomic<std::uint64_t> failure{no_failure}; // lowest failing chunk (high half) and its status

    void open(const Loop& loop, unsigned helpers) noexcept {
        const std::uint64_t generation = (Claim{claim.load(std::memory_order_relaxed)}.generation() + 1) * generation_unit;
        claim.store(generation | closed, std::memory_order_relaxed);
        function.store(loop.function, std::memory_order_release);
        context.store(loop.context, std::memory_order_release);
        size.store(loop.size, std::memory_order_release);
        chunk.store(loop.chunk, std::memory_order_release);
        chunks.store(loop.chunks, std::memory_order_release);
        done.store(0, std::memory_order_relaxed);
        failure.store(no_failure, std::memory_order_relaxed);
        claim.store(generation | helpers * helper_unit, std::memory_order_release);
    }
    void close() noexcept {
        claim.store((Claim{claim.load(std::memory_order_relaxed)}.generation() + 1) * generation_unit | closed, std::memory_order_relaxed);
    }
    [[nodiscard]] Loop read() const noexcept {
        return {function.load(std::memory_order_acquire), context.load(std::memory_order_acquire), size.load(std::memory_order_acquire),
                chunk.load(std::memory_order_acquire), chunks.load(std::memory_order_acquire)};
    }
    void run_chunk(const Loop& loop, std::uint32_t index) noexcept {
        // Chunks above a failed one are counted, not run. All below it are run, so the lowest failure is always found.
        if (failure.load(std::memory_order_relaxed) >> 32 >= index) {
            const std::int64_t begin = std::int64_t{index} * loop.chunk;
            const std::int32_t status = loop.function(loop.context, begin, std::min(loop.size, begin + loop.chunk));
            if (status != 0) [[unlikely]]
                note_failure(std::uint64_t{index} << 32 | static_cast<std::uint32_t>(status));
        }
        if (done.fetch_add(1, std::memory_order_seq_cst) + 1 == loop.chunks && caller_sleeps.load(std::memory_order_seq_cst))
            futex_wake(reinterpret_cast<const std::uint32_t*>(&done), 1);
    }
    void note_failure(std::uint64_t mine) noexcept {
        std::uint64_t lowest = failure.load(std::memory_order_relaxed);
        while (mine < lowest && !failure.compare_exchange_weak(lowest, mine, std::memory_order_relaxed)) {
        }
    }
    /// The caller's share.
    void work(const Loop& loop) noexcept {
        Claim seen{claim.load(std::memory_order_relaxed)};
        while (seen.any_left(loop.chunks))
            if (claim.compare_exchange_weak(seen.word, seen.word + front_unit, std::memory_order_relaxed)) {
                run_chunk(loop, seen.front());
                seen.word = claim.load(std::memory_order_relaxed);
            }
    }
    /// A worker's share, if the loop still wants help.
    bool help() noexcept {
        Claim seen{claim.load(std::memory_order_acquire)};
        Loop loop;
        do {
            loop = read();
            if (!seen.any_left(loop.chunks) || !seen.wants_help()) return false;
        } while (!claim.compare_exchange_weak(seen.word, seen.word + back_unit - helper_unit, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
        const std::uint64_t generation = seen.generation();
        run_chunk(loop, loop.chunks - 1 - seen.back());
        seen.word = claim.load(std::memory_order_acquire);
        while (seen.generation() == generation && seen.any_left(loop.chunks))
            if (claim.compare_exchange_weak(seen.word, seen.word + back_unit, std::memory_order_acq_rel, std::memory_order_acquire)) {
                run_chunk(loop, loop.chunks - 1 - seen.back());
                seen.word = claim.load(std::memory_order_acquire);
            }
        return true;
    }
    /// Waits for chunks that workers have begun.
    void wait(std::uint32_t all) noexcept {
        for (int i = 0; i < caller_spins; ++i) {
            if (done.load(std::memory_order_acquire) == all) return;
            spin_pause();
        }
        caller_sleeps.store(1, std::memory_order_seq_cst);
        for (std::uint32_t now; (now = done.load(std::memory_order_seq_cst)) != all;)
            futex_wait(reinterpret_cast<const std::uint32_t*>(&done), now);
        caller_sleeps.store(0, std::memory_order_relaxed);
    }
};

struct Pool {
    std::array<Slot, slot_count> slots;
    std::atomic<std::uint64_t> taken{0}; // slots in use
    std::atomic<bool> started{false}, stopped{false};
    std::mutex mutex; // of starting and stopping
    std::vector<pthread_t> workers;
    Signal work;

    void start() noexcept;
    void stop() noexcept;
    [[nodiscard]] int take_slot() noexcept;
    void free_slot(int slot) noexcept { taken.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release); }
    void worker_loop() noexcept;
    bool help_anybody() noexcept;
};

Pool& pool() noexcept {
    static Pool* const only = new Pool; // never destroyed: loops may run until the very end
    return *only;
}

void Pool::start() noexcept {
    install_process_hooks();
    const std::lock_guard lock(mutex);
    if (started.load(std::memory_order_relaxed) || stopped.load(std::memory_order_relaxed)) return;
    const int wanted = std::min(machine_threads() - 1, 255);
    for (int i = 0; i < wanted; ++i) {
        pthread_t worker;
        auto main = [](void* self) -> void* {
            static_cast<Pool*>(self)->worker_loop();
            return nullptr;
        };
        if (!start_thread(worker, "stithy-worker", worker_stack, main, this)) break; // the others do the work
        workers.push_back(worker);
    }
    started.store(true, std::memory_order_release);
}

void Pool::stop() noexcept {
    const std::lock_guard lock(mutex);
    stopped.store(true, std::memory_order_seq_cst);
    work.notify_all();
    for (pthread_t worker : workers)
        if (!pthread_equal(worker, pthread_self())) pthread_join(worker, nullptr);
    workers.clear();
}

int Pool::take_slot() noexcept {
    std::uint64_t now = taken.load(std::memory_order_relaxed);
    while (now != ~std::uint64_t{0}) {
        const int slot = std::countr_one(now);
        if (taken.compare_exchange_weak(now, now | std::uint64_t{1} << slot, std::memory_order_acquire)) return slot;
    }
    return -1;
}

bool Pool::help_anybody() noexcept {
    bool helped = false;
    for (std::uint64_t left = taken.load(std::memory_order_acquire); left; left &= left - 1)
        helped |= slots[static_cast<std::size_t>(std::countr_zero(left))].help();
    return helped;
}

void Pool::worker_loop() noexcept {
    inside_loop = true;
    for (;;) {
        const std::uint32_t seen = work.current();
        if (stopped.load(std::memory_order_seq_cst)) return;
        if (!help_anybody()) work.wait(seen, worker_spins);
    }
}

std::int32_t run_serially(std::int64_t begin, std::int64_t size, std::int64_t chunk, ChunkFunction function, void* context) noexcept {
    while (begin < size) {
        const std::int64_t end = size - begin > chunk ? begin + chunk : size;
        if (const std::int32_t status = function(context, begin, end)) return status;
        begin = end;
    }
    return 0;
}

/// Several chunks as one, where there are more than can be counted.
struct Grouped {
    ChunkFunction function;
    void* context;
    std::int64_t chunk;

    static std::int32_t run(void* self, std::int64_t begin, std::int64_t end) noexcept {
        const Grouped& g = *static_cast<Grouped*>(self);
        return run_serially(begin, end, g.chunk, g.function, g.context);
    }
};

} // namespace

std::int32_t parallel_for(std::int64_t size, std::int64_t chunk, ChunkFunction function, void* context) noexcept {
    if (size <= 0) return 0;
    chunk = std::clamp<std::int64_t>(chunk, 1, size);
    const std::int64_t chunks = (size - 1) / chunk + 1;
    if (chunks == 1) return function(context, 0, size);
    const int threads = static_cast<int>(std::min<std::int64_t>(thread_count(), chunks));
    if (threads == 1 || inside_loop) return run_serially(0, size, chunk, function, context);
    if (chunks >= closed) {
        Grouped grouped{function, context, chunk};
        return parallel_for(size, chunk * ((chunks - 1) / (closed - 1) + 1), &Grouped::run, &grouped);
    }
    Pool& workers = pool();
    if (!workers.started.load(std::memory_order_acquire)) workers.start();
    const int index = workers.stopped.load(std::memory_order_relaxed) ? -1 : workers.take_slot();
    if (index < 0) return run_serially(0, size, chunk, function, context);

    Slot& slot = workers.slots[static_cast<std::size_t>(index)];
    const Loop loop{function, context, size, chunk, static_cast<std::uint32_t>(chunks)};
    slot.open(loop, static_cast<unsigned>(threads - 1));
    workers.work.notify(threads - 1);
    inside_loop = true;
    own_slot = index;
    slot.work(loop);
    slot.wait(loop.chunks);
    inside_loop = false;
    own_slot = -1;
    const std::uint64_t failure = slot.failure.load(std::memory_order_relaxed);
    workers.free_slot(index);
    return failure == no_failure ? 0 : static_cast<std::int32_t>(static_cast<std::uint32_t>(failure));
}

int machine_threads() noexcept {
    static const int count = std::min(count_processors(), 256);
    return count;
}

int thread_count() noexcept { return limit_of_thread > 0 ? std::min(limit_of_thread, machine_threads()) : machine_threads(); }

int current_thread_limit() noexcept { return limit_of_thread; }

ThreadLimit::ThreadLimit(int threads) noexcept : before_(limit_of_thread) {
    if (threads > 0) limit_of_thread = threads;
}

ThreadLimit::~ThreadLimit() { limit_of_thread = before_; }

void reset_pool_after_fork() noexcept {
    Pool& child = pool();
    new (&child.mutex) std::mutex; // whoever held it is not here
    new (&child.workers) std::vector<pthread_t>;
    child.started.store(false, std::memory_order_relaxed);
    child.work.reset_after_fork();
    const std::uint64_t keep = own_slot >= 0 ? std::uint64_t{1} << own_slot : 0;
    for (std::size_t i = 0; i < slot_count; ++i)
        if (!(keep >> i & 1)) child.slots[i].close();
    child.taken.store(keep, std::memory_order_relaxed);
}

void stop_pool() noexcept { pool().stop(); }

} // namespace stithy::runtime
