#include "array/elementwise.hpp"
#include "array/numbers.hpp"

namespace stithy {

using detail::binary;
using detail::compare;
using ir::Direction;
using ir::OpCode;

Array operator+(const Operand& a, const Operand& b) { return binary("add", OpCode::add, a, b); }
Array operator-(const Operand& a, const Operand& b) { return binary("subtract", OpCode::subtract, a, b); }
Array operator*(const Operand& a, const Operand& b) { return binary("multiply", OpCode::multiply, a, b); }
Array operator/(const Operand& a, const Operand& b) { return binary("divide", OpCode::divide, a, b, true); }
Array operator-(const Operand& a) { return detail::unary("negative", OpCode::negate, a, false); }
Array operator+(const Operand& a) { return detail::to_array(a); }

Array operator==(const Operand& a, const Operand& b) { return compare("equal", Direction::eq, a, b); }
Array operator!=(const Operand& a, const Operand& b) { return compare("not_equal", Direction::ne, a, b); }
Array operator<(const Operand& a, const Operand& b) { return compare("less", Direction::lt, a, b); }
Array operator<=(const Operand& a, const Operand& b) { return compare("less_equal", Direction::le, a, b); }
Array operator>(const Operand& a, const Operand& b) { return compare("greater", Direction::gt, a, b); }
Array operator>=(const Operand& a, const Operand& b) { return compare("greater_equal", Direction::ge, a, b); }

Array operator&(const Operand& a, const Operand& b) { return binary("bitwise_and", OpCode::and_, a, b); }
Array operator|(const Operand& a, const Operand& b) { return binary("bitwise_or", OpCode::or_, a, b); }
Array operator^(const Operand& a, const Operand& b) { return binary("bitwise_xor", OpCode::xor_, a, b); }
Array operator~(const Operand& a) { return detail::unary("bitwise_not", OpCode::not_, a, false); }
Array operator<<(const Operand& a, const Operand& b) { return binary("left_shift", OpCode::shift_left, a, b); }

Array operator>>(const Operand& a, const Operand& b) {
    const Operand* operands[] = {&a, &b};
    const bool is_unsigned = detail::common_dtype(operands).is_unsigned();
    return binary("right_shift", is_unsigned ? OpCode::shift_right_logical : OpCode::shift_right_arithmetic, a, b);
}

Array operator!(const Array& a) {
    const detail::ArrayNode& n = detail::node_of(a, "logical_not");
    const Location at = n.location(); // an operator on arrays learns no line of its own
    if (n.dtype().is_bool()) return detail::unary("logical_not", OpCode::not_, Operand(a, at), false);
    return compare("logical_not", Direction::eq, Operand(a, at), Operand(0, at));
}

namespace {
/// The left side gives its memory up to the result.
Operand given_up(Array& a, const Operand& b) { return {std::move(a), b.location()}; }
} // namespace

Array& operator+=(Array& a, const Operand& b) { return a = given_up(a, b) + b; }
Array& operator-=(Array& a, const Operand& b) { return a = given_up(a, b) - b; }
Array& operator*=(Array& a, const Operand& b) { return a = given_up(a, b) * b; }
Array& operator/=(Array& a, const Operand& b) { return a = given_up(a, b) / b; }

} // namespace stithy
