#include "runtime/disk_cache.hpp"

#include "runtime/stats.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace stithy::runtime;
namespace fs = std::filesystem;

class Disk : public testing::Test {
protected:
    void SetUp() override {
        static int counter = 0;
        folder_ = fs::temp_directory_path() / ("stithy_cache_" + std::to_string(::getpid()) + "_" + std::to_string(counter++)) / "inner";
    }
    void TearDown() override { fs::remove_all(folder_.parent_path()); }
    [[nodiscard]] DiskCache open(std::uint64_t limit = 1 << 20) const { return DiskCache(folder_.string(), limit); }
    [[nodiscard]] fs::path file(std::string_view key) const { return folder_ / hash128(key).hex(); }
    static void put(DiskCache& cache, std::string_view key, std::string_view value) { cache.put(hash128(key), key, value); }
    static std::optional<std::string> get(DiskCache& cache, std::string_view key) { return cache.get(hash128(key), key); }
    static void age(const fs::path& file, int seconds) {
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
    }

    fs::path folder_;
};

TEST_F(Disk, KeepsEntriesAcrossInstances) {
    const std::string value("machine\0code", 12);
    {
        DiskCache cache = open();
        EXPECT_FALSE(get(cache, "key"));
        put(cache, "key", value);
        put(cache, "empty", "");
        EXPECT_EQ(get(cache, "key"), value);
    }
    DiskCache cache = open();
    EXPECT_EQ(get(cache, "key"), value);
    EXPECT_EQ(get(cache, "empty"), "");
    EXPECT_FALSE(get(cache, "other"));
    put(cache, "key", "newer");
    EXPECT_EQ(get(cache, "key"), "newer");
    const DiskCache::Info info = cache.info();
    EXPECT_EQ(info.folder, folder_.string());
    EXPECT_EQ(info.why_unused, "");
    EXPECT_EQ(info.entries, 2u);
    EXPECT_GT(info.bytes, 0u);
    struct stat status;
    ASSERT_EQ(stat(folder_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    cache.clear();
    EXPECT_EQ(cache.info().entries, 0u);
}

TEST_F(Disk, ComparesTheKeyText) {
    DiskCache cache = open();
    cache.put(hash128("one"), "one", "value");
    EXPECT_FALSE(cache.get(hash128("one"), "another text of the same hash"));
    EXPECT_EQ(cache.get(hash128("one"), "one"), "value"); // and the entry stays
}

TEST_F(Disk, CorruptEntriesAreMissesAndGo) {
    DiskCache cache = open();
    const std::string value(1000, 'v');
    for (const char* damage : {"flip", "short", "long", "empty", "magic", "sizes"}) {
        put(cache, "key", value);
        ASSERT_EQ(get(cache, "key"), value);
        const std::string kind = damage;
        const auto bytes = fs::file_size(file("key"));
        if (kind == "short") fs::resize_file(file("key"), bytes - 1);
        if (kind == "long") fs::resize_file(file("key"), bytes + 1);
        if (kind == "empty") fs::resize_file(file("key"), 0);
        std::fstream stream(file("key"), std::ios::in | std::ios::out | std::ios::binary);
        if (kind == "flip") stream.seekp(500).put('x');
        if (kind == "magic") stream.seekp(0).put('x');
        if (kind == "sizes") stream.seekp(15).put('\x7f');
        stream.close();
        EXPECT_FALSE(get(cache, "key")) << damage;
        EXPECT_FALSE(fs::exists(file("key"))) << damage;
    }
}

TEST_F(Disk, TheOldestGoFirst) {
    DiskCache cache = open(10'000);
    const std::string value(900, 'v');
    for (int i = 0; i < 9; ++i) {
        const std::string key = "key" + std::to_string(i);
        put(cache, key, value);
        age(file(key), 1000 - i);
    }
    age(file("key8"), 100'000);
    EXPECT_TRUE(get(cache, "key8")); // the oldest, but used: it is young again
    for (int i = 0; i < 3; ++i) put(cache, "new" + std::to_string(i), value);
    EXPECT_LE(cache.info().bytes, 10'000u);
    EXPECT_TRUE(get(cache, "new2"));
    EXPECT_TRUE(get(cache, "key8"));
    EXPECT_FALSE(get(cache, "key0"));
    put(cache, "huge", std::string(20'000, 'h')); // more than the whole cache: not stored
    EXPECT_FALSE(get(cache, "huge"));
    EXPECT_TRUE(get(cache, "new2"));
}

TEST_F(Disk, LeftoversOfACrashGo) {
    {
        DiskCache cache = open();
        put(cache, "a", "1");
    }
    std::ofstream(folder_ / "tmp.1.2.3") << "half";
    std::ofstream(folder_ / "tmp.4.5.6") << "being written";
    std::ofstream(folder_ / "README") << "not ours";
    age(folder_ / "tmp.1.2.3", 10'000);
    DiskCache cache = open();
    put(cache, "b", "2");
    EXPECT_FALSE(fs::exists(folder_ / "tmp.1.2.3"));
    EXPECT_TRUE(fs::exists(folder_ / "tmp.4.5.6"));
    cache.clear();
    EXPECT_TRUE(fs::exists(folder_ / "README"));
}

TEST_F(Disk, UnsafeOrMissingFoldersAreNotUsed) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::all);
    {
        DiskCache cache = open();
        put(cache, "key", "value");
        EXPECT_FALSE(get(cache, "key"));
        EXPECT_EQ(cache.info().why_unused, "others may write to the folder");
        EXPECT_TRUE(fs::is_empty(folder_));
    }
    DiskCache off("", 1000);
    put(off, "key", "value");
    EXPECT_FALSE(get(off, "key"));
    EXPECT_EQ(off.info().why_unused, "switched off");
    off.clear();
    DiskCache nowhere("/proc/stithy_cannot_be_made", 1000);
    put(nowhere, "key", "value");
    EXPECT_FALSE(get(nowhere, "key"));
    EXPECT_NE(nowhere.info().why_unused, "");
    std::ofstream(folder_ / "file") << "x";
    DiskCache not_a_folder((folder_ / "file").string(), 1000);
    EXPECT_FALSE(get(not_a_folder, "key"));
}

TEST_F(Disk, LinksAreNotFollowed) {
    DiskCache cache = open();
    put(cache, "key", "value");
    const fs::path outside = folder_.parent_path() / "outside";
    fs::rename(file("key"), outside);
    fs::create_symlink(outside, file("key"));
    EXPECT_FALSE(get(cache, "key"));
}

TEST_F(Disk, ProcessesAndThreadsAtOnce) {
    const auto work = [&](int seed) {
        DiskCache cache = open(40'000);
        int wrong = 0;
        for (int i = 0; i < 200; ++i) {
            const std::string key = "key" + std::to_string((i * 7 + seed) % 20);
            const std::string value = key + std::string(static_cast<std::size_t>(100 * ((i + seed) % 20)), 'v');
            put(cache, key, value);
            if (auto got = get(cache, key); got && got->substr(0, key.size()) != key) ++wrong;
        }
        return wrong;
    };
    std::vector<pid_t> children;
    for (int c = 0; c < 3; ++c) {
        const pid_t child = fork();
        if (child == 0) _exit(work(c));
        children.push_back(child);
    }
    std::thread thread([&] { EXPECT_EQ(work(11), 0); });
    EXPECT_EQ(work(5), 0);
    thread.join();
    for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_LE(open().info().bytes, 60'000u);
}

TEST_F(Disk, TheProcessCacheFollowsTheEnvironmentAndCounts) {
    const int status = [&] {
        const pid_t child = fork();
        if (child == 0) { // the environment is read once: in a process of its own
            setenv("STITHY_CACHE_DIR", folder_.c_str(), 1);
            unsetenv("STITHY_CACHE");
            const auto before = stithy::stats().disk_cache_hits;
            disk_put(hash128("k"), "k", "v");
            const bool found = disk_get(hash128("k"), "k") == "v" && !disk_get(hash128("q"), "q");
            const bool counted = stithy::stats().disk_cache_hits == before + 1 && disk_info().entries == 1 && disk_info().folder == folder_;
            disk_clear();
            _exit(found && counted && disk_info().entries == 0 ? 0 : 1);
        }
        int result = 0;
        waitpid(child, &result, 0);
        return result;
    }();
    EXPECT_EQ(status, 0);
}

} // namespace
