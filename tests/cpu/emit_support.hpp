#pragma once
#include "cpu/compiler_module.hpp"
#include "cpu/features.hpp"
#include "cpu/llvm_interface.hpp"
#include "cpu/object_loader.hpp"
#include "cpu/symbols.hpp"
#include "plan/nest.hpp"
#include "runtime/native.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Nests made into machine code for each level of vectors that this machine has.
namespace stithy::test {

inline std::vector<cpu::TargetOptions> levels() {
    std::vector<cpu::TargetOptions> all;
    const char* names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    for (int level = 0; level <= static_cast<int>(cpu::features().machine); ++level) {
        cpu::TargetOptions options;
        options.cpu = names[level];
        options.vector_bytes = 16 << level;
        all.push_back(options);
    }
    return all;
}

/// Functions that nests of the tests may call, beside the library's.
inline std::map<std::string, void*, std::less<>>& test_symbols() {
    static std::map<std::string, void*, std::less<>> symbols;
    return symbols;
}

class Kernel {
public:
    Kernel(const plan::Nest& nest, const cpu::TargetOptions& options) {
        plan::verify(nest);
        const cpu::CompileResult result = cpu::compile_nest(nest, options);
        const auto code = cpu::load_object(std::as_bytes(std::span(result.object)), [](std::string_view name) -> void* {
            const auto found = test_symbols().find(name);
            return found != test_symbols().end() ? found->second : cpu::find_symbol(name);
        });
        function_ = reinterpret_cast<runtime::NativeFunction>(code.symbol(options.entry));
    }

    /// Runs on [0, size) with these buffers and parameters.
    std::int32_t operator()(std::vector<void*> buffers, const std::vector<std::int64_t>& params, std::int64_t size = 1,
                            std::int64_t begin = 0) const {
        runtime::Runtime runtime = runtime::make_runtime();
        return function_(&runtime, buffers.data(), params.data(), begin, size);
    }

private:
    runtime::NativeFunction function_ = nullptr;
};

/// A scalar's bits as they stand in a parameter.
template <class T>
std::int64_t literal_bits(T value) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
}

} // namespace stithy::test
