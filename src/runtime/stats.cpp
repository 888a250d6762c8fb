#include "runtime/stats.hpp"

#include "runtime/allocator.hpp"

namespace stithy {

Stats stats() {
    const runtime::Counters& counters = runtime::counters();
    const runtime::MemoryFigures memory = runtime::memory_figures();
    Stats stats;
    stats.kernels_compiled = counters.kernels_compiled.load(std::memory_order_relaxed);
    stats.kernel_cache_hits = counters.kernel_cache_hits.load(std::memory_order_relaxed);
    stats.disk_cache_hits = counters.disk_cache_hits.load(std::memory_order_relaxed);
    stats.library_compiles = counters.library_compiles.load(std::memory_order_relaxed);
    stats.traces = counters.traces.load(std::memory_order_relaxed);
    stats.plans = counters.plans.load(std::memory_order_relaxed);
    stats.bytes_in_use = memory.bytes_in_use;
    stats.bytes_peak = memory.bytes_peak;
    return stats;
}

void reset_peak() { runtime::reset_memory_peak(); }

namespace runtime {

Counters& counters() noexcept {
    static constinit Counters counters;
    return counters;
}

} // namespace runtime
} // namespace stithy
