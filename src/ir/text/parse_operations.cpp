#include "ir/text/parser.hpp"

#include <algorithm>
#include <array>

namespace stithy::ir::text {

namespace {
/// Operations without an OpCode of their own that are built from others.
constexpr std::array composed = {"check.expect_almost_eq",
                                 "check.expect_almost_eq_const",
                                 "check.expect_close",
                                 "check.expect_eq",
                                 "check.expect_eq_const",
                                 "chlo.acos",
                                 "chlo.acosh",
                                 "chlo.asin",
                                 "chlo.asinh",
                                 "chlo.atan",
                                 "chlo.atanh",
                                 "chlo.cosh",
                                 "chlo.sinh",
                                 "chlo.square",
                                 "chlo.tan",
                                 "sdy.sharding_constraint",
                                 "stablehlo.composite",
                                 "stablehlo.dot",
                                 "stablehlo.dynamic_broadcast_in_dim",
                                 "stablehlo.dynamic_iota",
                                 "stablehlo.dynamic_reshape",
                                 "stablehlo.get_dimension_size"};

bool is_return(std::string_view name) {
    return name == "return" || name == "func.return" || name == "stablehlo.return" || name == "sdy.return" || name == "stithy.yield";
}
} // namespace

bool is_known_operation(std::string_view name) {
    if (name == "func.call" || std::find(composed.begin(), composed.end(), name) != composed.end()) return true;
    const auto code = opcode_of(name);
    return code && (name.starts_with("stablehlo.") ? !name.starts_with("stablehlo.stithy.") : name.starts_with("stithy."));
}

std::size_t Parser::Results::count() const {
    std::size_t n = 0;
    for (const auto& [name, values] : names) n += values;
    return n;
}

Parser::Results Parser::parse_results() {
    Results results;
    r_.skip_space();
    results.at = r_.at();
    if (r_.peek() != '%') return results;
    do {
        const std::string_view name = r_.value_name();
        std::int64_t count = 1;
        if (r_.accept(":")) {
            count = r_.integer();
            if (count < 1 || count > 1'000'000) r_.fail("a pack of " + std::to_string(count) + " values");
        }
        results.names.emplace_back(name, static_cast<std::uint32_t>(count));
    } while (r_.accept(","));
    r_.expect("=");
    return results;
}

bool Parser::parse_operation(SyntaxRegion& region) {
    const Results results = parse_results();
    SyntaxOp op;
    const bool generic = r_.peek() == '"';
    op.at = r_.at();
    if (r_.peek() == '}' || r_.peek() == '^') {
        if (results.names.empty()) r_.fail("expected an operation or a terminator, found " + r_.found());
    }
    op.name = generic ? r_.string() : std::string(r_.expect_name("an operation"));
    if (is_return(op.name)) {
        if (!results.names.empty()) r_.fail(op.name + " has no results", op.at);
        parse_terminator(region, generic);
        return false;
    }
    if (op.name == "call") op.name = "func.call";
    if (!is_known_operation(op.name)) {
        if (op.name.find('.') == std::string::npos) r_.fail("unknown operation '" + op.name + "'", op.at);
        r_.not_supported(op.name, op.at);
    }
    if (generic)
        parse_generic(op);
    else
        parse_pretty(op);
    r_.skip_location();
    finish_operation(region, std::move(op), results);
    return true;
}

void Parser::finish_operation(SyntaxRegion& region, SyntaxOp op, const Results& results) {
    if (results.count() != op.result_types.size() && !(results.names.empty() && !op.result_types.empty()))
        r_.fail(op.name + " has " + std::to_string(op.result_types.size()) + " results, " + std::to_string(results.count()) + " are named",
                results.at);
    op.first_result = static_cast<ValueNumber>(function_->value_types.size());
    ValueNumber next = op.first_result;
    for (const auto& [name, count] : results.names) {
        define(name, count, next, results.at);
        next += count;
    }
    for (const Type& type : op.result_types) new_value(type);
    if (const Attribute* value = op.name == "stablehlo.constant" ? op.find("value") : nullptr)
        function_->constants.emplace(op.first_result, value->literal);
    region.ops.push_back(std::move(op));
}

void Parser::parse_terminator(SyntaxRegion& region, bool generic) {
    if (generic) {
        r_.expect("(");
        if (!r_.accept(")")) {
            do region.results.push_back(use());
            while (r_.accept(","));
            r_.expect(")");
        }
    } else if (r_.peek() == '%') {
        do region.results.push_back(use());
        while (r_.accept(","));
    }
    Dictionary attributes;
    parse_optional_dictionary(attributes);
    if (r_.accept(":")) {
        const TypeList types = parse_type_list();
        if (types.operands.size() != region.results.size()) r_.fail("the number of types does not fit the number of values");
        for (std::size_t i = 0; i < types.operands.size(); ++i)
            if (!(type_of(region.results[i]) == types.operands[i]))
                r_.fail("returned value " + std::to_string(i) + " is " + type_of(region.results[i]).text() + ", written as " +
                        types.operands[i].text());
    }
    r_.skip_location();
}

/// `"name"(%a, %b) <{properties}> ({region}, {region}) {attributes} : (T, U) -> V`.
void Parser::parse_generic(SyntaxOp& op) {
    r_.expect("(");
    if (!r_.accept(")")) {
        do op.operands.push_back(use());
        while (r_.accept(","));
        r_.expect(")");
    }
    if (r_.peek() == '[') r_.not_supported("branches between blocks", r_.at());
    if (r_.accept("<")) {
        parse_dictionary(op.attributes);
        r_.expect(">");
    }
    if (r_.accept("(")) {
        const bool reducer = op.name == "stablehlo.reduce" || op.name == "stablehlo.scatter";
        do op.regions.push_back(parse_region(reducer));
        while (r_.accept(","));
        r_.expect(")");
    }
    parse_optional_dictionary(op.attributes);
    r_.expect(":");
    set_types(op, parse_type_list());
    parse_captures(op);
}

SyntaxRegion Parser::parse_region(bool copies_constants) {
    const Nesting nesting(*this);
    SyntaxRegion region;
    r_.expect("{");
    scopes_.emplace_back();
    open_region(region, copies_constants);
    if (r_.accept("^")) {
        (void)r_.expect_name("a block's name");
        if (r_.accept("(")) {
            if (!r_.accept(")")) {
                do {
                    r_.skip_space();
                    const std::size_t at = r_.at();
                    const std::string_view name = r_.value_name();
                    r_.expect(":");
                    region.parameter_types.push_back(parse_type());
                    r_.skip_location();
                    define(name, 1, new_value(region.parameter_types.back()), at);
                } while (r_.accept(","));
                r_.expect(")");
            }
        }
        r_.expect(":");
    }
    parse_body(region);
    close_region();
    scopes_.pop_back();
    return region;
}

/// stithy.captures = "%a, %b": the order in which the regions' outside values become operands, and those that no region uses.
void Parser::parse_captures(SyntaxOp& op) {
    const Attribute* written = op.find("stithy.captures");
    if (written == nullptr) return;
    op.has_captures = true;
    Reader names(written->text, "stithy.captures");
    if (names.peek() == '\0') return;
    do {
        ValueNumber value = 0;
        try {
            value = lookup(names);
        } catch (const Error& e) {
            r_.fail(e.what(), written->at);
        }
        if (std::find(op.captures.begin(), op.captures.end(), value) != op.captures.end()) continue;
        op.captures.push_back(value);
        note_use(value);
    } while (names.accept(","));
}

void Parser::check_operands(const SyntaxOp& op, std::span<const Type> types) {
    if (types.size() != op.operands.size())
        r_.fail(op.name + " has " + std::to_string(op.operands.size()) + " operands, its type has " + std::to_string(types.size()), op.at);
    for (std::size_t i = 0; i < types.size(); ++i)
        if (!(type_of(op.operands[i]) == types[i]))
            r_.fail("operand " + std::to_string(i) + " of " + op.name + " is " + type_of(op.operands[i]).text() + ", written as " +
                        types[i].text(),
                    op.at);
}

/// Checks the operands' types and takes the results' from what stands after the colon.
void Parser::set_types(SyntaxOp& op, TypeList types) {
    if (types.functional) {
        if (op.name != "stablehlo.constant") check_operands(op, types.operands);
        op.result_types = std::move(types.results);
        return;
    }
    std::vector<Type>& written = types.operands;
    if (op.name == "stablehlo.select" && written.size() == 2) {
        written.insert(written.begin() + 1, written.back());
        check_operands(op, written);
        op.result_types = {written.back()};
        return;
    }
    if (op.name != "stablehlo.tuple") {
        if (written.size() == 1)
            check_operands(op, std::vector<Type>(op.operands.size(), written.front()));
        else
            check_operands(op, written);
    }
    if (!op.name.starts_with("check.")) op.result_types = std::move(written);
}

void Parser::parse_types_after_colon(SyntaxOp& op) {
    r_.expect(":");
    set_types(op, parse_type_list());
}

} // namespace stithy::ir::text
