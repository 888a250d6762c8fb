#include "cpu/symbols.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>

namespace stithy::cpu {

namespace {

template <class F>
void* address(F* function) {
    return reinterpret_cast<void*>(function);
}

using F64 = double(double);
using F64x2 = double(double, double);
using F32 = float(float);
using F32x2 = float(float, float);

/// A function of one value in both precisions: "exp" and "expf".
#define STITHY_UNARY(name)                                                                                                                 \
    NativeSymbol{#name, address<F64>(&::name)}, NativeSymbol { #name "f", address<F32>(&::name##f) }
#define STITHY_BINARY(name)                                                                                                                \
    NativeSymbol{#name, address<F64x2>(&::name)}, NativeSymbol { #name "f", address<F32x2>(&::name##f) }

std::unordered_map<std::string_view, void*> make_table() {
    const NativeSymbol standard[] = {
        {"memcpy", address<void*(void*, const void*, std::size_t)>(&std::memcpy)},
        {"memmove", address<void*(void*, const void*, std::size_t)>(&std::memmove)},
        {"memset", address<void*(void*, int, std::size_t)>(&std::memset)},
        {"memcmp", address<int(const void*, const void*, std::size_t)>(&std::memcmp)},
        {"bcmp", address<int(const void*, const void*, std::size_t)>(&std::memcmp)},
        STITHY_UNARY(exp),
        STITHY_UNARY(exp2),
        STITHY_UNARY(expm1),
        STITHY_UNARY(log),
        STITHY_UNARY(log2),
        STITHY_UNARY(log10),
        STITHY_UNARY(log1p),
        STITHY_UNARY(sin),
        STITHY_UNARY(cos),
        STITHY_UNARY(tan),
        STITHY_UNARY(sinh),
        STITHY_UNARY(cosh),
        STITHY_UNARY(tanh),
        STITHY_UNARY(asin),
        STITHY_UNARY(acos),
        STITHY_UNARY(atan),
        STITHY_UNARY(erf),
        STITHY_UNARY(erfc),
        STITHY_UNARY(cbrt),
        STITHY_UNARY(sqrt),
        STITHY_UNARY(floor),
        STITHY_UNARY(ceil),
        STITHY_UNARY(trunc),
        STITHY_UNARY(round),
        STITHY_UNARY(roundeven),
        STITHY_UNARY(rint),
        STITHY_UNARY(nearbyint),
        STITHY_UNARY(fabs),
        STITHY_BINARY(atan2),
        STITHY_BINARY(pow),
        STITHY_BINARY(fmod),
        STITHY_BINARY(hypot),
        STITHY_BINARY(fmin),
        STITHY_BINARY(fmax),
        {"fma", address<double(double, double, double)>(&::fma)},
        {"fmaf", address<float(float, float, float)>(&::fmaf)},
    };
    std::unordered_map<std::string_view, void*> table;
    for (const NativeSymbol& s : standard) table.emplace(s.name, s.address);
    for (const NativeSymbol& s : math_symbols()) table.emplace(s.name, s.address);
    for (const NativeSymbol& s : blas_symbols()) table.emplace(s.name, s.address);
    return table;
}

#undef STITHY_UNARY
#undef STITHY_BINARY

} // namespace

void* find_symbol(std::string_view name) {
    static const auto* const table = new std::unordered_map<std::string_view, void*>(make_table());
    const auto found = table->find(name);
    return found == table->end() ? nullptr : found->second;
}

} // namespace stithy::cpu
