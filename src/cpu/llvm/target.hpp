#pragma once
#include "cpu/llvm/llvm_c.hpp"
#include "cpu/llvm_interface.hpp"

#include <string>

namespace stithy::cpu {

/// How hard LLVM's code generator works. `least` is near linear in the code's length: long straight code takes the register allocator
/// minutes.
enum class Effort { least, quick, normal };

/// A target machine that is taken from a pool and goes back there: making one costs about as much as a small kernel.
class TargetMachine {
public:
    /// Throws InternalError when LLVM does not know the processor.
    TargetMachine(const TargetOptions& options, Effort effort);
    ~TargetMachine();
    TargetMachine(const TargetMachine&) = delete;
    TargetMachine& operator=(const TargetMachine&) = delete;
    [[nodiscard]] LLVMTargetMachineRef get() const { return machine_; }

private:
    std::string key_;
    LLVMTargetMachineRef machine_ = nullptr;
};

} // namespace stithy::cpu
