#include "pass/fold.hpp"

#include <algorithm>
#include <cmath>

namespace stithy::pass {

namespace {
using ir::OpCode;

bool compare_as(auto a, auto b, ir::Direction d) {
    switch (d) {
    case ir::Direction::eq: return a == b;
    case ir::Direction::ne: return a != b;
    case ir::Direction::ge: return a >= b;
    case ir::Direction::gt: return a > b;
    case ir::Direction::le: return a <= b;
    case ir::Direction::lt: return a < b;
    }
    return false;
}

std::optional<std::uint64_t> fold_float(OpCode code, double a, double b, DType dtype) {
    // in double and rounded once: for f32 that is exact for + - * / as well
    switch (code) {
    case OpCode::add: return ir::bits_of(dtype, a + b);
    case OpCode::subtract: return ir::bits_of(dtype, a - b);
    case OpCode::multiply: return ir::bits_of(dtype, a * b);
    case OpCode::divide: return ir::bits_of(dtype, a / b);
    case OpCode::negate: return ir::bits_of(dtype, -a);
    case OpCode::abs: return ir::bits_of(dtype, std::fabs(a));
    default: return std::nullopt;
    }
}

std::optional<std::uint64_t> fold_int(OpCode code, std::int64_t sa, std::int64_t sb, DType dtype) {
    const auto a = static_cast<std::uint64_t>(sa), b = static_cast<std::uint64_t>(sb);
    const auto low = [&](std::uint64_t v) { return ir::bits_of(dtype, v); };
    const bool is_bool = dtype.is_bool(), is_signed = dtype.is_signed();
    switch (code) {
    case OpCode::add: return is_bool ? a | b : low(a + b);
    case OpCode::subtract: return is_bool ? std::nullopt : std::optional(low(a - b));
    case OpCode::multiply: return is_bool ? a & b : low(a * b);
    case OpCode::negate: return is_bool ? std::nullopt : std::optional(low(0 - a));
    case OpCode::and_: return low(a & b);
    case OpCode::or_: return low(a | b);
    case OpCode::xor_: return low(a ^ b);
    case OpCode::not_: return is_bool ? (a ^ 1) & 1 : low(~a);
    case OpCode::minimum: return low(is_signed ? static_cast<std::uint64_t>(std::min(sa, sb)) : std::min(a, b));
    case OpCode::maximum: return low(is_signed ? static_cast<std::uint64_t>(std::max(sa, sb)) : std::max(a, b));
    default: return std::nullopt;
    }
}
} // namespace

std::optional<std::uint64_t> fold_splats(const ir::Op& op, const ir::Literal* const* operands, DType result) {
    const ir::Literal& x = *operands[0];
    const DType dtype = x.type().dtype();
    const ir::Literal& y = op.operands.size() > 1 ? *operands[1] : x;
    if (op.operands.size() > 2 || x.type().elements() == 0) return std::nullopt;
    if (op.code == OpCode::compare) {
        const auto& c = op.get<ir::CompareAttr>();
        if (c.kind == ir::CompareKind::total_order && dtype.is_floating()) return std::nullopt;
        if (dtype.is_floating()) return compare_as(x.element_as_double(0), y.element_as_double(0), c.direction);
        if (dtype.is_signed()) return compare_as(x.element_as_int(0), y.element_as_int(0), c.direction);
        return compare_as(x.bits(), y.bits(), c.direction);
    }
    if (op.code == OpCode::convert) {
        if (dtype.is_floating()) {
            if (result.is_floating()) return ir::bits_of(result, x.element_as_double(0));
            if (result.is_bool()) return std::nullopt;
            const double v = x.element_as_double(0);
            if (!(std::fabs(v) < 100)) return std::nullopt; // saturation and NaN are the kernel's
            if (v < 0 && !result.is_signed()) return std::nullopt;
            return ir::bits_of(result, static_cast<std::int64_t>(v));
        }
        if (result.is_floating() && dtype == u64) return ir::bits_of(result, x.bits());
        return ir::bits_of(result, x.element_as_int(0));
    }
    if (!(dtype == result)) return std::nullopt;
    if (dtype.is_floating()) return fold_float(op.code, x.element_as_double(0), y.element_as_double(0), dtype);
    return fold_int(op.code, x.element_as_int(0), y.element_as_int(0), dtype);
}

} // namespace stithy::pass
