#pragma once
/// LLVM's C interface, as far as we use it, and the guard of its version.
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

static_assert(LLVM_VERSION_MAJOR == 19, "stithy's code generator is written for LLVM 19");
