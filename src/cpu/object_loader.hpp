#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stithy::cpu {

/// Gives the address of an imported name, or null when there is none.
using SymbolResolver = std::function<void*(std::string_view)>;

/// Code that was placed in memory, where it stays until the process ends.
class LoadedCode {
public:
    /// Address of a symbol that the object defines for others; null when there is none of that name.
    [[nodiscard]] void* symbol(std::string_view name) const;
    /// Bytes of memory it takes, whole pages.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    friend LoadedCode load_object(std::span<const std::byte> object, const SymbolResolver& resolve);
    std::vector<std::pair<std::string, void*>> symbols_;
    std::size_t bytes_ = 0;
};

/// Places a relocatable ELF object for x86-64 (position-independent code, as LLVM and gcc make it) in memory and links it.
/// Imports are reached through a table and stubs beside the code, so the code may lie anywhere. Code and constants are mapped
/// read-only and executable, never writable at once. A malformed object, an import that `resolve` does not know, or a relocation that
/// position-independent code does not have is an InternalError; Error when the memory for code (256 MiB) is used up.
/// Thread-safe; other threads may run code loaded before.
LoadedCode load_object(std::span<const std::byte> object, const SymbolResolver& resolve);

/// Bytes of code memory in use by the process, and how many objects it holds.
struct CodeMemory {
    std::size_t bytes = 0, limit = 0, objects = 0;
};
CodeMemory code_memory();

} // namespace stithy::cpu
