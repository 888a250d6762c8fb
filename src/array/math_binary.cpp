// The elementwise functions of two and three operands.
#include "array/elementwise.hpp"
#include "array/numbers.hpp"
#include "stithy/elementwise.hpp"

#include <cmath>
#include <optional>

#include <limits>

namespace stithy {

using detail::binary;
using detail::compare;
using ir::Direction;
using ir::OpCode;

namespace {
DType meeting_dtype(const Operand& a, const Operand& b) {
    const Operand* operands[] = {&a, &b};
    return detail::common_dtype(operands);
}

/// Both operands as arrays of their common dtype (f64 for integers where `floating`).
struct Pair {
    Array a, b;
};
Pair meet(const Operand& a, const Operand& b, const char* name, bool floating) {
    DType d = meeting_dtype(a, b);
    if (floating && !d.is_floating()) d = f64;
    return {detail::to_array(a, d, name), detail::to_array(b, d, name)};
}

/// The operand as a condition.
Array truth(const Operand& x, const char* name) {
    const DType d = x.is_number() ? x.number_dtype() : detail::node_of(x.array(), name, x.location()).dtype();
    if (d.is_bool()) return detail::to_array(x);
    return x != Operand(0, x.location());
}

Array logical(const char* name, OpCode code, const Operand& a, const Operand& b) {
    return binary(name, code, {truth(a, name), a.location()}, {truth(b, name), b.location()});
}

/// The exponent when it is a small integer number.
std::optional<int> small_exponent(const Operand& b) {
    if (!b.is_number()) return std::nullopt;
    const auto bits = detail::convert_exactly(b.number_dtype(), b.number_bits(), i32);
    if (!bits) return std::nullopt;
    const int n = detail::from_bits<int>(*bits);
    return n >= -32 && n <= 32 ? std::optional(n) : std::nullopt;
}

Array power_by_squaring(const Array& x, int n, const Location& at) {
    Array result, square = x;
    for (int rest = n; rest > 0; rest >>= 1) {
        if (rest & 1) result = result.defined() ? Operand(result, at) * Operand(square, at) : square;
        if (rest > 1) square = Operand(square, at) * Operand(square, at);
    }
    return result;
}
} // namespace

Array add(const Operand& a, const Operand& b) { return a + b; }
Array subtract(const Operand& a, const Operand& b) { return a - b; }
Array multiply(const Operand& a, const Operand& b) { return a * b; }
Array divide(const Operand& a, const Operand& b) { return a / b; }
Array maximum(const Operand& a, const Operand& b) { return binary("maximum", OpCode::maximum, a, b); }
Array minimum(const Operand& a, const Operand& b) { return binary("minimum", OpCode::minimum, a, b); }
Array fmod(const Operand& a, const Operand& b) { return binary("fmod", OpCode::remainder, a, b); }
Array atan2(const Operand& y, const Operand& x) { return binary("atan2", OpCode::atan2, y, x, true); }
Array arctan2(const Operand& y, const Operand& x) { return atan2(y, x); }

Array mod(const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const Pair p = meet(a, b, "mod", false);
    const Array r = fmod({p.a, at}, {p.b, at});
    if (p.a.dtype().is_unsigned()) return r;
    const Array other_side = Operand(Operand(r, at) < Operand(0, at), at) != Operand(Operand(p.b, at) < Operand(0, at), at);
    const Array wrong = Operand(other_side, at) & Operand(Operand(r, at) != Operand(0, at), at);
    return where({wrong, at}, {Operand(r, at) + Operand(p.b, at), at}, {r, at});
}
Array remainder(const Operand& a, const Operand& b) { return mod(a, b); }
Array operator%(const Operand& a, const Operand& b) { return mod(a, b); }

Array floor_divide(const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const Pair p = meet(a, b, "floor_divide", false);
    if (p.a.dtype().is_floating()) return floor({Operand(p.a, at) / Operand(p.b, at), at});
    const Array whole = Operand(p.a, at) - Operand(mod({p.a, at}, {p.b, at}), at);
    return binary("floor_divide", OpCode::divide, {whole, at}, {p.b, at});
}

Array pow(const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const DType d = meeting_dtype(a, b);
    if (const auto n = small_exponent(b); n && !a.is_number()) {
        const Array x = detail::to_array(a, d.is_bool() ? i32 : d, "pow");
        if (*n == 0) return detail::constant(ir::Literal::splat(ir::Type(x.dtype(), x.shape()), 1), at);
        if (*n > 0) return power_by_squaring(x, *n, at);
        if (!d.is_floating())
            fail("pow", "an integer array to the power " + std::to_string(*n) + " is no integer; convert it with astype() first", at);
        return Operand(1.0, at) / Operand(power_by_squaring(x, -*n, at), at);
    }
    return binary("pow", OpCode::power, a, b);
}
Array power(const Operand& a, const Operand& b) { return pow(a, b); }

Array hypot(const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const Pair p = meet(a, b, "hypot", true);
    // Sizes and their order by selection, not by abs, maximum and minimum: the formula is smooth where those have kinks.
    const auto size = [&](const Array& v) { return where({Operand(v, at) < Operand(0, at), at}, {-Operand(v, at), at}, {v, at}); };
    const Array x = size(p.a), y = size(p.b), less = Operand(x, at) < Operand(y, at);
    const Array high = where({less, at}, {y, at}, {x, at}), low = where({less, at}, {x, at}, {y, at});
    const Array infinite = logical_or({isinf({x, at}), at}, {isinf({y, at}), at});
    // at 0 and at infinity the quotient is no number
    const Array plain = logical_or({Operand(high, at) == Operand(0, at), at}, {infinite, at});
    const Array ratio = where({plain, at}, {0.0, at}, {Operand(low, at) / Operand(where({plain, at}, {1.0, at}, {high, at}), at), at});
    const Array length = Operand(high, at) * Operand(sqrt({Operand(1.0, at) + Operand(square({ratio, at}), at), at}), at);
    return abs({where({infinite, at}, {std::numeric_limits<double>::infinity(), at}, {length, at}), at}); // of -0 as well
}

Array logaddexp(const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const Pair p = meet(a, b, "logaddexp", true);
    const Array difference = Operand(p.a, at) - Operand(p.b, at), less = Operand(difference, at) < Operand(0, at);
    // Selection, not maximum and abs: the sum of two terms with kinks at equal operands is smooth, and so are its derivatives then.
    const Array high = where({less, at}, {p.b, at}, {p.a, at});
    const Array below = where({less, at}, {difference, at}, {-Operand(difference, at), at});
    // Equal infinities have no difference; their sum is themselves.
    const Array small = log1p({exp({below, at}), at});
    return where({isnan({difference, at}), at}, {Operand(p.a, at) + Operand(p.b, at), at}, {Operand(high, at) + Operand(small, at), at});
}

Array clip(const Operand& x, const Operand& low, const Operand& high) {
    const Operand* operands[] = {&x, &low, &high};
    for (const Operand* o : operands)
        if (!o->is_number()) detail::node_of(o->array(), "clip", x.location());
    const Array raised = detail::binary("clip", ir::OpCode::maximum, x, low);
    return detail::binary("clip", ir::OpCode::minimum, Operand(raised, x.location()), high);
}

Array where(const Operand& condition, const Operand& a, const Operand& b) {
    for (const Operand* o : {&condition, &a, &b})
        if (!o->is_number()) detail::node_of(o->array(), "where", condition.location());
    const DType d = meeting_dtype(a, b);
    const DType dtypes[] = {boolean, d, d};
    const bool is_bool = (condition.is_number() ? condition.number_dtype() : condition.array().dtype(condition.location())).is_bool();
    if (is_bool) {
        const Operand* operands[] = {&condition, &a, &b};
        return detail::elementwise({.name = "where", .code = OpCode::select, .operands = operands, .dtypes = dtypes});
    }
    const Array chosen = truth(condition, "where");
    const Operand chosen_operand(chosen, condition.location());
    const Operand* operands[] = {&chosen_operand, &a, &b};
    return detail::elementwise({.name = "where", .code = OpCode::select, .operands = operands, .dtypes = dtypes});
}

Array equal(const Operand& a, const Operand& b) { return a == b; }
Array not_equal(const Operand& a, const Operand& b) { return a != b; }
Array less(const Operand& a, const Operand& b) { return a < b; }
Array less_equal(const Operand& a, const Operand& b) { return a <= b; }
Array greater(const Operand& a, const Operand& b) { return a > b; }
Array greater_equal(const Operand& a, const Operand& b) { return a >= b; }

Array logical_and(const Operand& a, const Operand& b) { return logical("logical_and", OpCode::and_, a, b); }
Array logical_or(const Operand& a, const Operand& b) { return logical("logical_or", OpCode::or_, a, b); }
Array logical_xor(const Operand& a, const Operand& b) { return logical("logical_xor", OpCode::xor_, a, b); }
Array bitwise_and(const Operand& a, const Operand& b) { return a & b; }
Array bitwise_or(const Operand& a, const Operand& b) { return a | b; }
Array bitwise_xor(const Operand& a, const Operand& b) { return a ^ b; }

} // namespace stithy
