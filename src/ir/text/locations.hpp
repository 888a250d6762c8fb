#pragma once
#include "base/error.hpp"

#include <cstdint>
#include <string_view>

namespace stithy::ir::text {

/// The location "file, line, column" of a text, for the operations read from it. Each distinct one is made once and kept for good. Unknown
/// where the standard library's std::source_location is built in a way that we do not know.
Location location_in(std::string_view file, std::uint32_t line, std::uint32_t column);

} // namespace stithy::ir::text
