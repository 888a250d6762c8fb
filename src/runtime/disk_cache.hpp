#pragma once
#include "runtime/hash.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stithy::runtime {

/// A folder of entries that outlive the process, safe for processes at work at once: entries are written to a temporary file
/// and renamed, carry a checksum and their whole key, and are removed when they do not read back. Nothing here throws:
/// what does not work is a miss.
class DiskCache {
public:
    /// An empty folder name makes a cache that is off. The folder is made (0700) when missing; one that belongs to somebody
    /// else or that others may write to is not used.
    DiskCache(std::string folder, std::uint64_t limit_bytes) noexcept;
    ~DiskCache();
    DiskCache(const DiskCache&) = delete;
    DiskCache& operator=(const DiskCache&) = delete;

    /// The value stored under this key; nothing when there is none, or when it belongs to another key of the same hash.
    [[nodiscard]] std::optional<std::string> get(const Hash128& hash, std::string_view key_text) noexcept;
    /// Stores a value; the oldest entries go when the folder exceeds its limit.
    void put(const Hash128& hash, std::string_view key_text, std::string_view value) noexcept;
    /// Removes every entry.
    void clear() noexcept;

    struct Info {
        std::string folder;     ///< empty when the cache is switched off
        std::string why_unused; ///< empty when it is in use
        std::uint64_t entries = 0, bytes = 0, limit_bytes = 0;
    };
    [[nodiscard]] Info info() const;

private:
    void open_folder();
    void evict();

    std::string folder_, why_unused_;
    std::uint64_t limit_bytes_;
    int directory_ = -1;                        // descriptor, so that the folder cannot be swapped under us
    std::atomic<std::int64_t> bytes_known_{-1}; // what we believe the folder holds; -1 before the first look
};

/// The process's cache: $STITHY_CACHE_DIR, else $XDG_CACHE_HOME/stithy, else ~/.cache/stithy; off when STITHY_CACHE=off.
/// At most 512 MiB, or $STITHY_CACHE_MIB. The environment is read at the first use.
[[nodiscard]] DiskCache& disk_cache();

/// `get` of the process's cache; a hit is counted in the statistics.
[[nodiscard]] std::optional<std::string> disk_get(const Hash128& hash, std::string_view key_text);
void disk_put(const Hash128& hash, std::string_view key_text, std::string_view value);
[[nodiscard]] DiskCache::Info disk_info();
void disk_clear();

} // namespace stithy::runtime
