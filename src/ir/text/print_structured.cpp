#include "ir/text/printer.hpp"

#include <algorithm>

namespace stithy::ir::text {

namespace {
/// `applies stablehlo.add` stands for a region that is just this operation, if it commutes.
bool is_short_reducer(const Function& region) {
    if (region.parameter_count() != 2 || region.ops().size() != 1 || region.results().size() != 1) return false;
    const Op& op = region.ops()[0];
    switch (op.code) {
    case OpCode::add:
    case OpCode::and_:
    case OpCode::maximum:
    case OpCode::minimum:
    case OpCode::multiply:
    case OpCode::or_:
    case OpCode::xor_: return op.operands[0] == 0 && op.operands[1] == 1 && region.results()[0] == op.result();
    default: return false;
    }
}

void push_once(std::vector<ValueId>& order, std::vector<bool>& seen, ValueId v) {
    if (!seen[v]) order.push_back(v);
    seen[v] = true;
}
} // namespace

/// Parameters in the order in which the printed region first names them.
const std::vector<ValueId>& Printer::use_order(const Function& region) {
    const auto found = use_orders_.find(&region);
    if (found != use_orders_.end()) return found->second;
    std::vector<ValueId> order;
    std::vector<bool> seen(region.value_count());
    for (const Op& op : region.ops())
        for (ValueId v : text_order(op))
            if (v < region.parameter_count()) push_once(order, seen, v);
    for (ValueId v : region.results())
        if (v < region.parameter_count()) push_once(order, seen, v);
    return use_orders_.emplace(&region, std::move(order)).first->second;
}

/// Operands in the order in which the printed operation names them.
std::vector<ValueId> Printer::text_order(const Op& op) {
    std::vector<ValueId> order;
    if (op.code == OpCode::reduce) {
        const std::size_t n = op.operands.size() / 2;
        for (std::size_t i = 0; i < n; ++i) order.insert(order.end(), {op.operands[i], op.operands[n + i]});
        return order;
    }
    if (op.code != OpCode::while_ && op.code != OpCode::case_ && op.code != OpCode::if_) return op.operands;
    const bool is_while = op.code == OpCode::while_;
    const std::size_t first = is_while ? 0 : 1,
                      count = is_while ? static_cast<std::size_t>(op.get<WhileAttr>().invariants) : op.operands.size() - 1;
    if (is_while)
        order.assign(op.operands.begin() + static_cast<std::ptrdiff_t>(count), op.operands.end());
    else
        order.push_back(op.operands[0]);
    for (const FunctionPtr& region : op.regions)
        for (ValueId v : use_order(*region))
            if (v < count) order.push_back(op.operands[first + v]);
    order.insert(order.end(), op.operands.begin() + static_cast<std::ptrdiff_t>(first),
                 op.operands.begin() + static_cast<std::ptrdiff_t>(first + count));
    return order;
}

/// `stithy.captures = "%a, %b"` when reading the text would find the outside values in another order than the operands have; else empty.
std::string Printer::captures(const Op& op, const Names& names) {
    const bool is_while = op.code == OpCode::while_;
    const std::size_t first = is_while ? 0 : 1,
                      count = is_while ? static_cast<std::size_t>(op.get<WhileAttr>().invariants) : op.operands.size() - 1;
    const std::span<const ValueId> outside = std::span(op.operands).subspan(first, count);
    std::vector<ValueId> found;
    for (const FunctionPtr& region : op.regions)
        for (ValueId v : use_order(*region))
            if (v < count && std::find(found.begin(), found.end(), outside[v]) == found.end()) found.push_back(outside[v]);
    if (std::equal(found.begin(), found.end(), outside.begin(), outside.end())) return "";
    return "stithy.captures = \"" + values(outside, names) + "\"";
}

Printer::Names Printer::parameter_names(const Function& region) {
    Names names(region.value_count());
    for (std::size_t i = 0; i < region.parameter_count(); ++i) names[i] = "%arg" + std::to_string(next_parameter_++);
    return names;
}

/// The operations of a region and its terminator, then the closing brace; `names` has the parameters' names.
void Printer::print_region(const Function& region, Names names, std::string_view terminator) {
    names.resize(region.value_count());
    ++indent_;
    print_ops(region, names);
    line();
    out_ += terminator;
    if (!region.results().empty()) out_ += " " + values(region.results(), names) + " : " + types(region, region.results());
    --indent_;
    line();
    out_ += "}";
}

void Printer::print_reduce(const Function& function, const Op& op, const Names& names) {
    const std::size_t n = op.operands.size() / 2;
    out_ += "stablehlo.reduce";
    for (std::size_t i = 0; i < n; ++i)
        out_ += (i != 0 ? ", (" : "(") + names[op.operands[i]] + " init: " + names[op.operands[n + i]] + ")";
    const Function& region = *op.regions.at(0);
    const bool is_short = n == 1 && is_short_reducer(region);
    if (is_short) out_ += " applies stablehlo." + std::string(ir::name(region.ops()[0].code));
    out_ += " across dimensions = " + list_text(op.get<DimsAttr>().dims) + " : " + functional(function, op);
    if (is_short) return;
    const Names inner = parameter_names(region);
    line();
    out_ += " reducer";
    for (std::size_t i = 0; i < n; ++i) {
        const auto element = static_cast<ValueId>(n + i);
        out_ += "(" + inner[i] + ": " + region.type(static_cast<ValueId>(i)).text() + ", " + inner[element] + ": " +
                region.type(element).text() + ") ";
    }
    out_ += "{";
    print_region(region, inner, "stablehlo.return");
}

void Printer::print_while(const Function& function, const Op& op, const Names& names) {
    const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
    Names inner;
    for (std::size_t i = 0; i < invariants; ++i) inner.push_back(names[op.operands[i]]);
    out_ += "stablehlo.while(";
    for (std::size_t i = invariants; i < op.operands.size(); ++i) {
        inner.push_back("%arg" + std::to_string(next_parameter_++));
        out_ += (i != invariants ? ", " : "") + inner.back() + " = " + names[op.operands[i]];
    }
    out_ += ")";
    if (op.result_count != 0) out_ += " : " + result_types(function, op, false);
    if (const std::string order = captures(op, names); !order.empty()) out_ += " attributes {" + order + "}";
    line();
    out_ += " cond {";
    print_region(*op.regions.at(0), inner, "stablehlo.return");
    out_ += " do {";
    print_region(*op.regions.at(1), inner, "stablehlo.return");
}

/// Generic form: case and if, whose regions name what they use; scatter, whose region has parameters of its own.
void Printer::print_regions(const Function& function, const Op& op, const Names& names) {
    const bool is_scatter = op.code == OpCode::scatter;
    out_ += "\"stablehlo." + std::string(ir::name(op.code)) + "\"(" + (is_scatter ? operands(op, names) : names[op.operands.at(0)]) + ") ";
    if (is_scatter) out_ += scatter_text(op.get<ScatterAttr>());
    for (std::size_t r = 0; r < op.regions.size(); ++r) {
        const Function& region = *op.regions[r];
        out_ += r == 0 ? "({" : ", {";
        Names inner;
        if (is_scatter) {
            inner = parameter_names(region);
            line();
            out_ += "^bb0(";
            for (std::size_t i = 0; i < region.parameter_count(); ++i)
                out_ += (i != 0 ? ", " : "") + inner[i] + ": " + region.type(static_cast<ValueId>(i)).text();
            out_ += "):";
        } else {
            for (std::size_t i = 1; i < op.operands.size(); ++i) inner.push_back(names[op.operands[i]]);
        }
        print_region(region, std::move(inner), "stablehlo.return");
    }
    out_ += ") ";
    if (is_scatter) {
        out_ += ": " + functional(function, op);
        return;
    }
    if (const std::string order = captures(op, names); !order.empty()) out_ += "{" + order + "} ";
    out_ += ": (" + function.type(op.operands[0]).text() + ") -> " + result_types(function, op, op.result_count != 1);
}

void Printer::print_loop(const Function& function, const Op& op, const Names& names) {
    const auto& a = op.get<LoopAttr>();
    const Function& region = *op.regions.at(0);
    const Names inner = parameter_names(region);
    std::size_t operand = a.length < 0 ? 1 : 0, parameter = 1;
    out_ += "stithy.loop length = " + (a.length < 0 ? names[op.operands.at(0)] : std::to_string(a.length));
    out_ += std::string(a.reverse ? " reverse" : "") + " counter(" + inner.at(0) + ")";
    auto group = [&](std::string_view key, std::int64_t count) {
        if (count == 0) return;
        out_ += " " + std::string(key) + "(";
        for (std::int64_t i = 0; i < count; ++i, ++operand, ++parameter)
            out_ += (i != 0 ? ", " : "") + inner.at(parameter) + " = " + names[op.operands.at(operand)] + " : " +
                    function.type(op.operands[operand]).text() + (region.is_linear(parameter) ? " {stithy.linear}" : "");
        out_ += ")";
    };
    group("invariants", a.invariants);
    group("carries", a.carries);
    group("accumulators", a.accumulators);
    group("xs", a.xs);
    out_ += " -> " + result_types(function, op, true) + " {";
    print_region(region, inner, "stithy.yield");
}

} // namespace stithy::ir::text
