#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stithy::cpu {

/// The instruction set that kernels are made for, each level includes those before it.
enum class Isa {
    sse,    ///< x86-64-v2: 128-bit vectors
    avx2,   ///< x86-64-v3: 256-bit vectors with fused multiply-add
    avx512, ///< x86-64-v4: 512-bit vectors with masks
};

/// What the machine can do and what is in use.
struct Features {
    Isa isa = Isa::sse;        ///< in use: the machine's level, or a lower one asked for by STITHY_ISA=sse|avx2|avx512
    Isa machine = Isa::sse;    ///< the best level the processor and the operating system offer
    int vector_bytes = 16;     ///< 16, 32 or 64
    std::string brand;         ///< the processor's name
    std::string llvm_cpu;      ///< LLVM's name of the level: "x86-64-v2", "x86-64-v3", "x86-64-v4"
    std::string llvm_features; ///< LLVM's feature string beyond the level, may be empty
};

/// The features of this process, found at the first call. An unknown value of STITHY_ISA is an Error.
const Features& features();

/// The level for a name ("sse", "avx2", "avx512"); throws Error for another name.
Isa parse_isa(std::string_view name);
std::string_view isa_name(Isa isa);

/// One short text that tells two code generators' targets apart; part of the disk cache's keys.
std::string target_key();

/// Lines for `stithy doctor`: processor, level, vector width.
std::vector<std::string> describe_features();

} // namespace stithy::cpu
