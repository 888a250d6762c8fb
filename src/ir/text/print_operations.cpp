#include "ir/text/dense.hpp"
#include "ir/text/printer.hpp"

#include <algorithm>

namespace stithy::ir::text {

namespace {
std::string full_name(OpCode code) {
    const std::string_view own = ir::name(code);
    return own.starts_with("stithy.") ? std::string(own) : "stablehlo." + std::string(own);
}

std::string_view direction_text(Direction d) {
    static constexpr std::string_view texts[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    return texts[static_cast<std::size_t>(d)];
}

std::string_view kind_text(CompareKind kind, const Type& type) {
    if (type.dtype().is_floating()) return kind == CompareKind::total_order ? "TOTALORDER" : "FLOAT";
    return type.dtype().is_signed() ? "SIGNED" : "UNSIGNED";
}

std::string array_text(const Dims& dims) {
    std::string text = "array<i64";
    for (std::size_t i = 0; i < dims.size(); ++i) text += (i != 0 ? ", " : ": ") + std::to_string(dims[i]);
    return text + ">";
}

/// What follows the operands in the pretty form.
std::string pretty_attributes(const Op& op) {
    switch (op.code) {
    case OpCode::iota: return "dim = " + std::to_string(op.get<DimAttr>().dim);
    case OpCode::concatenate: return ", dim = " + std::to_string(op.get<DimAttr>().dim);
    case OpCode::get_tuple_element: return "[" + std::to_string(op.get<DimAttr>().dim) + "]";
    case OpCode::broadcast_in_dim:
    case OpCode::transpose:
    case OpCode::reverse: return ", dims = " + list_text(op.get<DimsAttr>().dims);
    case OpCode::dynamic_slice: return ", sizes = " + list_text(op.get<DimsAttr>().dims);
    case OpCode::pad: {
        const auto& p = op.get<PadAttr>();
        return ", low = " + list_text(p.low) + ", high = " + list_text(p.high) + ", interior = " + list_text(p.interior);
    }
    case OpCode::slice: {
        const auto& s = op.get<SliceAttr>();
        std::string text = " [";
        for (std::size_t i = 0; i < s.start.size(); ++i) {
            text += (i != 0 ? ", " : "") + std::to_string(s.start[i]) + ":" + std::to_string(s.limit[i]);
            if (!s.stride.empty() && s.stride[i] != 1) text += ":" + std::to_string(s.stride[i]);
        }
        return text + "]";
    }
    case OpCode::dot_general: {
        const auto& d = op.get<DotAttr>();
        std::string text;
        if (!d.lhs_batch.empty()) text += ", batching_dims = " + list_text(d.lhs_batch) + " x " + list_text(d.rhs_batch);
        return text + ", contracting_dims = " + list_text(d.lhs_contract) + " x " + list_text(d.rhs_contract);
    }
    default: return "";
    }
}

/// Operations whose type may be written once when operands and results share it.
bool may_share_type(OpCode code) {
    return is_elementwise(code) || code == OpCode::optimization_barrier || code == OpCode::after_all || code == OpCode::create_token ||
           code == OpCode::iota;
}

std::string gather_text(const GatherAttr& g) {
    return "<{dimension_numbers = #stablehlo.gather<offset_dims = " + list_text(g.offset_dims) +
           ", collapsed_slice_dims = " + list_text(g.collapsed_slice_dims) +
           ", operand_batching_dims = " + list_text(g.operand_batching_dims) +
           ", start_indices_batching_dims = " + list_text(g.start_indices_batching_dims) +
           ", start_index_map = " + list_text(g.start_index_map) + ", index_vector_dim = " + std::to_string(g.index_vector_dim) +
           ">, indices_are_sorted = " + (g.indices_are_sorted ? "true" : "false") + ", slice_sizes = " + array_text(g.slice_sizes) + "}> ";
}
} // namespace

std::string scatter_text(const ScatterAttr& s) {
    return std::string("<{indices_are_sorted = ") + (s.indices_are_sorted ? "true" : "false") +
           ", scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " + list_text(s.update_window_dims) +
           ", inserted_window_dims = " + list_text(s.inserted_window_dims) + ", input_batching_dims = " + list_text(s.input_batching_dims) +
           ", scatter_indices_batching_dims = " + list_text(s.scatter_indices_batching_dims) +
           ", scatter_dims_to_operand_dims = " + list_text(s.scatter_dims_to_operand_dims) +
           ", index_vector_dim = " + std::to_string(s.index_vector_dim) + ">, unique_indices = " + (s.unique_indices ? "true" : "false") +
           "}> ";
}

void Printer::print_plain(const Function& function, const Op& op, const Names& names) {
    out_ += full_name(op.code) + " ";
    if (op.code == OpCode::constant) {
        const Literal& value = op.get<ConstantAttr>().value;
        out_ += dense_text(value) + " : " + value.type().text();
        return;
    }
    if (op.code == OpCode::compare) out_ += std::string(direction_text(op.get<CompareAttr>().direction)) + ", ";
    out_ += operands(op, names) + pretty_attributes(op);
    if (op.code == OpCode::compare) out_ += ", " + std::string(kind_text(op.get<CompareAttr>().kind, function.type(op.operands.at(0))));
    out_ += " : ";
    const bool same =
        may_share_type(op.code) && op.result_count == 1 &&
        std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return function.type(v) == function.type(op.result()); });
    if (op.code == OpCode::select && function.type(op.operands.at(1)) == function.type(op.result()))
        out_ += function.type(op.operands[0]).text() + ", " + function.type(op.result()).text();
    else if (same || op.code == OpCode::tuple || op.code == OpCode::optimization_barrier)
        out_ += result_types(function, op, false);
    else
        out_ += functional(function, op);
}

void Printer::print_generic(const Function& function, const Op& op, const Names& names) {
    out_ += "\"" + full_name(op.code) + "\"(" + operands(op, names) + ") ";
    if (op.code == OpCode::gather) out_ += gather_text(op.get<GatherAttr>());
    if (op.code == OpCode::accumulator_scatter_add) out_ += scatter_text(op.get<ScatterAttr>());
    out_ += ": " + functional(function, op);
}

void Printer::print_custom_call(const Function& function, const Op& op, const Names& names) {
    const auto& call = op.get<CustomCallAttr>();
    std::vector<std::string> attributes;
    if (call.api_version != 1) attributes.push_back("api_version = " + std::to_string(call.api_version) + " : i32");
    const std::string& config = call.backend_config;
    if (config.starts_with('{'))
        attributes.push_back((call.api_version == 1 ? "mhlo.backend_config = " : "backend_config = ") + config);
    else if (config.starts_with('"'))
        attributes.push_back("backend_config = " + config);
    else if (!config.empty())
        attributes.push_back("backend_config = " + quoted(config));
    if (op.effect == Effect::ordered) attributes.emplace_back("has_side_effect = true");
    out_ += "stablehlo.custom_call " + symbol_text(call.target) + "(" + operands(op, names) + ")";
    for (std::size_t i = 0; i < attributes.size(); ++i) out_ += (i == 0 ? " {" : ", ") + attributes[i];
    out_ += std::string(attributes.empty() ? "" : "}") + " : " + functional(function, op);
}

} // namespace stithy::ir::text
