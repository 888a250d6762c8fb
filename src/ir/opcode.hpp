#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stithy::ir {

/// Operations. Names and semantics are StableHLO's; the last groups are our own (prefix `stithy.` in text).
/// A new operation gets an entry here and in the name table of opcode.cpp, in the same order.
enum class OpCode : std::uint8_t {
    // elementwise, one operand
    abs,
    cbrt,
    ceil,
    convert,
    cosine,
    count_leading_zeros,
    exponential,
    exponential_minus_one,
    floor,
    is_finite,
    log,
    log_plus_one,
    logistic,
    negate,
    not_,
    popcnt,
    round_nearest_afz,
    round_nearest_even,
    rsqrt,
    sign,
    sine,
    sqrt,
    tan,
    tanh,
    // elementwise, two operands
    add,
    and_,
    atan2,
    compare,
    divide,
    maximum,
    minimum,
    multiply,
    or_,
    power,
    remainder,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
    subtract,
    xor_,
    // elementwise, three operands
    select,
    clamp,
    // shape and indexing
    constant,
    iota,
    bitcast_convert,
    broadcast_in_dim,
    reshape,
    transpose,
    slice,
    dynamic_slice,
    dynamic_update_slice,
    concatenate,
    pad,
    reverse,
    gather,
    scatter,
    // contraction
    reduce,
    dot_general,
    // structure
    while_,
    case_,
    if_,
    call,
    tuple,
    get_tuple_element,
    optimization_barrier,
    create_token,
    after_all,
    custom_call,
    // our own
    loop,
    accumulator_zeros,
    accumulator_add,
    accumulator_add_at,
    accumulator_scatter_add,
    freeze,
    stack_empty,
    stack_push,
    stack_pop,
};

inline constexpr std::size_t opcode_count = static_cast<std::size_t>(OpCode::stack_pop) + 1;

/// StableHLO's name without a prefix ("exponential", "and", "while"); our own are "stithy.loop", ...; `call` is "func.call".
std::string_view name(OpCode code);
/// The operation of a name as `name` spells it, with or without the prefix "stablehlo.".
std::optional<OpCode> opcode_of(std::string_view name);

constexpr bool is_unary_elementwise(OpCode c) { return c <= OpCode::tanh; }
constexpr bool is_binary_elementwise(OpCode c) { return c >= OpCode::add && c <= OpCode::xor_; }
/// One output element depends on the elements at the same place of operands of the same shape (select's predicate and clamp's bounds may be
/// rank 0).
constexpr bool is_elementwise(OpCode c) { return c <= OpCode::clamp; }

} // namespace stithy::ir
