#pragma once
#include <string>

/// The wall between the library and the module that holds LLVM (libstithy_llvm.so, loaded at the first compilation).
/// Nothing here includes LLVM; both sides are built together, so C++ types may cross.

namespace stithy::plan {
struct Nest;
}

namespace stithy::cpu {

/// Name of the function that a compiled object exports, with the ABI of runtime/native.hpp.
inline constexpr const char* entry_symbol = "stithy_entry";
/// Name of the module's one compile function and of its version function.
inline constexpr const char* llvm_compile_symbol = "stithy_llvm_compile";
inline constexpr const char* llvm_version_symbol = "stithy_llvm_version";

/// What to make code for.
struct TargetOptions {
    std::string cpu;                  ///< LLVM's name of the processor: "x86-64-v4"
    std::string features;             ///< LLVM's feature string, may be empty
    int vector_bytes = 64;            ///< 16, 32 or 64
    std::string entry = entry_symbol; ///< name of the exported function
    bool bounds_checks = false;       ///< emit checks of every access (sanitizer builds)
    bool want_object = true;          ///< false: only the texts asked for below
    bool want_ir = false;             ///< fill CompileResult::ir
    bool want_assembly = false;       ///< fill CompileResult::assembly
};

/// What came of it.
struct CompileResult {
    std::string object;   ///< a relocatable ELF object
    std::string ir;       ///< LLVM's text after optimisation, if wanted
    std::string assembly; ///< assembly text, if wanted
    std::string error;    ///< why it failed, when the return value is not 0
};

/// Type of `stithy_llvm_compile`: 0 when `result` is filled, else `result->error` says why. Thread-safe; throws nothing.
/// It wants a stack of 32 MB: the kernel cache calls it on such a thread.
using LlvmCompileFunction = int (*)(const plan::Nest* nest, const TargetOptions* options, CompileResult* result);
/// Type of `stithy_llvm_version`: "19.1.7".
using LlvmVersionFunction = const char* (*)();

} // namespace stithy::cpu
