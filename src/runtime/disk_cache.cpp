#include "runtime/disk_cache.hpp"

#include "runtime/stats.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace stithy::runtime {
namespace {

/// The beginning of an entry's file; the key's text and the value follow, and the checksum covers both.
struct Header {
    char magic[8];
    std::uint64_t key_bytes, value_bytes;
    Hash128 checksum;
};
constexpr char magic[8] = {'s', 't', 'i', 't', 'h', 'y', '0', '1'};
constexpr std::size_t name_length = 32; // an entry is named by its hash, a temporary file otherwise
constexpr time_t stale_seconds = 3600;

class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    explicit operator bool() const { return descriptor_ >= 0; }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

bool read_all(int file, char* to, std::size_t bytes) {
    while (bytes) {
        const ssize_t got = ::read(file, to, bytes);
        if (got <= 0) return false;
        to += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int file, const char* from, std::size_t bytes) {
    while (bytes) {
        const ssize_t put = ::write(file, from, bytes);
        if (put <= 0) return false;
        from += put;
        bytes -= static_cast<std::size_t>(put);
    }
    return true;
}

void make_folders(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
        ::mkdir(path.substr(0, at).c_str(), 0700);
    ::mkdir(path.c_str(), 0700);
}

struct Found {
    std::string name;
    std::uint64_t bytes;
    std::int64_t nanoseconds; // of the last write or, about, use
    bool entry;               // else a temporary file
};

std::vector<Found> list(int directory) {
    std::vector<Found> found;
    const int descriptor = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const stream = descriptor >= 0 ? ::fdopendir(descriptor) : nullptr;
    if (!stream) {
        if (descriptor >= 0) ::close(descriptor);
        return found;
    }
    while (const dirent* item = ::readdir(stream)) {
        const std::string name = item->d_name;
        const bool entry = name.size() == name_length && name.find_first_not_of("0123456789abcdef") == std::string::npos;
        struct stat status;
        if (!entry && name.rfind("tmp.", 0) != 0) continue; // not ours
        if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
        const std::int64_t time = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
        found.push_back({name, static_cast<std::uint64_t>(status.st_size), time, entry});
    }
    ::closedir(stream);
    return found;
}

/// The value in an entry's file: whole, or why not.
enum class Verdict { good, other_key, corrupt };
Verdict read_entry(int file, std::uint64_t file_bytes, std::string_view key_text, std::string& value) {
    Header header;
    if (file_bytes < sizeof header || !read_all(file, reinterpret_cast<char*>(&header), sizeof header)) return Verdict::corrupt;
    const std::uint64_t body_bytes = file_bytes - sizeof header;
    if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.key_bytes > body_bytes ||
        header.value_bytes != body_bytes - header.key_bytes)
        return Verdict::corrupt;
    std::string body(static_cast<std::size_t>(body_bytes), '\0');
    if (!read_all(file, body.data(), body.size()) || hash128(body) != header.checksum) return Verdict::corrupt;
    if (std::string_view(body).substr(0, static_cast<std::size_t>(header.key_bytes)) != key_text) return Verdict::other_key;
    value = body.substr(static_cast<std::size_t>(header.key_bytes));
    return Verdict::good;
}

std::string temporary_name() {
    static std::atomic<unsigned> counter{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return "tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1)) + "." + std::to_string(now);
}

std::string environment(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
}

std::string usual_folder() {
    if (environment("STITHY_CACHE") == "off") return "";
    if (std::string folder = environment("STITHY_CACHE_DIR"); !folder.empty()) return folder;
    if (std::string folder = environment("XDG_CACHE_HOME"); !folder.empty()) return folder + "/stithy";
    if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/stithy";
    return "";
}

std::uint64_t usual_limit() {
    std::uint64_t mib = 512;
    const std::string text = environment("STITHY_CACHE_MIB");
    std::from_chars(text.data(), text.data() + text.size(), mib);
    return std::min<std::uint64_t>(mib, 1u << 30) << 20;
}

} // namespace

DiskCache::DiskCache(std::string folder, std::uint64_t limit_bytes) noexcept : folder_(std::move(folder)), limit_bytes_(limit_bytes) {
    try {
        open_folder();
    } catch (...) { // out of memory: no cache
    }
}

DiskCache::~DiskCache() {
    if (directory_ >= 0) ::close(directory_);
}

void DiskCache::open_folder() {
    if (folder_.empty()) {
        why_unused_ = "switched off";
        return;
    }
    make_folders(folder_);
    const int directory = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (directory < 0 || ::fstat(directory, &status) != 0)
        why_unused_ = "the folder cannot be made or opened";
    else if (status.st_uid != ::geteuid())
        why_unused_ = "the folder belongs to another user";
    else if ((status.st_mode & 022) != 0)
        why_unused_ = "others may write to the folder";
    else if (::faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) != 0)
        why_unused_ = "the folder cannot be written to";
    if (why_unused_.empty())
        directory_ = directory;
    else if (directory >= 0)
        ::close(directory);
}

