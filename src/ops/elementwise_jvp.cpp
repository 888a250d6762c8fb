#include "ops/build.hpp"
#include "ops/elementwise.hpp"

namespace stithy::ops {

namespace {
/// A rank-0 value at every place of a shape; any other as it is.
Value spread(Value x, const Shape& shape) { return x.rank() == 0 ? broadcast_to(x, shape) : x; }

/// The tangent where a is the extreme, half of it where both are equal, else 0 (also where one is NaN), as JAX shares a tie. Selected, not
/// multiplied: 0 times an infinity would be NaN on the losing side.
Value share(Value tangent, Value a, Value b, ir::Direction wins) {
    const Value tie = select(compare(a, b, ir::Direction::eq), tangent * 0.5, 0.0);
    return select(compare(a, b, wins), tangent, tie);
}

Values jvp_extreme(const JvpContext& c, ir::Direction wins) {
    const Value a = c.operands[0], b = c.operands[1];
    Value t;
    if (c.tangents[0]) t = share(c.tangents[0], a, b, wins);
    if (c.tangents[1]) t = add_any(t, share(c.tangents[1], b, a, wins));
    return {t};
}
} // namespace

Values jvp_add(const JvpContext& c) { return {add_any(c.tangents[0], c.tangents[1])}; }

Values jvp_subtract(const JvpContext& c) {
    if (!c.tangents[1]) return {c.tangents[0]};
    if (!c.tangents[0]) return {-c.tangents[1]};
    return {c.tangents[0] - c.tangents[1]};
}

Values jvp_multiply(const JvpContext& c) {
    Value t;
    if (c.tangents[0]) t = c.tangents[0] * c.operands[1];
    if (c.tangents[1]) t = add_any(t, c.tangents[1] * c.operands[0]);
    return {t};
}

/// d(a/b) = (da - (a/b) db) / b
Values jvp_divide(const JvpContext& c) {
    const Value b = c.operands[1], y = c.results[0];
    if (!c.tangents[1]) return {c.tangents[0] / b};
    if (!c.tangents[0]) return {c.tangents[1] * -(y / b)};
    return {(c.tangents[0] - c.tangents[1] * y) / b};
}

/// a - b * trunc(a / b): the quotient is constant between jumps. It is rounded from (a - result) / b, so that it is the one that the
/// remainder used.
Values jvp_remainder(const JvpContext& c) {
    Value t = c.tangents[0];
    if (c.tangents[1]) {
        const Value quotient = round_nearest_even((c.operands[0] - c.results[0]) / c.operands[1]);
        t = add_any(t, c.tangents[1] * -quotient);
    }
    return {t};
}

Values jvp_maximum(const JvpContext& c) { return jvp_extreme(c, ir::Direction::gt); }
Values jvp_minimum(const JvpContext& c) { return jvp_extreme(c, ir::Direction::lt); }

/// The derivative of x^p by x for a known p; none where it is zero. The usual exponents are spelled without a power.
Value power_slope(Value x, Value y, double p) {
    if (p == 0.0) return {};
    if (p == 2.0) return x + x;
    if (p == 3.0) return 3.0 * (x * x);
    if (p == -1.0) return -(y * y);
    if (p == 0.5) return 0.5 / y;
    return p * power(x, full_like(x, p - 1.0));
}

/// d(x^p) = p x^(p-1) dx + log(x) x^p dp. The first is 0 at p == 0 for every x, 0 included, the second is 0 at x == 0. Both are masked
/// before the operation that would make a NaN as well as after, so that further derivatives stay clean.
Values jvp_power(const JvpContext& c) {
    const Value x = c.operands[0], p = c.operands[1], y = c.results[0];
    if (const auto known = c.tangents[1] ? std::nullopt : splat_of(p)) {
        if (*known == 1.0) return {c.tangents[0]};
        const Value slope = power_slope(x, y, *known);
        return {slope ? c.tangents[0] * slope : Value()};
    }
    Value t;
    if (c.tangents[0]) {
        // only where x^(p-1) is infinite: elsewhere the slope is 0 at p == 0, but its derivative by p is not
        const Value constant = and_(compare(p, 0.0, ir::Direction::eq), compare(x, 0.0, ir::Direction::eq));
        const Value safe = select(constant, 1.0, p);
        const Value slope = select(constant, 0.0, safe * power(x, safe - 1.0));
        t = c.tangents[0] * slope;
    }
    if (c.tangents[1]) {
        const Value safe = select(compare(x, 0.0, ir::Direction::eq), 1.0, x);
        t = add_any(t, c.tangents[1] * (log(safe) * y));
    }
    return {t};
}

/// d atan2(y, x) = (x dy - y dx) / (x^2 + y^2)
Values jvp_atan2(const JvpContext& c) {
    const Value y = c.operands[0], x = c.operands[1];
    const Value square = x * x + y * y;
    Value t;
    if (c.tangents[0]) t = c.tangents[0] * (x / square);
    if (c.tangents[1]) t = add_any(t, c.tangents[1] * -(y / square));
    return {t};
}

Values jvp_select(const JvpContext& c) {
    const Value a = c.tangents[1] ? c.tangents[1] : zeros_like(c.results[0]);
    const Value b = c.tangents[2] ? c.tangents[2] : zeros_like(c.results[0]);
    return {select(c.operands[0], a, b)};
}

/// As JAX: the operand's tangent passes strictly between the bounds, a bound's where the operand lies beyond it (and, below, where low <
/// high).
Values jvp_clamp(const JvpContext& c) {
    const Shape shape = c.operands[1].shape();
    const Value low = spread(c.operands[0], shape), x = c.operands[1], high = spread(c.operands[2], shape);
    const Value zero = zeros_like(x);
    Value t;
    if (c.tangents[1]) {
        const Value inside = and_(compare(x, low, ir::Direction::gt), compare(x, high, ir::Direction::lt));
        t = select(inside, c.tangents[1], zero);
    }
    if (c.tangents[0]) {
        const Value below = and_(compare(low, x, ir::Direction::gt), compare(low, high, ir::Direction::lt));
        t = add_any(t, select(below, spread(c.tangents[0], shape), zero));
    }
    if (c.tangents[2]) t = add_any(t, select(compare(high, x, ir::Direction::lt), spread(c.tangents[2], shape), zero));
    return {t};
}

Values jvp_convert(const JvpContext& c) {
    const DType to = c.results[0].dtype();
    if (!to.is_floating()) return {Value()};
    return {convert(c.tangents[0], to)};
}

} // namespace stithy::ops
