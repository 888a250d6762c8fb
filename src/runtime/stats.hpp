#pragma once
#include "stithy/stats.hpp"

#include <atomic>
#include <cstdint>

namespace stithy::runtime {

/// The live counters behind `stithy::stats()`.
struct Counters {
    std::atomic<std::uint64_t> kernels_compiled{0}, kernel_cache_hits{0}, disk_cache_hits{0}, library_compiles{0}, traces{0}, plans{0};
};

[[nodiscard]] Counters& counters() noexcept;

/// Adds one: `bump(&Counters::traces)`.
inline void bump(std::atomic<std::uint64_t> Counters::* counter) noexcept { (counters().*counter).fetch_add(1, std::memory_order_relaxed); }

} // namespace stithy::runtime
