#pragma once
#include "cpu/object_loader.hpp"

namespace stithy::cpu {

/// A block of pages of the address range that is set apart for code: `executable` bytes that become read-only and executable by
/// `seal`, then `writable` bytes of data. Pages are zero and writable at first.
struct CodeBlock {
    std::byte* base = nullptr;
    std::size_t executable = 0, writable = 0; ///< whole pages

    /// Ends the writing of code: from now on the executable part can be run and not be written.
    void seal() const;
};

/// Takes pages. Error when none are left, or when the system gives none.
CodeBlock allocate_code(std::size_t executable, std::size_t writable);

} // namespace stithy::cpu
