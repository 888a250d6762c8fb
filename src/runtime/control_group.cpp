#include "runtime/control_group.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>

namespace stithy::runtime {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The number, or -1 ("max", a missing file).
std::int64_t number(const std::string& text) {
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Calls `visit` with the folder of the process's group and of every group above it. `controller` is a version 1 hierarchy, or "" for
/// version 2. A container often mounts its own group at the root, where the path of /proc/self/cgroup leads nowhere: missing folders do no
/// harm.
void each_group(const std::string& root, const std::string& self, const std::string& controller,
                const std::function<void(const std::string&)>& visit) {
    std::ifstream file(self);
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool wanted = controller.empty() ? names == ",," : names.find("," + controller + ",") != std::string::npos;
        if (!wanted) continue;
        const std::string base = controller.empty() ? root : root + "/" + controller;
        std::string path = line.substr(second + 1);
        while (!path.empty() && path != "/") {
            visit(base + path);
            path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
        }
        visit(base);
    }
}

void take_least(std::int64_t& least, std::int64_t value) {
    if (value > 0 && (least <= 0 || value < least)) least = value;
}

} // namespace

int control_group_cpus(const std::string& root, const std::string& self) {
    std::int64_t least = 0;
    auto take = [&](std::int64_t quota, std::int64_t period) {
        if (quota > 0 && period > 0) take_least(least, (quota + period - 1) / period);
    };
    for (const std::string& base : {root, root + "/unified"})
        each_group(base, self, "", [&](const std::string& folder) {
            std::istringstream words(first_line(folder + "/cpu.max"));
            std::string quota, period;
            words >> quota >> period;
            take(number(quota), number(period));
        });
    each_group(root, self, "cpu", [&](const std::string& folder) {
        take(number(first_line(folder + "/cpu.cfs_quota_us")), number(first_line(folder + "/cpu.cfs_period_us")));
    });
    return static_cast<int>(std::min<std::int64_t>(least, 1 << 20));
}

std::uint64_t control_group_memory(const std::string& root, const std::string& self) {
    std::int64_t least = 0;
    for (const std::string& base : {root, root + "/unified"})
        each_group(base, self, "", [&](const std::string& folder) { take_least(least, number(first_line(folder + "/memory.max"))); });
    each_group(root, self, "memory",
               [&](const std::string& folder) { take_least(least, number(first_line(folder + "/memory.limit_in_bytes"))); });
    constexpr std::int64_t no_limit = std::int64_t{1} << 60; // version 1 writes "none" as a huge number
    return least >= no_limit ? 0 : static_cast<std::uint64_t>(least);
}

} // namespace stithy::runtime
