#include "cpu/compiler_module.hpp"

#include "base/error.hpp"
#include "cpu/features.hpp"
#include "runtime/float_mode.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace stithy::cpu {

namespace {

constexpr std::size_t compile_stack_bytes = std::size_t{32} << 20; // LLVM recurses over what it compiles

/// File that holds this code: libstithy.so, or a program that has the library's objects in itself.
std::string own_path() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || info.dli_fname == nullptr) return {};
    // A program's own name may be relative, or come from the search path.
    char* full = realpath(info.dli_fname, nullptr);
    if (full == nullptr) full = realpath("/proc/self/exe", nullptr);
    std::string path = full == nullptr ? std::string(info.dli_fname) : std::string(full);
    std::free(full);
    return path;
}

std::vector<std::string> module_candidates() {
    std::vector<std::string> list;
    if (const char* given = std::getenv("STITHY_LLVM_MODULE"); given != nullptr && *given != '\0') list.emplace_back(given);
    const std::string own = own_path();
    const std::string folder = own.substr(0, own.find_last_of('/') + 1);
    list.push_back(folder + "stithy/libstithy_llvm.so");
    list.push_back(folder + "../lib/stithy/libstithy_llvm.so");
    list.push_back(folder + "libstithy_llvm.so");
#if defined(STITHY_LLVM_BUILD_PATH)
    list.emplace_back(STITHY_LLVM_BUILD_PATH);
#endif
    return list;
}

bool readable(const std::string& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

CompilerModule load_module() {
    const std::string& path = compiler_module_path();
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* why = dlerror();
        std::string text = std::string("the compiler's module cannot be loaded: ") + (why == nullptr ? "?" : why) + "; looked for";
        for (const std::string& candidate : module_candidates()) text += " " + candidate;
        throw Error(text + " (it needs LLVM 19, Debian's package libllvm19)");
    }
    CompilerModule module;
    module.compile = reinterpret_cast<LlvmCompileFunction>(dlsym(handle, llvm_compile_symbol));
    module.version = reinterpret_cast<LlvmVersionFunction>(dlsym(handle, llvm_version_symbol));
    if (module.compile == nullptr || module.version == nullptr)
        throw Error("the compiler's module " + path + " is of another build: it lacks its functions");
    return module;
}

struct CompileCall {
    const CompilerModule* module;
    const plan::Nest* nest;
    const TargetOptions* options;
    CompileResult* result;
    int status = -1;
};

void* run_compile(void* argument) {
    auto& call = *static_cast<CompileCall*>(argument);
    const runtime::DefaultFloatMode mode;
    call.status = call.module->compile(call.nest, call.options, call.result);
    return nullptr;
}

/// The linker's identity of the object that holds this code, as hexadecimal digits; empty when it has none.
std::string own_build_id() {
    std::string id;
    struct Search {
        std::uintptr_t address;
        std::string* id;
    } search{reinterpret_cast<std::uintptr_t>(&own_build_id), &id};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* context) {
            auto& s = *static_cast<Search*>(context);
            bool here = false;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& p = info->dlpi_phdr[i];
                here |=
                    p.p_type == PT_LOAD && s.address >= info->dlpi_addr + p.p_vaddr && s.address < info->dlpi_addr + p.p_vaddr + p.p_memsz;
            }
            if (!here) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& p = info->dlpi_phdr[i];
                if (p.p_type != PT_NOTE) continue;
                const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + p.p_vaddr);
                const auto* end = at + p.p_memsz;
                while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
                    ElfW(Nhdr) note;
                    std::memcpy(&note, at, sizeof note);
                    const auto* name = at + sizeof note;
                    const auto* bytes = name + ((note.n_namesz + 3U) & ~3U);
                    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
                        for (unsigned k = 0; k < note.n_descsz; ++k) {
                            char digits[3];
                            std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[k]));
                            *s.id += digits;
                        }
                    at = bytes + ((note.n_descsz + 3U) & ~3U);
                }
            }
            return 1;
        },
        &search);
    return id;
}

/// Size and time of a file: where it was replaced, so are these.
std::string file_stamp(const std::string& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return "none";
    return std::to_string(status.st_size) + "." + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

} // namespace

const CompilerModule& compiler_module() {
    static const CompilerModule module = load_module();
    return module;
}

const std::string& compiler_module_path() {
    static const std::string path = [] {
        const std::vector<std::string> list = module_candidates();
        for (const std::string& candidate : list)
            if (readable(candidate)) return candidate;
        return list.front();
    }();
    return path;
}

CompileResult compile_nest(const plan::Nest& nest, const TargetOptions& options) {
    CompileResult result;
    CompileCall call{&compiler_module(), &nest, &options, &result};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, compile_stack_bytes);
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, run_compile, &call);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw Error(std::string("no thread to compile on: ") + std::strerror(error));
    pthread_join(thread, nullptr);
    if (call.status != 0) internal_error("compilation failed: " + result.error);
    return result;
}

TargetOptions target_options() {
    TargetOptions options;
    options.cpu = features().llvm_cpu;
    options.features = features().llvm_features;
    options.vector_bytes = features().vector_bytes;
#if defined(__SANITIZE_ADDRESS__)
    options.bounds_checks = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    options.bounds_checks = true;
#endif
#endif
    return options;
}

const std::string& build_identity() {
    static const std::string identity = [] {
        std::string id = own_build_id();
        if (id.empty()) id = file_stamp(own_path());
        return id + " " + file_stamp(compiler_module_path());
    }();
    return identity;
}

} // namespace stithy::cpu
