#include "ops/build.hpp"

#include <array>

namespace stithy::ops {

namespace {
/// The attributes of comparisons by number, made once.
const AttrPtr& compare_attr(ir::Direction direction) {
    static const auto attrs = [] {
        std::array<AttrPtr, 6> made;
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = ir::make_attr(ir::CompareAttr{static_cast<ir::Direction>(i), ir::CompareKind::number});
        return made;
    }();
    return attrs[static_cast<std::size_t>(direction)];
}
} // namespace

Value unary(OpCode code, Value x) { return emit1(x.builder(), code, {x}); }
Value binary(OpCode code, Value a, Value b) { return emit1(a.builder(), code, {a, b}); }

Value operator+(Value a, Value b) { return binary(OpCode::add, a, b); }
Value operator-(Value a, Value b) { return binary(OpCode::subtract, a, b); }
Value operator*(Value a, Value b) { return binary(OpCode::multiply, a, b); }
Value operator/(Value a, Value b) { return binary(OpCode::divide, a, b); }
Value operator-(Value a) { return unary(OpCode::negate, a); }
Value operator+(Value a, double b) { return a + full_like(a, b); }
Value operator+(double a, Value b) { return full_like(b, a) + b; }
Value operator-(Value a, double b) { return a - full_like(a, b); }
Value operator-(double a, Value b) { return full_like(b, a) - b; }
Value operator*(Value a, double b) { return a * full_like(a, b); }
Value operator*(double a, Value b) { return full_like(b, a) * b; }
Value operator/(Value a, double b) { return a / full_like(a, b); }
Value operator/(double a, Value b) { return full_like(b, a) / b; }

Value abs(Value x) { return unary(OpCode::abs, x); }
Value exp(Value x) { return unary(OpCode::exponential, x); }
Value log(Value x) { return unary(OpCode::log, x); }
Value sin(Value x) { return unary(OpCode::sine, x); }
Value cos(Value x) { return unary(OpCode::cosine, x); }
Value tan(Value x) { return unary(OpCode::tan, x); }
Value tanh(Value x) { return unary(OpCode::tanh, x); }
Value sqrt(Value x) { return unary(OpCode::sqrt, x); }
Value rsqrt(Value x) { return unary(OpCode::rsqrt, x); }
Value cbrt(Value x) { return unary(OpCode::cbrt, x); }
Value logistic(Value x) { return unary(OpCode::logistic, x); }
Value sign(Value x) { return unary(OpCode::sign, x); }
Value floor(Value x) { return unary(OpCode::floor, x); }
Value round_nearest_even(Value x) { return unary(OpCode::round_nearest_even, x); }
Value not_(Value x) { return unary(OpCode::not_, x); }
Value and_(Value a, Value b) { return binary(OpCode::and_, a, b); }
Value or_(Value a, Value b) { return binary(OpCode::or_, a, b); }
Value maximum(Value a, Value b) { return binary(OpCode::maximum, a, b); }
Value minimum(Value a, Value b) { return binary(OpCode::minimum, a, b); }
Value power(Value a, Value b) { return binary(OpCode::power, a, b); }
Value atan2(Value a, Value b) { return binary(OpCode::atan2, a, b); }
Value remainder(Value a, Value b) { return binary(OpCode::remainder, a, b); }

Value compare(Value a, Value b, ir::Direction direction) { return emit1(a.builder(), OpCode::compare, {a, b}, compare_attr(direction)); }
Value compare(Value a, double b, ir::Direction direction) { return compare(a, full_like(a, b), direction); }

Value select(Value predicate, Value a, Value b) { return emit1(a.builder(), OpCode::select, {predicate, a, b}); }
Value select(Value predicate, Value a, double b) { return select(predicate, a, full_like(a, b)); }
Value select(Value predicate, double a, Value b) { return select(predicate, full_like(b, a), b); }
Value clamp(Value low, Value x, Value high) { return emit1(x.builder(), OpCode::clamp, {low, x, high}); }

Value add_any(Value a, Value b) {
    if (!a) return b;
    if (!b) return a;
    return a + b;
}

} // namespace stithy::ops
