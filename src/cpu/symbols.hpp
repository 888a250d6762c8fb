#pragma once
#include <span>
#include <string_view>

namespace stithy::cpu {

/// A function that compiled code may call, by the name it goes by in the code.
struct NativeSymbol {
    std::string_view name;
    void* address;
};

/// Address of a name that compiled code may import: the C library's scalar functions, memcpy and its like, the vector math
/// functions, the library wrappers of blas.hpp. Null for any other name: code reaches nothing that is not listed here.
void* find_symbol(std::string_view name);

/// The math functions of this library (defined beside them, in cpu/math/).
std::span<const NativeSymbol> math_symbols();
/// The library wrappers (defined in cpu/blas.cpp).
std::span<const NativeSymbol> blas_symbols();

} // namespace stithy::cpu
