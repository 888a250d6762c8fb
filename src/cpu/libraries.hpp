#pragma once
#include "runtime/native.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stithy::cpu {

/// Libraries that are loaded when first needed, by path, and never linked.
enum class Library : std::uint8_t { openblas, onednn };
inline constexpr int library_count = 2;

/// Statuses that the library wrappers give (see runtime::NativeStatus): the record's first detail is the Library.
enum LibraryStatus : std::int32_t {
    status_library_missing = 16, ///< the library, or the function wanted of it, cannot be loaded
    status_bad_argument = 17,    ///< an extent that the library's 32-bit integers do not hold
};

/// What is known of a library after an attempt to load it.
struct LibraryInfo {
    std::string name;        ///< "OpenBLAS"
    std::string package;     ///< Debian's package that has it
    std::string path;        ///< file it was loaded from; empty when it is missing
    std::string version;     ///< as the library says; may be empty
    std::string why_missing; ///< empty when it is there
};
const LibraryInfo& library_info(Library library);

/// Address of one of its functions; null when the library or the function is missing. Thread-safe.
void* library_symbol(Library library, const char* name);

/// One readable line for a status of the wrappers: which library is missing and the package to install; empty for other statuses.
std::string describe_library_status(const runtime::NativeRecord& record);

/// Lines for `stithy doctor`: each library with its version and path, or why it is missing.
std::vector<std::string> describe_libraries();

} // namespace stithy::cpu
