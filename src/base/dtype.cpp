#include "stithy/dtype.hpp"

namespace stithy {

std::string_view DType::name() const {
    static constexpr std::string_view names[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
    return names[code_];
}

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a.is_bool()) return b;
    if (b.is_bool()) return a;
    if (a.is_floating() || b.is_floating()) {
        if (a.is_floating() && b.is_floating()) return f64; // f32 with f64
        return a.is_floating() ? a : b;
    }
    if (a.is_signed() == b.is_signed()) return a.size() > b.size() ? a : b;
    const DType s = a.is_signed() ? a : b, u = a.is_signed() ? b : a;
    if (s.size() > u.size()) return s;
    if (u.size() == 1) return i16;
    if (u.size() == 2) return i32;
    if (u.size() == 4) return i64;
    return f64; // no integer holds both i64 and u64
}

} // namespace stithy
