#include "base/error.hpp"

namespace stithy {

std::string describe(const Location& location) {
    if (location.line() == 0) return "";
    std::string_view file = location.file_name();
    if (auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
    return std::string(file) + ":" + std::to_string(location.line());
}

void fail(std::string_view operation, std::string_view text, const Location& location) {
    std::string message = std::string(operation) + ": " + std::string(text);
    if (std::string where = describe(location); !where.empty()) message += " (" + where + ")";
    throw Error(message);
}

void internal_error(std::string_view text, const Location& here) {
    throw InternalError("internal error: " + std::string(text) + " (" + describe(here) + ")");
}

} // namespace stithy
