#pragma once
#include "backend.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stithy::tool {

struct RunOptions {
    std::string program;
    std::vector<std::string> arguments;            ///< .npy files, in the order of @main's arguments
    std::string out;                               ///< folder for results; empty: they are printed
    std::optional<std::vector<std::int64_t>> grad; ///< arguments to differentiate by, instead of the results
};

/// Runs a program, or the gradient of the sum of its float results. Writes out0.npy, ... or g0.npy, ...
int run_program(const RunOptions& options, Backend& backend);

} // namespace stithy::tool
