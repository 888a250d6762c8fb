#include "ir/text/printer.hpp"

#include "ir/text/text.hpp"

#include <algorithm>

namespace stithy::ir::text {

std::string list_text(const Dims& dims) {
    std::string text = "[";
    for (std::size_t i = 0; i < dims.size(); ++i) text += (i != 0 ? ", " : "") + std::to_string(dims[i]);
    return text + "]";
}

std::string quoted(std::string_view text) {
    static constexpr char digit[] = "0123456789ABCDEF";
    std::string result = "\"";
    for (char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || u < 32 || u > 126)
            (result += '\\', result += digit[u >> 4]) += digit[u & 15];
        else
            result += c;
    }
    return result + "\"";
}

std::string symbol_text(std::string_view name) {
    auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
    };
    const bool bare = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), plain);
    return "@" + (bare ? std::string(name) : quoted(name));
}

/// Each function gets a name of its own; a new one is put on the list of what is to be printed.
const std::string& Printer::name_of(const Function& function) {
    const auto found = function_names_.find(&function);
    if (found != function_names_.end()) return found->second;
    std::string name = function.name().empty() ? "f" : function.name();
    while (taken_names_.contains(name)) name = function.name() + "_" + std::to_string(++taken_names_[function.name()]);
    taken_names_.emplace(name, 0);
    waiting_.push_back(&function);
    return function_names_.emplace(&function, std::move(name)).first->second;
}

std::string Printer::print(std::string_view module_name, std::span<const Function* const> functions) {
    out_ = module_name.empty() ? "module {" : "module " + symbol_text(module_name) + " {";
    for (const Function* f : functions) (void)name_of(*f);
    for (std::size_t i = 0; i < waiting_.size(); ++i) print_function(*waiting_[i], i < functions.size());
    return std::move(out_) + "\n}\n";
}

void Printer::print_function(const Function& function, bool is_public) {
    next_value_ = next_parameter_ = 0;
    indent_ = 1;
    line();
    out_ += std::string("func.func ") + (is_public ? "public " : "private ") + symbol_text(name_of(function)) + "(";
    Names names(function.value_count());
    for (std::size_t i = 0; i < function.parameter_count(); ++i) {
        names[i] = "%arg" + std::to_string(next_parameter_++);
        out_ += (i != 0 ? ", " : "") + names[i] + ": " + function.type(static_cast<ValueId>(i)).text() +
                (function.is_linear(i) ? " {stithy.linear}" : "");
    }
    out_ += ")";
    if (function.results().size() == 1)
        out_ += " -> " + types(function, function.results());
    else if (!function.results().empty())
        out_ += " -> (" + types(function, function.results()) + ")";
    out_ += " {";
    ++indent_;
    print_ops(function, names);
    line();
    out_ += "return";
    if (!function.results().empty()) out_ += " " + values(function.results(), names) + " : " + types(function, function.results());
    --indent_;
    line();
    out_ += "}";
}

void Printer::print_ops(const Function& function, Names& names) {
    for (const Op& op : function.ops()) {
        line();
        print_op(function, op, names);
    }
}

void Printer::name_results(const Op& op, Names& names) {
    if (op.result_count == 0) return;
    const std::string name = "%" + std::to_string(next_value_++);
    out_ += name;
    if (op.result_count > 1) out_ += ":" + std::to_string(op.result_count);
    out_ += " = ";
    for (std::uint32_t r = 0; r < op.result_count; ++r) names[op.result(r)] = op.result_count > 1 ? name + "#" + std::to_string(r) : name;
}

void Printer::print_op(const Function& function, const Op& op, Names& names) {
    name_results(op, names);
    switch (op.code) {
    case OpCode::reduce: return print_reduce(function, op, names);
    case OpCode::while_: return print_while(function, op, names);
    case OpCode::case_:
    case OpCode::if_:
    case OpCode::scatter: return print_regions(function, op, names);
    case OpCode::loop: return print_loop(function, op, names);
    case OpCode::custom_call: return print_custom_call(function, op, names);
    case OpCode::call:
        out_ += "call " + symbol_text(name_of(*op.regions.at(0))) + "(" + operands(op, names) + ") : " + functional(function, op);
        return;
    case OpCode::gather:
    case OpCode::accumulator_zeros:
    case OpCode::accumulator_add:
    case OpCode::accumulator_add_at:
    case OpCode::accumulator_scatter_add:
    case OpCode::freeze:
    case OpCode::stack_empty:
    case OpCode::stack_push:
    case OpCode::stack_pop: return print_generic(function, op, names);
    default: return print_plain(function, op, names);
    }
}

std::string Printer::values(std::span<const ValueId> ids, const Names& names) const {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) text += (i != 0 ? ", " : "") + names[ids[i]];
    return text;
}

std::string Printer::operands(const Op& op, const Names& names, std::size_t first) const {
    return values(std::span(op.operands).subspan(first), names);
}

std::string Printer::types(const Function& function, std::span<const ValueId> ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) text += (i != 0 ? ", " : "") + function.type(ids[i]).text();
    return text;
}

std::string Printer::result_types(const Function& function, const Op& op, bool parentheses) {
    std::vector<ValueId> ids;
    for (std::uint32_t r = 0; r < op.result_count; ++r) ids.push_back(op.result(r));
    return parentheses ? "(" + types(function, ids) + ")" : types(function, ids);
}

std::string Printer::functional(const Function& function, const Op& op) {
    return "(" + types(function, op.operands) + ") -> " + result_types(function, op, op.result_count != 1);
}

} // namespace stithy::ir::text

namespace stithy::ir {

std::string print(const Function& function) {
    const Function* one = &function;
    return text::Printer().print("", std::span(&one, 1));
}

std::string print_module(std::string_view name, std::span<const FunctionPtr> functions) {
    std::vector<const Function*> all;
    for (const FunctionPtr& f : functions) all.push_back(f.get());
    return text::Printer().print(name, all);
}

} // namespace stithy::ir
