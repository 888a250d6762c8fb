#pragma once
#include "stithy/error.hpp"

#include <source_location>
#include <string>
#include <string_view>

namespace stithy {

/// Where the user's code asked for an operation; the default (line 0) means unknown.
using Location = std::source_location;

/// "file.cpp:12", or "" when the location is unknown. The file keeps only its last component.
std::string describe(const Location& location);

/// Throws Error("operation: text (file.cpp:12)").
[[noreturn]] void fail(std::string_view operation, std::string_view text, const Location& location = Location());

/// Throws InternalError with our own file and line.
[[noreturn]] void internal_error(std::string_view text, const Location& here = Location::current());

/// Checks something that only a bug of ours can break.
inline void internal_check(bool condition, std::string_view text, const Location& here = Location::current()) {
    if (!condition) internal_error(text, here);
}

} // namespace stithy