std::optional<std::string> DiskCache::get(const Hash128& hash, std::string_view key_text) noexcept {
    if (directory_ < 0) return std::nullopt;
    try {
        const std::string name = hash.hex();
        const File file(::openat(directory_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        struct stat status;
        if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
        std::string value;
        const Verdict verdict = read_entry(file.get(), static_cast<std::uint64_t>(status.st_size), key_text, value);
        if (verdict == Verdict::corrupt) ::unlinkat(directory_, name.c_str(), 0);
        if (verdict != Verdict::good) return std::nullopt;
        if (::time(nullptr) - status.st_mtim.tv_sec > stale_seconds) ::futimens(file.get(), nullptr); // so that what is used stays
        return value;
    } catch (...) {
        return std::nullopt;
    }
}

void DiskCache::put(const Hash128& hash, std::string_view key_text, std::string_view value) noexcept {
    if (directory_ < 0) return;
    try {
        const std::uint64_t bytes = sizeof(Header) + key_text.size() + value.size();
        if (bytes > limit_bytes_) return;
        std::string body;
        body.reserve(static_cast<std::size_t>(bytes));
        body.append(sizeof(Header), '\0').append(key_text).append(value);
        Header header{{}, key_text.size(), value.size(), hash128(std::string_view(body).substr(sizeof(Header)))};
        std::memcpy(header.magic, magic, sizeof magic);
        std::memcpy(body.data(), &header, sizeof header);
        const std::string temporary = temporary_name();
        bool written = false;
        {
            const File file(::openat(directory_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (!file) return;
            written = write_all(file.get(), body.data(), body.size());
        }
        if (!written || ::renameat(directory_, temporary.c_str(), directory_, hash.hex().c_str()) != 0) {
            ::unlinkat(directory_, temporary.c_str(), 0);
            return;
        }
        const std::int64_t before = bytes_known_.load(std::memory_order_relaxed);
        if (before >= 0) bytes_known_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
        if (before < 0 || static_cast<std::uint64_t>(before) + bytes > limit_bytes_) evict();
    } catch (...) { // out of memory: not stored
    }
}

void DiskCache::evict() {
    std::vector<Found> found = list(directory_);
    const std::int64_t now = std::int64_t{::time(nullptr)} * 1'000'000'000;
    std::uint64_t total = 0;
    for (const Found& file : found) {
        if (file.entry)
            total += file.bytes;
        else if (now - file.nanoseconds > stale_seconds * 1'000'000'000)
            ::unlinkat(directory_, file.name.c_str(), 0); // left by a crash
    }
    if (total > limit_bytes_) {
        std::erase_if(found, [](const Found& file) { return !file.entry; });
        std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.nanoseconds < b.nanoseconds; });
        for (const Found& file : found) {
            if (total <= limit_bytes_ / 4 * 3) break; // some room, so that the next entry need not look again
            ::unlinkat(directory_, file.name.c_str(), 0);
            total -= file.bytes;
        }
    }
    bytes_known_.store(static_cast<std::int64_t>(total), std::memory_order_relaxed);
}

void DiskCache::clear() noexcept {
    if (directory_ < 0) return;
    try {
        for (const Found& file : list(directory_)) ::unlinkat(directory_, file.name.c_str(), 0);
        bytes_known_.store(0, std::memory_order_relaxed);
    } catch (...) { // out of memory: nothing removed
    }
}

DiskCache::Info DiskCache::info() const {
    Info info{folder_, why_unused_, 0, 0, limit_bytes_};
    if (directory_ < 0) return info;
    for (const Found& file : list(directory_)) {
        if (!file.entry) continue;
        ++info.entries;
        info.bytes += file.bytes;
    }
    return info;
}

DiskCache& disk_cache() {
    static DiskCache* const only = new DiskCache(usual_folder(), usual_limit());
    return *only;
}

std::optional<std::string> disk_get(const Hash128& hash, std::string_view key_text) {
    std::optional<std::string> value = disk_cache().get(hash, key_text);
    if (value) bump(&Counters::disk_cache_hits);
    return value;
}

void disk_put(const Hash128& hash, std::string_view key_text, std::string_view value) { disk_cache().put(hash, key_text, value); }

DiskCache::Info disk_info() { return disk_cache().info(); }

void disk_clear() { disk_cache().clear(); }

} // namespace stithy::runtime
