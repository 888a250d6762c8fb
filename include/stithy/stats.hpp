#pragma once
#include <cstdint>

namespace stithy {

/// Counters of the whole process since its start; the difference of two readings says what a piece of code cost.
struct Stats {
    std::uint64_t kernels_compiled = 0;  ///< kernels and loops compiled to machine code
    std::uint64_t kernel_cache_hits = 0; ///< kernels found compiled in memory
    std::uint64_t disk_cache_hits = 0;   ///< kernels found compiled in the disk cache
    std::uint64_t library_compiles = 0;  ///< routines that a library compiled for a shape
    std::uint64_t traces = 0;            ///< functions traced
    std::uint64_t plans = 0;             ///< plans made
    std::uint64_t bytes_in_use = 0;      ///< bytes of live arrays and of the scratch memory of running calls
    std::uint64_t bytes_peak = 0;        ///< highest bytes_in_use since the start or the last `reset_peak()`
};

/// The counters now. Does not wait for work that is under way.
[[nodiscard]] Stats stats();

/// Makes `bytes_peak` what is in use now.
void reset_peak();

} // namespace stithy
