#pragma once
#include "ir/text/text.hpp"

#include <string>

namespace stithy::tool {

/// The whole file. Throws Error naming it.
std::string read_file(const std::string& path);

/// The main function of a StableHLO file, types checked; results that are tuples are replaced by their elements, tokens among the results
/// dropped.
ir::FunctionPtr load_program(const std::string& path);

/// Throws ir::NotSupported when the function, or what it calls, holds a custom call that nothing serves.
void refuse_custom_calls(const ir::Function& function, const std::string& path);

} // namespace stithy::tool
