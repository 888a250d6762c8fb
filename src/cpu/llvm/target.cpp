#include "cpu/llvm/target.hpp"

#include "base/error.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace stithy::cpu {

namespace {

constexpr const char* triple = "x86_64-unknown-linux-gnu";

/// Idle machines by what they make code for; at most as many as compiled at once. Never destroyed: a compilation may run at exit.
struct Pool {
    std::mutex mutex;
    std::map<std::string, std::vector<LLVMTargetMachineRef>> idle;
    LLVMTargetRef target = nullptr;
};

Pool& pool() {
    static Pool& the_pool = *new Pool;
    return the_pool;
}

LLVMTargetRef initialised(Pool& p) {
    if (p.target) return p.target;
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    char* message = nullptr;
    if (LLVMGetTargetFromTriple(triple, &p.target, &message) != 0) {
        const std::string text = message ? message : "";
        LLVMDisposeMessage(message);
        internal_error("LLVM has no target for this machine: " + text);
    }
    return p.target;
}

} // namespace

TargetMachine::TargetMachine(const TargetOptions& options, Effort effort)
    : key_(options.cpu + '|' + options.features + '|' + "lqn"[static_cast<int>(effort)]) {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    auto& idle = p.idle[key_];
    if (!idle.empty()) {
        machine_ = idle.back();
        idle.pop_back();
        return;
    }
    const LLVMCodeGenOptLevel level = effort == Effort::least   ? LLVMCodeGenLevelNone
                                      : effort == Effort::quick ? LLVMCodeGenLevelLess
                                                                : LLVMCodeGenLevelDefault;
    machine_ = LLVMCreateTargetMachine(initialised(p), triple, options.cpu.c_str(), options.features.c_str(), level, LLVMRelocPIC,
                                       LLVMCodeModelSmall);
    internal_check(machine_ != nullptr, "LLVM could not make a target machine");
}

TargetMachine::~TargetMachine() {
    if (!machine_) return;
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    p.idle[key_].push_back(machine_);
}

} // namespace stithy::cpu
