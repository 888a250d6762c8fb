#include "reference/scalar.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace stithy::reference {

using ir::OpCode;

namespace {
[[noreturn]] void unexpected(OpCode code, DType dtype) {
    internal_error("reference: no " + std::string(ir::name(code)) + " of " + std::string(dtype.name()));
}

std::uint64_t mask(DType dtype) { return dtype.bits() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << dtype.bits()) - 1; }

double unary_float(OpCode code, double x) {
    switch (code) {
    case OpCode::abs: return std::fabs(x);
    case OpCode::cbrt: return std::cbrt(x);
    case OpCode::ceil: return std::ceil(x);
    case OpCode::cosine: return std::cos(x);
    case OpCode::exponential: return std::exp(x);
    case OpCode::exponential_minus_one: return std::expm1(x);
    case OpCode::floor: return std::floor(x);
    case OpCode::log: return std::log(x);
    case OpCode::log_plus_one: return std::log1p(x);
    case OpCode::logistic: return 1 / (1 + std::exp(-x));
    case OpCode::negate: return -x;
    case OpCode::round_nearest_afz: return std::round(x);
    case OpCode::round_nearest_even: return std::nearbyint(x);
    case OpCode::rsqrt: return 1 / std::sqrt(x);
    case OpCode::sign: return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x);
    case OpCode::sine: return std::sin(x);
    case OpCode::sqrt: return std::sqrt(x);
    case OpCode::tan: return std::tan(x);
    case OpCode::tanh: return std::tanh(x);
    default: unexpected(code, f64);
    }
}

std::int64_t unary_int(OpCode code, DType dtype, std::uint64_t bits) {
    const std::int64_t x = to_int(dtype, bits);
    const auto u = static_cast<std::uint64_t>(x);
    switch (code) {
    case OpCode::abs: return dtype.is_signed() && x < 0 ? static_cast<std::int64_t>(0 - u) : x;
    case OpCode::negate: return static_cast<std::int64_t>(0 - u);
    case OpCode::not_: return ~x;
    case OpCode::sign: return dtype.is_signed() && x < 0 ? -1 : x != 0;
    case OpCode::popcnt: return std::popcount(bits);
    case OpCode::count_leading_zeros: return std::countl_zero(bits) - (64 - dtype.bits());
    default: unexpected(code, dtype);
    }
}

double extreme(bool want_larger, double x, double y) {
    if (std::isnan(x)) return x;
    if (std::isnan(y)) return y;
    if (x == y) return std::signbit(x) == want_larger ? y : x; // -0 < +0
    return (x > y) == want_larger ? x : y;
}

double binary_float(OpCode code, double x, double y) {
    switch (code) {
    case OpCode::add: return x + y;
    case OpCode::subtract: return x - y;
    case OpCode::multiply: return x * y;
    case OpCode::divide: return x / y;
    case OpCode::remainder: return std::fmod(x, y);
    case OpCode::power: return std::pow(x, y);
    case OpCode::atan2: return std::atan2(x, y);
    case OpCode::maximum: return extreme(true, x, y);
    case OpCode::minimum: return extreme(false, x, y);
    default: unexpected(code, f64);
    }
}

std::uint64_t int_power(DType dtype, std::uint64_t x, std::uint64_t y) {
    std::uint64_t base = static_cast<std::uint64_t>(to_int(dtype, x)), exponent = static_cast<std::uint64_t>(to_int(dtype, y));
    if (dtype.is_signed() && to_int(dtype, y) < 0) {
        const std::int64_t b = to_int(dtype, x);
        if (b == -1) return exponent & 1 ? ~std::uint64_t{0} : 1;
        return b == 1 ? 1 : 0;
    }
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

std::uint64_t int_divide(OpCode code, DType dtype, std::uint64_t x, std::uint64_t y) {
    const bool quotient = code == OpCode::divide;
    const std::int64_t a = to_int(dtype, x), b = to_int(dtype, y);
    if (b == 0) return quotient ? ~std::uint64_t{0} : x;
    if (!dtype.is_signed()) return quotient ? x / y : x % y;
    if (b == -1) return quotient ? 0 - static_cast<std::uint64_t>(a) : 0;
    return static_cast<std::uint64_t>(quotient ? a / b : a % b);
}

std::uint64_t shift(OpCode code, DType dtype, std::uint64_t x, std::uint64_t y) {
    const auto width = static_cast<std::uint64_t>(dtype.bits());
    const std::int64_t a = to_int(dtype, x);
    if (code == OpCode::shift_right_arithmetic) { // fills with the highest bit, also of unsigned types
        const int up = 64 - dtype.bits();
        const auto s = static_cast<std::int64_t>(x << up) >> up;
        return static_cast<std::uint64_t>(s >> (y >= width ? 63 : y));
    }
    if (y >= width) return 0;
    return code == OpCode::shift_left ? static_cast<std::uint64_t>(a) << y : x >> y;
}

std::uint64_t binary_int(OpCode code, DType dtype, std::uint64_t x, std::uint64_t y) {
    const bool less = dtype.is_signed() ? to_int(dtype, x) < to_int(dtype, y) : x < y;
    switch (code) {
    case OpCode::add: return dtype.is_bool() ? x | y : x + y;
    case OpCode::subtract: return x - y;
    case OpCode::multiply: return dtype.is_bool() ? x & y : x * y;
    case OpCode::divide:
    case OpCode::remainder: return int_divide(code, dtype, x, y);
    case OpCode::power: return int_power(dtype, x, y);
    case OpCode::maximum: return less ? y : x;
    case OpCode::minimum: return less ? x : y;
    case OpCode::and_: return x & y;
    case OpCode::or_: return x | y;
    case OpCode::xor_: return x ^ y;
    case OpCode::shift_left:
    case OpCode::shift_right_arithmetic:
    case OpCode::shift_right_logical: return shift(code, dtype, x, y);
    default: unexpected(code, dtype);
    }
}

template <class T>
bool holds(ir::Direction direction, T x, T y) {
    switch (direction) {
    case ir::Direction::eq: return x == y;
    case ir::Direction::ne: return x != y;
    case ir::Direction::ge: return x >= y;
    case ir::Direction::gt: return x > y;
    case ir::Direction::le: return x <= y;
    case ir::Direction::lt: return x < y;
    }
    return false;
}

/// An integer that orders floats as totalOrder does.
std::int64_t order_key(DType dtype, std::uint64_t bits) {
    const auto s = static_cast<std::int64_t>(bits << (64 - dtype.bits()));
    return s < 0 ? s ^ std::numeric_limits<std::int64_t>::max() : s;
}
} // namespace

