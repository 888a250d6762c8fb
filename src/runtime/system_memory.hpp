#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define STITHY_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STITHY_ADDRESS_SANITIZER 1
#endif
#endif

namespace stithy::runtime {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// Fresh address space, 2 MiB aligned, advised to use huge pages: on virtual machines a first touch of 4 KiB pages costs
/// 50 times as much. `bytes` is a multiple of 2 MiB. Null when the system has none.
[[nodiscard]] void* map_region(std::size_t bytes) noexcept;
void unmap_region(void* region, std::size_t bytes) noexcept;
/// Gives the pages inside [start, start + bytes) back, keeping the address space.
void release_pages(void* start, std::size_t bytes) noexcept;

// The address sanitizer knows nothing of blocks within a region: these tell it. Elsewhere they do nothing.
#ifdef STITHY_ADDRESS_SANITIZER
void mark_free(void* start, std::size_t bytes) noexcept;
void mark_used(void* start, std::size_t bytes) noexcept;
#else
inline void mark_free(void*, std::size_t) noexcept {}
inline void mark_used(void*, std::size_t) noexcept {}
#endif

} // namespace stithy::runtime
