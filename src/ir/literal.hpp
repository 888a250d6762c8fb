#pragma once
#include "ir/type.hpp"

#include <cstring>
#include <span>

namespace stithy::ir {

/// A constant tensor: either a splat (one element, kept as bits) or dense row-major bytes.
class Literal {
public:
    Literal() = default;
    /// Every element has the bits of `value` (its first bytes, little-endian).
    static Literal splat_bits(Type type, std::uint64_t bits);
    /// `bytes` holds all elements, row-major; bool is one byte an element. A literal whose elements all have equal bits becomes a splat.
    static Literal dense(Type type, std::vector<std::byte> bytes);
    /// A splat of a number converted to the dtype (as C++ converts).
    template <class T>
    static Literal splat(Type type, T value);

    [[nodiscard]] const Type& type() const { return type_; }
    [[nodiscard]] bool is_splat() const { return bytes_ == nullptr; }
    /// The bits of a splat's element in the low bytes.
    [[nodiscard]] std::uint64_t bits() const { return bits_; }
    /// Bits of element `i` (row-major).
    [[nodiscard]] std::uint64_t element_bits(std::int64_t i) const;
    /// Element `i` as a double (exact for all but large 64-bit integers) or as an integer.
    [[nodiscard]] double element_as_double(std::int64_t i) const;
    [[nodiscard]] std::int64_t element_as_int(std::int64_t i) const;
    /// Bytes of a dense literal (empty for a splat).
    [[nodiscard]] std::span<const std::byte> bytes() const;
    /// All elements written to `out` (type().bytes() bytes).
    void copy_to(std::byte* out) const;
    /// Same type and same bits.
    friend bool operator==(const Literal& a, const Literal& b);

private:
    Type type_;
    std::uint64_t bits_ = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes_;
};

/// Bits of `value` converted to `dtype`.
template <class T>
std::uint64_t bits_of(DType dtype, T value) {
    auto put = [](auto v) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &v, sizeof v);
        return bits;
    };
    switch (dtype.code()) {
    case DType::boolean: return value != T(0) ? 1 : 0;
    case DType::i8: return put(static_cast<std::int8_t>(value));
    case DType::i16: return put(static_cast<std::int16_t>(value));
    case DType::i32: return put(static_cast<std::int32_t>(value));
    case DType::i64: return put(static_cast<std::int64_t>(value));
    case DType::u8: return put(static_cast<std::uint8_t>(value));
    case DType::u16: return put(static_cast<std::uint16_t>(value));
    case DType::u32: return put(static_cast<std::uint32_t>(value));
    case DType::u64: return put(static_cast<std::uint64_t>(value));
    case DType::f32: return put(static_cast<float>(value));
    case DType::f64: return put(static_cast<double>(value));
    }
    return 0;
}

template <class T>
Literal Literal::splat(Type type, T value) {
    const DType dtype = type.dtype();
    return splat_bits(std::move(type), bits_of(dtype, value));
}

} // namespace stithy::ir
