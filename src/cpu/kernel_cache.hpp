#pragma once
#include "cpu/llvm_interface.hpp"
#include "runtime/native.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace stithy::cpu {

/// Machine code of a nest: from memory, else from the disk cache, else compiled (3 to 6 ms; the first compilation loads LLVM).
/// One thread compiles a nest while others that want it wait; different nests compile at the same time. The code lives until the process
/// ends. Counts in the statistics. InternalError when the compiler fails; Error when its module cannot be loaded.
runtime::NativeFunction native_code(const plan::Nest& nest);

/// The same for several nests; those that are in no cache are compiled on several threads.
std::vector<runtime::NativeFunction> native_code(std::span<const plan::Nest* const> nests);

/// What LLVM makes of a nest, as text: its own intermediate text and assembly. Uses no cache.
CompileResult compile_text(const plan::Nest& nest);

/// A relocatable object that exports the nest's function under a name; uses no cache.
std::string compile_object(const plan::Nest& nest, const std::string& name);

/// LLVM's version, "19.1.7"; loads the compiler's module. Error when that is not possible.
std::string compiler_version();

/// Where the compiler's module was found or is expected; for `stithy doctor`.
std::string compiler_path();

/// How many nests have code in memory.
std::size_t kernels_in_memory();

} // namespace stithy::cpu
