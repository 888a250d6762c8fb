#include "comparison.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace stithy::tool {

namespace {
/// Text after `name = ` in a configuration like {tolerance = 0.1 : f64}; null when it is not there.
const char* setting(const std::string& config, std::string_view name) {
    const std::size_t at = config.find(name);
    if (at == std::string::npos) return nullptr;
    const std::size_t equals = config.find('=', at);
    return equals == std::string::npos ? nullptr : config.c_str() + equals + 1;
}

/// Distance in units of the last place; 0 between the zeros and between NaNs, the largest number between unlike infinities or NaN and
/// number.
std::uint64_t ulp_distance(DType dtype, std::uint64_t a, std::uint64_t b, double x, double y) {
    constexpr std::uint64_t far = std::numeric_limits<std::uint64_t>::max();
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : far;
    if (std::isinf(x) || std::isinf(y)) return x == y ? 0 : far;
    const std::uint64_t sign = std::uint64_t{1} << (dtype.bits() - 1);
    const std::uint64_t size_a = a & ~sign, size_b = b & ~sign;
    if ((a & sign) != (b & sign)) return size_a + size_b;
    return size_a > size_b ? size_a - size_b : size_b - size_a;
}

bool agree(const Check& check, const ir::Literal& actual, const ir::Literal& expected, std::int64_t i, std::uint64_t& ulp) {
    const DType dtype = actual.type().dtype();
    const std::uint64_t a = actual.element_bits(i), b = expected.element_bits(i);
    if (!dtype.is_floating()) {
        if (check.kind != Check::almost) return a == b;
        return a == b || std::fabs(actual.element_as_double(i) - expected.element_as_double(i)) <= check.tolerance;
    }
    const double x = actual.element_as_double(i), y = expected.element_as_double(i);
    ulp = ulp_distance(dtype, a, b, x, y);
    switch (check.kind) {
    case Check::equal: return x == y;
    case Check::close: return ulp >= check.least_ulp && ulp <= check.most_ulp;
    case Check::almost:
        if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
        if (std::isinf(x) || std::isinf(y)) return x == y;
        return std::fabs(x - y) <= check.tolerance;
    }
    return false;
}

std::string element_text(const ir::Literal& l, std::int64_t i) {
    const DType dtype = l.type().dtype();
    if (dtype.is_bool()) return l.element_bits(i) != 0 ? "true" : "false";
    if (dtype.is_unsigned()) return std::to_string(l.element_bits(i));
    if (dtype.is_signed()) return std::to_string(l.element_as_int(i));
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, dtype == f64 ? "%.17g" : "%.9g", l.element_as_double(i));
    return buffer;
}

std::string index_text(std::int64_t i, const Shape& shape) {
    Dims index(shape.rank(), 0);
    for (std::size_t axis = shape.rank(); axis-- > 0; i /= shape[axis]) index[axis] = i % shape[axis];
    return Shape(index).str();
}
} // namespace

std::optional<Check> check_of(const ir::CustomCallAttr& call) {
    Check check;
    if (call.target == "check.expect_eq")
        check.kind = Check::equal;
    else if (call.target == "check.expect_close")
        check.kind = Check::close;
    else if (call.target == "check.expect_almost_eq")
        check.kind = Check::almost;
    else
        return std::nullopt;
    if (const char* text = setting(call.backend_config, "tolerance")) check.tolerance = std::strtod(text, nullptr);
    if (const char* text = setting(call.backend_config, "max_ulp_difference")) check.most_ulp = std::strtoull(text, nullptr, 10);
    if (const char* text = setting(call.backend_config, "min_ulp_difference")) check.least_ulp = std::strtoull(text, nullptr, 10);
    return check;
}

std::optional<std::string> difference(const Check& check, const ir::Literal& actual, const ir::Literal& expected) {
    if (!(actual.type() == expected.type())) return "the value is " + actual.type().str() + ", expected " + expected.type().str();
    const std::int64_t n = actual.type().elements();
    std::int64_t first = -1, count = 0;
    std::uint64_t first_ulp = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint64_t ulp = 0;
        if (agree(check, actual, expected, i, ulp)) continue;
        if (first < 0) {
            first = i;
            first_ulp = ulp;
        }
        ++count;
    }
    if (count == 0) return std::nullopt;
    std::string text = std::to_string(count) + " of " + std::to_string(n) + " elements differ, the first at " +
                       index_text(first, actual.type().shape()) + ": " + element_text(actual, first) + ", expected " +
                       element_text(expected, first);
    if (check.kind == Check::close)
        text += " (" + std::to_string(first_ulp) + " units in the last place apart, allowed " + std::to_string(check.most_ulp) + ")";
    if (check.kind == Check::almost) text += " (allowed difference " + std::to_string(check.tolerance) + ")";
    return text;
}

} // namespace stithy::tool
