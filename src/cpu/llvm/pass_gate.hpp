#pragma once
#include "cpu/llvm/llvm_c.hpp"

namespace stithy::cpu {

/// Leaves out what LLVM's code generator does in vain for our code. A context's setting: other users of LLVM in the process are not
/// touched.
void skip_useless_passes(LLVMContextRef context);

} // namespace stithy::cpu
