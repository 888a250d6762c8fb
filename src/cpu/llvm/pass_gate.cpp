#include "cpu/llvm/pass_gate.hpp"

// Only here: the C interface does not have it.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/OptBisect.h>

#include <algorithm>
#include <string_view>

namespace stithy::cpu {

namespace {

/// Loop strength reduction alone takes a fifth of the time and leaves the inner loops as they were: our addresses are a base and the
/// counter. The others look for what we never emit, or gain nothing on processors that reorder.
constexpr std::string_view useless[] = {
    "Loop Strength Reduction",
    "Canonicalize Freeze Instructions in Loops",
    "Expand memcmp() to load/stores",
    "Merge contiguous icmps into a memcmp",
    "Constant Hoisting",
    "Partially inline calls to library functions",
    "X86 Partial Reduction",
    "X86 Domain Reassignment Pass",
    "X86 Avoid Store Forwarding Blocks",
    "X86 cmov Conversion",
    "X86 Atom pad short functions",
    "X86 LEA Fixup",
    "Early If-Conversion",
    "TLS Variable Hoist",
    "Local Dynamic TLS Access Clean-up",
    "Post RA top-down list latency scheduler",
    "Fixup Statepoint Caller Saved",
};

class Gate final : public llvm::OptPassGate {
public:
    bool isEnabled() const override { return true; }
    bool shouldRunPass(const llvm::StringRef name, llvm::StringRef /*what*/) override {
        return std::find(std::begin(useless), std::end(useless), std::string_view(name.data(), name.size())) == std::end(useless);
    }
};

} // namespace

void skip_useless_passes(LLVMContextRef context) {
    static Gate& gate = *new Gate; // has no state; contexts may outlive static destructors
    llvm::unwrap(context)->setOptPassGate(gate);
}

} // namespace stithy::cpu
