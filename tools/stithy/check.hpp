#pragma once
#include "backend.hpp"

#include <string>
#include <vector>

namespace stithy::tool {

struct CheckOptions {
    std::vector<std::string> paths; ///< files, and folders that are searched for *.mlir
    bool list_unsupported = false;  ///< name each program that is not supported
};

/// Runs programs that check themselves; prints a line per failure and the counts. 0 when nothing failed and something passed, else 1.
int check_programs(const CheckOptions& options, Backend& backend);

} // namespace stithy::tool
