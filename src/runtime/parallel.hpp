#pragma once
#include <cstdint>
#include <type_traits>

/// Parallel loops over chunks that the caller fixed, so that results do not depend on the number of threads.
namespace stithy::runtime {

/// Works on [begin, end) of a range and gives 0, or a status that ends the loop. Must not throw.
using ChunkFunction = std::int32_t (*)(void* context, std::int64_t begin, std::int64_t end);

/// Calls `function` once for each chunk [i * chunk, min((i + 1) * chunk, size)). Chunks are claimed one by one, from the front by the
/// caller and from the back by idle workers; only chunks that were begun are waited for. After a failure no chunk above it is begun, and
/// the status of the lowest failing chunk is returned, whatever the timing. Inside another parallel loop it runs serially.
std::int32_t parallel_for(std::int64_t size, std::int64_t chunk, ChunkFunction function, void* context) noexcept;

/// The same for a callable `int32 f(int64 begin, int64 end)` or `void f(int64, int64)` that does not throw.
template <class F>
    requires std::is_invocable_v<F&, std::int64_t, std::int64_t>
std::int32_t parallel_for(std::int64_t size, std::int64_t chunk, F&& f) noexcept {
    using Plain = std::remove_reference_t<F>;
    auto call = [](void* context, std::int64_t begin, std::int64_t end) -> std::int32_t {
        Plain& body = *static_cast<Plain*>(context);
        if constexpr (std::is_void_v<std::invoke_result_t<F&, std::int64_t, std::int64_t>>) {
            body(begin, end);
            return 0;
        } else {
            return body(begin, end);
        }
    };
    return parallel_for(size, chunk, call, const_cast<std::remove_const_t<Plain>*>(&f));
}

/// Threads that a parallel loop of this thread would use: the machine's share of the process (affinity mask, control group's
/// quota, STITHY_THREADS), or less inside a `ThreadLimit`. At least 1.
[[nodiscard]] int thread_count() noexcept;
/// The same without regard to limits.
[[nodiscard]] int machine_threads() noexcept;

/// The limit set on this thread; 0 when there is none.
[[nodiscard]] int current_thread_limit() noexcept;

/// While it lives, parallel loops that this thread starts use at most `threads` threads (0: no limit of its own). Scopes nest; an inner one
/// may raise the limit.
class ThreadLimit {
public:
    explicit ThreadLimit(int threads) noexcept;
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    int before_;
};

} // namespace stithy::runtime
