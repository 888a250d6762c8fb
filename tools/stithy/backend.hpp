#pragma once
#include "ir/function.hpp"

#include <span>
#include <vector>

namespace stithy::tool {

/// What runs a function of tensors for the command.
class Backend {
public:
    Backend() = default;
    virtual ~Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    /// Results of the function. Arguments fit its parameters.
    virtual std::vector<ir::Literal> run(const ir::FunctionPtr& function, std::span<const ir::Literal> arguments) = 0;
};

/// The command line; returns the exit status.
int run_command(int count, const char* const* words, Backend& backend);

} // namespace stithy::tool
