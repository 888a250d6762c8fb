#include "runtime/control_group.hpp"

#include "runtime/parallel.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace stithy::runtime;
namespace fs = std::filesystem;

class ControlGroup : public testing::Test {
protected:
    void SetUp() override {
        root_ = fs::temp_directory_path() / ("stithy_cgroup_" + std::to_string(::getpid()));
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }
    void write(const std::string& path, const std::string& text) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }
    [[nodiscard]] std::string root() const { return root_.string(); }
    [[nodiscard]] std::string self() const { return (root_ / "self").string(); }
    fs::path root_;
};

TEST_F(ControlGroup, VersionTwoTakesTheTightestAncestor) {
    write("self", "0::/a/b");
    write("a/b/cpu.max", "max 100000");
    write("a/cpu.max", "250000 100000");
    write("a/b/memory.max", "max");
    write("a/memory.max", "1000000");
    EXPECT_EQ(control_group_cpus(root(), self()), 3);
    EXPECT_EQ(control_group_memory(root(), self()), 1'000'000u);
}

TEST_F(ControlGroup, VersionOne) {
    write("self", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x");
    write("cpu/cpu.cfs_quota_us", "50000"); // a container sees its own group at the root
    write("cpu/cpu.cfs_period_us", "100000");
    write("memory/docker/x/memory.limit_in_bytes", "9223372036854771712");
    EXPECT_EQ(control_group_cpus(root(), self()), 1);
    EXPECT_EQ(control_group_memory(root(), self()), 0u);
}

TEST_F(ControlGroup, NoneOrNonsense) {
    EXPECT_EQ(control_group_cpus(root(), self()), 0);
    write("self", "rubbish\n0::");
    write("cpu.max", "-1 nonsense");
    EXPECT_EQ(control_group_cpus(root(), self()), 0);
    EXPECT_EQ(control_group_memory(root(), self()), 0u);
}

TEST(Threads, AtLeastOne) {
    EXPECT_GE(machine_threads(), 1);
    EXPECT_LE(thread_count(), machine_threads());
}

} // namespace
