#pragma once
#include "cpu/llvm_interface.hpp"

#include <string>

namespace stithy::cpu {

/// The functions of libstithy_llvm.so, loaded at the first call; Error, with the paths tried, when it cannot be loaded.
struct CompilerModule {
    LlvmCompileFunction compile = nullptr;
    LlvmVersionFunction version = nullptr;
};
const CompilerModule& compiler_module();

/// Path of the module, found without loading it; the first place looked at when there is none.
const std::string& compiler_module_path();

/// Compiles on a thread with a large stack, with this thread waiting. InternalError with the compiler's text when it fails.
CompileResult compile_nest(const plan::Nest& nest, const TargetOptions& options);

/// Options for the machine at hand.
TargetOptions target_options();

/// Tells this build of the library and of the compiler's module from any other; part of the keys of cached code.
const std::string& build_identity();

} // namespace stithy::cpu
