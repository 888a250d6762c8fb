#include "doctor.hpp"

#include "base/error.hpp"
#include "cpu/executable.hpp"
#include "cpu/features.hpp"
#include "cpu/kernel_cache.hpp"
#include "cpu/libraries.hpp"
#include "ops/verify_types.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/threads.hpp"

#include <chrono>
#include <iostream>

namespace stithy::tool {

namespace {
void section(const char* title, const std::vector<std::string>& lines) {
    std::cout << title << '\n';
    for (const std::string& line : lines) std::cout << "  " << line << '\n';
}

/// LLVM's version and place; false when it cannot be loaded.
bool show_compiler() {
    try {
        section("Compiler", {"LLVM " + cpu::compiler_version(), cpu::compiler_path()});
        return true;
    } catch (const Error& e) {
        section("Compiler", {std::string("MISSING: ") + e.what()});
        return false;
    }
}

void show_cache() {
    const runtime::DiskCache::Info info = runtime::disk_info();
    if (info.folder.empty()) return section("Disk cache", {"off"});
    std::vector<std::string> lines{info.folder};
    if (!info.why_unused.empty())
        lines.push_back("NOT USED: " + info.why_unused);
    else
        lines.push_back(std::to_string(info.entries) + " kernels, " + std::to_string(info.bytes >> 10) + " KiB of at most " +
                        std::to_string(info.limit_bytes >> 20) + " MiB");
    section("Disk cache", lines);
}

/// Compiles and runs a small program; false when the numbers are wrong or it fails.
bool try_program() {
    const char* text = "func.func @main(%x: tensor<1000xf64>) -> tensor<f64> {\n %0 = stablehlo.multiply %x, %x : tensor<1000xf64>\n"
                       " %z = stablehlo.constant dense<0.0> : tensor<f64>\n"
                       " %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1000xf64>, "
                       "tensor<f64>) -> tensor<f64>\n"
                       " return %1 : tensor<f64>\n}\n";
    try {
        const auto start = std::chrono::steady_clock::now();
        const auto program = cpu::Executable::make(ops::parse(text, "doctor").main());
        Ref<runtime::Buffer> inputs[] = {runtime::Buffer::allocate(8000)}, outputs[1];
        std::fill_n(static_cast<double*>(inputs[0]->data()), 1000, 2.0);
        program->call(std::span<const Ref<runtime::Buffer>>(inputs), cpu::Reusable(std::uint64_t{0}), outputs);
        outputs[0]->wait();
        const double took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        const bool right = *static_cast<const double*>(outputs[0]->data()) == 4000.0;
        section("A small program", {right ? "compiled and ran in " + std::to_string(took).substr(0, 5) + " ms" : "WRONG RESULT"});
        return right;
    } catch (const std::exception& e) {
        section("A small program", {std::string("FAILED: ") + e.what()});
        return false;
    }
}
} // namespace

int doctor() {
    section("Processor", cpu::describe_features());
    section("Threads", {std::to_string(runtime::count_processors()) + " (the processors this process may use; STITHY_THREADS sets fewer)"});
    bool good = show_compiler();
    section("Libraries", cpu::describe_libraries());
    show_cache();
    good = try_program() && good;
    std::cout << (good ? "Everything needed is there.\n" : "Something is missing, see above.\n") << std::flush;
    return good ? 0 : 1;
}

} // namespace stithy::tool
