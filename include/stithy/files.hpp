#pragma once
#include "stithy/array.hpp"

#include <source_location>
#include <string>

namespace stithy {

/// Reads a NumPy .npy file, in its dtype and shape. Error, with the path, for a file that cannot be read, is none, or holds another kind of
/// data.
[[nodiscard]] Array load(const std::string& path, std::source_location location = std::source_location::current());
/// Writes a NumPy .npy file; waits for the values. Error for a file that cannot be written, or a staged value.
void save(const std::string& path, const Array& x, std::source_location location = std::source_location::current());

} // namespace stithy
