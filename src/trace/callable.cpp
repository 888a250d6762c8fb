#include "stithy/detail/callable.hpp"

#include <cstring>

namespace stithy::detail {

bool is_standard_header(const std::source_location& location) noexcept {
    // Compilers know their library by paths like /usr/include/c++/12/functional and /usr/lib/llvm-19/include/c++/v1/functional.
    const char* file = location.file_name();
    return std::strncmp(file, "/usr/", 5) == 0 && std::strstr(file, "/include/c++/") != nullptr;
}

} // namespace stithy::detail