double to_double(DType dtype, std::uint64_t bits) {
    if (dtype == f64) return std::bit_cast<double>(bits);
    if (dtype == f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return dtype.is_signed() ? static_cast<double>(to_int(dtype, bits)) : static_cast<double>(bits);
}

std::int64_t to_int(DType dtype, std::uint64_t bits) {
    if (!dtype.is_signed()) return static_cast<std::int64_t>(bits);
    const int up = 64 - dtype.bits();
    return static_cast<std::int64_t>(bits << up) >> up;
}

std::uint64_t from_double(DType dtype, double value) {
    if (dtype == f64) return std::bit_cast<std::uint64_t>(value);
    internal_check(dtype == f32, "reference: from_double of an integer type");
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint64_t from_int(DType dtype, std::int64_t value) { return static_cast<std::uint64_t>(value) & mask(dtype); }

std::uint64_t convert(DType from, DType to, std::uint64_t bits) {
    if (from == to) return bits;
    if (to.is_bool()) return from.is_floating() ? to_double(from, bits) != 0 : bits != 0;
    if (from.is_floating() && to.is_floating()) return from_double(to, to_double(from, bits));
    if (from.is_floating()) { // saturates; NaN gives 0
        const double x = std::trunc(to_double(from, bits));
        if (std::isnan(x)) return 0;
        const int width = to.is_signed() ? to.bits() - 1 : to.bits();
        if (x >= std::ldexp(1.0, width)) return mask(to) >> (to.is_signed() ? 1 : 0);
        if (x < (to.is_signed() ? -std::ldexp(1.0, width) : 0.0)) return to.is_signed() ? std::uint64_t{1} << width : 0;
        return to == u64 ? static_cast<std::uint64_t>(x) : from_int(to, static_cast<std::int64_t>(x));
    }
    const std::int64_t x = to_int(from, bits);
    if (!to.is_floating()) return from_int(to, x);
    if (to == f64) return from_double(f64, to_double(from, bits));
    // Straight to float: one rounding.
    return std::bit_cast<std::uint32_t>(from.is_signed() ? static_cast<float>(x) : static_cast<float>(bits));
}

std::uint64_t unary(OpCode code, DType dtype, std::uint64_t x) {
    if (code == OpCode::is_finite) return std::isfinite(to_double(dtype, x)) ? 1 : 0;
    if (dtype.is_floating()) return from_double(dtype, unary_float(code, to_double(dtype, x)));
    return from_int(dtype, unary_int(code, dtype, x));
}

std::uint64_t binary(OpCode code, DType dtype, std::uint64_t x, std::uint64_t y) {
    if (dtype.is_floating()) return from_double(dtype, binary_float(code, to_double(dtype, x), to_double(dtype, y)));
    return binary_int(code, dtype, x, y) & mask(dtype);
}

bool compare(const ir::CompareAttr& attr, DType dtype, std::uint64_t x, std::uint64_t y) {
    if (dtype.is_floating()) {
        if (attr.kind == ir::CompareKind::total_order) return holds(attr.direction, order_key(dtype, x), order_key(dtype, y));
        return holds(attr.direction, to_double(dtype, x), to_double(dtype, y));
    }
    return dtype.is_signed() ? holds(attr.direction, to_int(dtype, x), to_int(dtype, y)) : holds(attr.direction, x, y);
}

} // namespace stithy::reference
