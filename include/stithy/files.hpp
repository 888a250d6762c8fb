#pragma once
#include "stithy/array.hpp"

#include <source_location>
#include <string>

namespace stithy {

/// Reads a NumPy .npy file.
[[nodiscard]] Array load(const std::string& path, std::source_location location = std::source_location::current());
/// Writes a NumPy .npy file; waits for the values.
void save(const std::string& path, const Array& x, std::source_location location = std::source_location::current());

} // namespace stithy
