#include "ops/elementwise.hpp"

#include "ops/build.hpp"
#include "ops/families.hpp"

#include <array>

namespace stithy::ops {

namespace {
/// jvp of a function of one variable: the tangent times the derivative, written over the operand x and the result y.
template <Value (*derivative)(Value x, Value y)>
Values times(const JvpContext& c) {
    return {c.tangents[0] * derivative(c.operands[0], c.results[0])};
}
/// The same where the derivative is better had as a division: the tangent over `divisor`.
template <Value (*divisor)(Value x, Value y)>
Values over(const JvpContext& c) {
    return {c.tangents[0] / divisor(c.operands[0], c.results[0])};
}
Values jvp_negate(const JvpContext& c) { return {-c.tangents[0]}; }

struct Row {
    OpCode code;
    Kinds kinds;
    JvpRule jvp = nullptr; ///< null: the derivative is zero wherever it exists, or the operation is of integers
    TransposeRule transpose = nullptr;
    InferRule infer = nullptr; ///< null: the usual one of its number of operands
};

/// The family. Derivatives of one variable stand in the row, those of more in elementwise_jvp.cpp.
constexpr Row rows[] = {
    // one operand
    {OpCode::abs, signed_integers | floats, times<+[](Value x, Value) { return sign(x); }>},
    {OpCode::cbrt, floats, times<+[](Value, Value y) { return (1.0 / 3.0) / (y * y); }>},
    {OpCode::ceil, floats},
    {OpCode::convert, any_kind, jvp_convert, transpose_convert, infer_convert},
    {OpCode::cosine, floats, times<+[](Value x, Value) { return -sin(x); }>},
    {OpCode::count_leading_zeros, integers},
    {OpCode::exponential, floats, times<+[](Value, Value y) { return y; }>},
    {OpCode::exponential_minus_one, floats, times<+[](Value, Value y) { return y + 1.0; }>},
    {OpCode::floor, floats},
    {OpCode::is_finite, floats, nullptr, nullptr, infer_is_finite},
    {OpCode::log, floats, over<+[](Value x, Value) { return x; }>},
    {OpCode::log_plus_one, floats, over<+[](Value x, Value) { return x + 1.0; }>},
    {OpCode::logistic, floats, times<+[](Value, Value y) { return y * (1.0 - y); }>},
    {OpCode::negate, numbers, jvp_negate, transpose_negate},
    {OpCode::not_, bools | integers},
    {OpCode::popcnt, integers},
    {OpCode::round_nearest_afz, floats},
    {OpCode::round_nearest_even, floats},
    {OpCode::rsqrt, floats, times<+[](Value x, Value y) { return -0.5 * (y / x); }>},
    {OpCode::sign, signed_integers | floats},
    {OpCode::sine, floats, times<+[](Value x, Value) { return cos(x); }>},
    {OpCode::sqrt, floats, times<+[](Value, Value y) { return 0.5 / y; }>},
    {OpCode::tan, floats, times<+[](Value, Value y) { return y * y + 1.0; }>},
    {OpCode::tanh, floats, times<+[](Value, Value y) { // 1 - y^2 without its cancellation near |y| = 1
         const Value one = full_like(y, 1.0);
         return (one + y) * (one - y);
     }>},
    // two operands
    {OpCode::add, any_kind, jvp_add, transpose_add},
    {OpCode::and_, bools | integers},
    {OpCode::atan2, floats, jvp_atan2},
    {OpCode::compare, any_kind, nullptr, nullptr, infer_compare},
    {OpCode::divide, numbers, jvp_divide, transpose_divide},
    {OpCode::maximum, any_kind, jvp_maximum},
    {OpCode::minimum, any_kind, jvp_minimum},
    {OpCode::multiply, any_kind, jvp_multiply, transpose_multiply},
    {OpCode::or_, bools | integers},
    {OpCode::power, numbers, jvp_power},
    {OpCode::remainder, numbers, jvp_remainder},
    {OpCode::shift_left, integers},
    {OpCode::shift_right_arithmetic, integers},
    {OpCode::shift_right_logical, integers},
    {OpCode::subtract, numbers, jvp_subtract, transpose_subtract},
    {OpCode::xor_, bools | integers},
    // three operands
    {OpCode::select, any_kind, jvp_select, transpose_select, infer_select},
    {OpCode::clamp, any_kind, jvp_clamp, nullptr, infer_clamp},
};

constexpr std::size_t family_size = static_cast<std::size_t>(OpCode::clamp) + 1;
constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(rows); ++i)
        if (rows[i].code != static_cast<OpCode>(i)) return false;
    return std::size(rows) == family_size;
}
static_assert(rows_are_in_order(), "a row for each elementwise operation, in the order of OpCode");
} // namespace

Kinds kinds_of(OpCode code) { return rows[static_cast<std::size_t>(code)].kinds; }

Rule find_elementwise(OpCode code) {
    if (!ir::is_elementwise(code)) return {};
    const Row& row = rows[static_cast<std::size_t>(code)];
    const InferRule usual = ir::is_unary_elementwise(code) ? infer_unary : infer_binary;
    return {row.infer != nullptr ? row.infer : usual, row.jvp, row.transpose, batch_elementwise};
}

bool is_transcendental(OpCode code) {
    switch (code) {
    case OpCode::cbrt:
    case OpCode::cosine:
    case OpCode::exponential:
    case OpCode::exponential_minus_one:
    case OpCode::log:
    case OpCode::log_plus_one:
    case OpCode::logistic:
    case OpCode::sine:
    case OpCode::tan:
    case OpCode::tanh:
    case OpCode::atan2:
    case OpCode::power: return true;
    default: return false;
    }
}

} // namespace stithy::ops
