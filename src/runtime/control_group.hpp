#pragma once
#include <cstdint>
#include <string>

namespace stithy::runtime {

/// Processors that the quota of the process's control groups amounts to, rounded up; 0 when there is no quota.
/// `root` and `self` stand for /sys/fs/cgroup and /proc/self/cgroup.
[[nodiscard]] int control_group_cpus(const std::string& root = "/sys/fs/cgroup", const std::string& self = "/proc/self/cgroup");

/// The least memory limit of the process's control groups in bytes; 0 when there is none.
[[nodiscard]] std::uint64_t control_group_memory(const std::string& root = "/sys/fs/cgroup", const std::string& self = "/proc/self/cgroup");

} // namespace stithy::runtime
