#include "cpu/features.hpp"

#include "base/error.hpp"

#include <cpuid.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stithy::cpu {

namespace {

Isa machine_isa() {
    __builtin_cpu_init();
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    return avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::sse;
}

std::string brand_name() {
    unsigned words[12] = {};
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x80000000U, &a, &b, &c, &d) == 0 || a < 0x80000004U) return "x86-64";
    for (unsigned i = 0; i < 3; ++i) {
        unsigned* w = words + 4 * i;
        __get_cpuid(0x80000002U + i, w, w + 1, w + 2, w + 3);
    }
    char text[sizeof words + 1] = {};
    std::memcpy(text, words, sizeof words);
    std::string name = text;
    const std::size_t first = name.find_first_not_of(' ');
    if (first == std::string::npos) return "x86-64";
    name = name.substr(first);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    return name;
}

Features find_features() {
    Features f;
    f.machine = machine_isa();
    f.isa = f.machine;
    if (const char* wanted = std::getenv("STITHY_ISA"); wanted != nullptr && *wanted != '\0')
        f.isa = std::min(f.machine, parse_isa(wanted));
    f.vector_bytes = f.isa == Isa::avx512 ? 64 : f.isa == Isa::avx2 ? 32 : 16;
    f.brand = brand_name();
    f.llvm_cpu = f.isa == Isa::avx512 ? "x86-64-v4" : f.isa == Isa::avx2 ? "x86-64-v3" : "x86-64-v2";
    return f;
}

} // namespace

const Features& features() {
    static const Features found = find_features();
    return found;
}

Isa parse_isa(std::string_view name) {
    if (name == "sse") return Isa::sse;
    if (name == "avx2") return Isa::avx2;
    if (name == "avx512") return Isa::avx512;
    throw Error("STITHY_ISA is '" + std::string(name) + "', expected sse, avx2 or avx512");
}

std::string_view isa_name(Isa isa) { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "sse"; }

std::string target_key() {
    const Features& f = features();
    return f.llvm_cpu + " " + f.llvm_features + " " + std::to_string(f.vector_bytes);
}

std::vector<std::string> describe_features() {
    const Features& f = features();
    std::string level = "vectors: " + std::string(isa_name(f.isa)) + ", " + std::to_string(f.vector_bytes) + " bytes";
    if (f.isa != f.machine) level += " (STITHY_ISA; the machine has " + std::string(isa_name(f.machine)) + ")";
    return {"processor: " + f.brand, level};
}

} // namespace stithy::cpu
