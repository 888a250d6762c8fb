#include "ir/opcode.hpp"

#include <array>
#include <unordered_map>

namespace stithy::ir {

namespace {
constexpr std::array<std::string_view, opcode_count> names = {
    "abs",
    "cbrt",
    "ceil",
    "convert",
    "cosine",
    "count_leading_zeros",
    "exponential",
    "exponential_minus_one",
    "floor",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
    "add",
    "and",
    "atan2",
    "compare",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
    "select",
    "clamp",
    "constant",
    "iota",
    "bitcast_convert",
    "broadcast_in_dim",
    "reshape",
    "transpose",
    "slice",
    "dynamic_slice",
    "dynamic_update_slice",
    "concatenate",
    "pad",
    "reverse",
    "gather",
    "scatter",
    "reduce",
    "dot_general",
    "while",
    "case",
    "if",
    "func.call",
    "tuple",
    "get_tuple_element",
    "optimization_barrier",
    "create_token",
    "after_all",
    "custom_call",
    "stithy.loop",
    "stithy.accumulator_zeros",
    "stithy.accumulator_add",
    "stithy.accumulator_add_at",
    "stithy.accumulator_scatter_add",
    "stithy.freeze",
    "stithy.stack_empty",
    "stithy.stack_push",
    "stithy.stack_pop",
};
} // namespace

std::string_view name(OpCode code) { return names[static_cast<std::size_t>(code)]; }

std::optional<OpCode> opcode_of(std::string_view text) {
    static const auto table = [] {
        std::unordered_map<std::string_view, OpCode> map;
        for (std::size_t i = 0; i < opcode_count; ++i) map.emplace(names[i], static_cast<OpCode>(i));
        map.emplace("call", OpCode::call);
        return map;
    }();
    if (text.starts_with("stablehlo.")) text.remove_prefix(10);
    auto found = table.find(text);
    if (found == table.end()) return std::nullopt;
    return found->second;
}

} // namespace stithy::ir
