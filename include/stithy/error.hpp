#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

namespace stithy {

/// What a user did wrong or what went wrong at run time: the text names the operation, what was given, what was expected and the user's
/// `file:line`.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& text) : std::runtime_error(text) {}
};

/// A bug of the library itself.
class InternalError : public std::logic_error {
public:
    explicit InternalError(const std::string& text) : std::logic_error(text) {}
};

} // namespace stithy
