#pragma once
#include <optional>
#include <string>
#include <vector>

namespace stithy::tool {

struct ShowOptions {
    std::string program;
    std::string stage;                             ///< empty: after all passes
    std::optional<std::vector<std::int64_t>> grad; ///< show the gradient by these arguments instead of the program
};

/// The names of `ShowOptions::stage`, for messages.
std::string stage_names();

/// Prints one stage of a program's way to machine code. Throws Error for an unknown stage.
int show_program(const ShowOptions& options);

} // namespace stithy::tool
