#include "array/numbers.hpp"

#include "ir/literal.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace stithy::detail {

namespace {
int kind_of(DType d) { return d.is_bool() ? 0 : d.is_integer() ? 1 : 2; }

template <class T>
T from(std::uint64_t bits) {
    return from_bits<T>(bits);
}

/// Calls f with the element as double, std::int64_t or std::uint64_t, whichever holds every value of the dtype.
template <class F>
auto with_element(DType dtype, std::uint64_t bits, F f) {
    switch (dtype.code()) {
    case DType::boolean: return f(static_cast<std::int64_t>((bits & 0xff) != 0));
    case DType::i8: return f(static_cast<std::int64_t>(from<std::int8_t>(bits)));
    case DType::i16: return f(static_cast<std::int64_t>(from<std::int16_t>(bits)));
    case DType::i32: return f(static_cast<std::int64_t>(from<std::int32_t>(bits)));
    case DType::i64: return f(from<std::int64_t>(bits));
    case DType::u8: return f(static_cast<std::int64_t>(from<std::uint8_t>(bits)));
    case DType::u16: return f(static_cast<std::int64_t>(from<std::uint16_t>(bits)));
    case DType::u32: return f(static_cast<std::int64_t>(from<std::uint32_t>(bits)));
    case DType::u64: return f(bits);
    case DType::f32: return f(static_cast<double>(from<float>(bits)));
    case DType::f64: break;
    }
    return f(from<double>(bits));
}

struct Limits {
    std::int64_t low;
    std::uint64_t high;
};
Limits limits_of(DType d) {
    if (d.is_bool()) return {0, 1};
    const int bits = d.bits();
    if (d.is_unsigned()) return {0, ~std::uint64_t{0} >> (64 - bits)};
    return {std::numeric_limits<std::int64_t>::min() >> (64 - bits), ~std::uint64_t{0} >> (65 - bits)};
}

bool fits(std::int64_t v, DType d) { return v >= limits_of(d).low && (v < 0 || static_cast<std::uint64_t>(v) <= limits_of(d).high); }
bool fits(std::uint64_t v, DType d) { return v <= limits_of(d).high; }
bool fits(double v, DType d) {
    if (!(v == std::floor(v))) return false;
    const Limits l = limits_of(d);
    return v >= static_cast<double>(l.low) && v < static_cast<double>(l.high) + 1.0;
}
} // namespace

DType common_dtype(std::span<const Operand* const> operands) {
    bool any_array = false;
    DType arrays, numbers;
    bool any_number = false;
    for (const Operand* o : operands) {
        if (o->is_number()) {
            numbers = any_number ? promote(numbers, o->number_dtype()) : o->number_dtype();
            any_number = true;
        } else {
            const DType d = o->array().dtype(o->location());
            arrays = any_array ? promote(arrays, d) : d;
            any_array = true;
        }
    }
    if (!any_array) return numbers;
    if (!any_number || kind_of(numbers) <= kind_of(arrays)) return arrays;
    return numbers.is_floating() ? f64 : i32;
}

std::uint64_t number_as(const Operand& number, DType dtype, const char* operation) {
    const DType own = number.number_dtype();
    if (own == dtype) return number.number_bits();
    if (dtype.is_integer() && !convert_exactly(own, number.number_bits(), dtype))
        fail(operation,
             "the number " + element_text(own, number.number_bits()) + " does not fit " + std::string(dtype.name()) +
                 "; convert the array with astype() first",
             number.location());
    return convert_bits(own, number.number_bits(), dtype);
}

std::uint64_t convert_bits(DType source, std::uint64_t bits, DType to) {
    return with_element(source, bits, [&](auto v) -> std::uint64_t {
        if constexpr (std::is_same_v<decltype(v), double>) {
            if (to.is_integer() && !fits(std::trunc(v), to))
                return std::isnan(v) ? 0 : v < 0 ? static_cast<std::uint64_t>(limits_of(to).low) : limits_of(to).high;
        }
        return ir::bits_of(to, v);
    });
}

std::optional<std::uint64_t> convert_exactly(DType source, std::uint64_t bits, DType to) {
    if (source == to) return bits;
    return with_element(source, bits, [&](auto v) -> std::optional<std::uint64_t> {
        using T = decltype(v);
        if (to.is_integer() || to.is_bool()) {
            if (!fits(v, to)) return std::nullopt;
            return ir::bits_of(to, v);
        }
        const double rounded = to == f32 ? static_cast<double>(static_cast<float>(v)) : static_cast<double>(v);
        if constexpr (std::is_same_v<T, double>) {
            if (rounded != v && !std::isnan(v)) return std::nullopt;
        } else {
            if (std::abs(rounded) >= 9.3e18 || static_cast<T>(rounded) != v) return std::nullopt;
        }
        return ir::bits_of(to, v);
    });
}

std::string element_text(DType dtype, std::uint64_t bits) {
    if (dtype.is_bool()) return (bits & 0xff) != 0 ? "true" : "false";
    char text[64];
    const auto write = [&](auto v) {
        const auto end = std::to_chars(text, text + sizeof text, v).ptr;
        return std::string(text, end);
    };
    if (dtype == f32) return write(from<float>(bits));
    return with_element(dtype, bits, write);
}

} // namespace stithy::detail
