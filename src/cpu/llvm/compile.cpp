#include "cpu/llvm/emitter.hpp"
#include "cpu/llvm/pass_gate.hpp"
#include "cpu/llvm/target.hpp"

#include <cstdlib>
#include <exception>
#include <memory>

namespace stithy::cpu {

namespace {

struct Dispose {
    void operator()(LLVMContextRef c) const { LLVMContextDispose(c); }
    void operator()(LLVMModuleRef m) const { LLVMDisposeModule(m); }
    void operator()(LLVMPassBuilderOptionsRef o) const { LLVMDisposePassBuilderOptions(o); }
    void operator()(LLVMMemoryBufferRef b) const { LLVMDisposeMemoryBuffer(b); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Dispose>;

std::string take(char* message) {
    const std::string text = message ? message : "";
    LLVMDisposeMessage(message);
    return text;
}

void optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char* passes) {
    const Owned<LLVMPassBuilderOptionsRef> options(LLVMCreatePassBuilderOptions());
    const LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options.get());
    if (!error) return;
    char* message = LLVMGetErrorMessage(error);
    const std::string text = message;
    LLVMDisposeErrorMessage(message);
    internal_error("LLVM's passes failed: " + text);
}

std::string generate(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMCodeGenFileType kind) {
    LLVMMemoryBufferRef buffer = nullptr;
    char* message = nullptr;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, kind, &message, &buffer) != 0)
        internal_error("LLVM could not generate code: " + take(message));
    const Owned<LLVMMemoryBufferRef> owned(buffer);
    return {LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)};
}

/// A check of our own output, for tests: it costs as much as a pass.
bool wants_verification() {
    static const bool wanted = std::getenv("STITHY_VERIFY") != nullptr;
    return wanted;
}

/// What our code leaves to be done: variables into registers, repeated values merged, invariant ones moved out of loops.
constexpr const char* kernel_passes =
    "function(sroa,early-cse,instcombine<max-iterations=1;no-verify-fixpoint>,sroa,simplifycfg,loop-mssa(licm),early-cse)";

/// LLVM's time grows faster than the code: 18,000 instructions in a row take 15 s by the quick way, 1.5 s by the least, and run as fast.
Effort effort_for(std::size_t instructions) {
    if (instructions > 8'000) return Effort::least;
    return instructions > 4'000 ? Effort::quick : Effort::normal;
}

void compile(const plan::Nest& nest, const TargetOptions& options, CompileResult& result) {
    const TargetMachine machine(options, effort_for(nest.code.size()));
    const Owned<LLVMContextRef> context(LLVMContextCreate());
    skip_useless_passes(context.get());
    const Owned<LLVMModuleRef> module(LLVMModuleCreateWithNameInContext("stithy", context.get()));
    LLVMSetTarget(module.get(), "x86_64-unknown-linux-gnu");
    const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine.get());
    LLVMSetModuleDataLayout(module.get(), layout);
    LLVMDisposeTargetData(layout);
    {
        Ir ir(context.get(), module.get(), options);
        Emitter(ir, nest, options).run();
    }
    if (wants_verification()) {
        char* message = nullptr;
        if (LLVMVerifyModule(module.get(), LLVMReturnStatusAction, &message) != 0)
            internal_error("the code made for a nest is not valid: " + take(message) + "\n" + nest.text());
        LLVMDisposeMessage(message);
    }
    optimise(module.get(), machine.get(), kernel_passes);
    if (options.want_ir) result.ir = take(LLVMPrintModuleToString(module.get()));
    if (options.want_assembly) {
        const Owned<LLVMModuleRef> copy(LLVMCloneModule(module.get())); // generating code changes a module
        result.assembly = generate(copy.get(), machine.get(), LLVMAssemblyFile);
    }
    if (options.want_object) result.object = generate(module.get(), machine.get(), LLVMObjectFile);
}

} // namespace

} // namespace stithy::cpu

extern "C" {

/// See cpu/llvm_interface.hpp.
int stithy_llvm_compile(const stithy::plan::Nest* nest, const stithy::cpu::TargetOptions* options, stithy::cpu::CompileResult* result) {
    try {
        stithy::cpu::compile(*nest, *options, *result);
        return 0;
    } catch (const std::exception& e) {
        result->error = e.what();
    } catch (...) {
        result->error = "unknown failure";
    }
    return 1;
}

const char* stithy_llvm_version() {
    static const std::string text = [] {
        unsigned major = 0, minor = 0, patch = 0;
        LLVMGetVersion(&major, &minor, &patch);
        return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    }();
    return text.c_str();
}
}
