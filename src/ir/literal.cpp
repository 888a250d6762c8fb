#include "ir/literal.hpp"

#include <algorithm>

namespace stithy::ir {

Literal Literal::splat_bits(Type type, std::uint64_t bits) {
    Literal l;
    l.type_ = std::move(type);
    l.bits_ = bits;
    return l;
}

Literal Literal::dense(Type type, std::vector<std::byte> bytes) {
    internal_check(static_cast<std::int64_t>(bytes.size()) == type.bytes(), "literal: wrong number of bytes");
    Literal l;
    l.type_ = std::move(type);
    const std::size_t size = l.type_.dtype().size();
    const bool same = bytes.size() <= size || std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), bytes.begin());
    if (same) {
        if (!bytes.empty()) std::memcpy(&l.bits_, bytes.data(), size);
    } else {
        l.bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    }
    return l;
}

std::uint64_t Literal::element_bits(std::int64_t i) const {
    if (!bytes_) return bits_;
    const std::size_t size = type_.dtype().size();
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes_->data() + static_cast<std::size_t>(i) * size, size);
    return bits;
}

namespace {
template <class To, class From>
To read(std::uint64_t bits) {
    From v;
    std::memcpy(&v, &bits, sizeof v);
    return static_cast<To>(v);
}
template <class To>
To read_as(DType dtype, std::uint64_t bits) {
    switch (dtype.code()) {
    case DType::boolean: return static_cast<To>(bits & 1);
    case DType::i8: return read<To, std::int8_t>(bits);
    case DType::i16: return read<To, std::int16_t>(bits);
    case DType::i32: return read<To, std::int32_t>(bits);
    case DType::i64: return read<To, std::int64_t>(bits);
    case DType::u8: return read<To, std::uint8_t>(bits);
    case DType::u16: return read<To, std::uint16_t>(bits);
    case DType::u32: return read<To, std::uint32_t>(bits);
    case DType::u64: return read<To, std::uint64_t>(bits);
    case DType::f32: return read<To, float>(bits);
    case DType::f64: return read<To, double>(bits);
    }
    return To();
}
} // namespace

double Literal::element_as_double(std::int64_t i) const { return read_as<double>(type_.dtype(), element_bits(i)); }
std::int64_t Literal::element_as_int(std::int64_t i) const { return read_as<std::int64_t>(type_.dtype(), element_bits(i)); }

std::span<const std::byte> Literal::bytes() const {
    if (!bytes_) return {};
    return *bytes_;
}

void Literal::copy_to(std::byte* out) const {
    if (bytes_) {
        std::copy(bytes_->begin(), bytes_->end(), out);
        return;
    }
    const std::size_t size = type_.dtype().size();
    const std::int64_t n = type_.elements();
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + static_cast<std::size_t>(i) * size, &bits_, size);
}

bool operator==(const Literal& a, const Literal& b) {
    if (!(a.type_ == b.type_) || a.is_splat() != b.is_splat()) return false;
    return a.is_splat() ? a.bits_ == b.bits_ : *a.bytes_ == *b.bytes_;
}

} // namespace stithy::ir
