#include "ir/text/parser.hpp"

namespace stithy::ir::text {

namespace {
Attribute number_attribute(std::int64_t value) {
    Attribute a;
    a.kind = Attribute::integer;
    a.number = value;
    return a;
}
Attribute text_attribute(Attribute::Kind kind, std::string text) {
    Attribute a;
    a.kind = kind;
    a.text = std::move(text);
    return a;
}
} // namespace

void Parser::parse_pretty(SyntaxOp& op) {
    if (op.name == "stablehlo.constant")
        parse_constant(op);
    else if (op.name == "stablehlo.compare")
        parse_compare(op);
    else if (op.name == "stablehlo.slice")
        parse_slice(op);
    else if (op.name == "stablehlo.custom_call")
        parse_callee(op, "call_target_name");
    else if (op.name == "func.call")
        parse_callee(op, "callee");
    else if (op.name == "stablehlo.composite")
        parse_composite(op);
    else if (op.name == "stablehlo.get_tuple_element")
        parse_element(op);
    else if (op.name == "stablehlo.reduce")
        parse_reduce(op);
    else if (op.name == "stablehlo.while")
        parse_while(op);
    else if (op.name == "stithy.loop")
        parse_loop(op);
    else if (op.name.starts_with("check.") && op.name.ends_with("_const"))
        parse_check_constant(op);
    else
        parse_plain(op);
}

/// `%a, %b, key = value {attributes} : types`: what most operations are.
void Parser::parse_plain(SyntaxOp& op) {
    bool more = r_.peek() != ':' && r_.peek() != '{';
    while (more) {
        if (r_.peek() == '%')
            op.operands.push_back(use());
        else if (r_.peek() == '<')
            r_.skip_group(); // sdy.sharding_constraint %x <...>
        else
            parse_key_and_value(op);
        more = r_.accept(",") || r_.peek() == '<';
    }
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
    parse_optional_dictionary(op.attributes);
}

void Parser::parse_key_and_value(SyntaxOp& op) {
    std::string key(r_.expect_name("an operand or `name = value`"));
    r_.expect("=");
    Attribute value = parse_attribute(false);
    if (value.kind == Attribute::list && r_.accept_word("x")) { // batching_dims = [0] x [0]
        Attribute pair;
        pair.kind = Attribute::list;
        pair.at = value.at;
        pair.items.push_back(std::move(value));
        pair.items.push_back(parse_attribute(false));
        value = std::move(pair);
    }
    op.attributes.emplace_back(std::move(key), std::move(value));
}

/// `dense<...> : T`, or `() {value = dense<...> : T} : () -> T`.
void Parser::parse_constant(SyntaxOp& op) {
    if (r_.accept("(")) {
        r_.expect(")");
        if (r_.looks_at("<{")) {
            r_.expect("<");
            parse_dictionary(op.attributes);
            r_.expect(">");
        }
        parse_optional_dictionary(op.attributes);
        parse_types_after_colon(op);
        return;
    }
    parse_optional_dictionary(op.attributes);
    Attribute value = parse_attribute();
    if (value.kind != Attribute::dense) r_.fail("expected dense<...> : TYPE", value.at);
    op.result_types = {value.literal.type()};
    op.attributes.emplace_back("value", std::move(value));
}

/// `LT, %a, %b, FLOAT : types`.
void Parser::parse_compare(SyntaxOp& op) {
    op.attributes.emplace_back("comparison_direction",
                               text_attribute(Attribute::word, std::string(r_.expect_name("a direction of comparison"))));
    r_.expect(",");
    op.operands.push_back(use());
    r_.expect(",");
    op.operands.push_back(use());
    if (r_.accept(","))
        op.attributes.emplace_back("compare_type", text_attribute(Attribute::word, std::string(r_.expect_name("a kind of comparison"))));
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
}

/// `%x [0:10, 2:3, 0:10:2] : types`.
void Parser::parse_slice(SyntaxOp& op) {
    op.operands.push_back(use());
    Attribute start, limit, stride;
    start.kind = limit.kind = stride.kind = Attribute::list;
    r_.expect("[");
    if (!r_.accept("]")) {
        do {
            start.items.push_back(number_attribute(r_.integer()));
            r_.expect(":");
            limit.items.push_back(number_attribute(r_.integer()));
            stride.items.push_back(number_attribute(r_.accept(":") ? r_.integer() : 1));
        } while (r_.accept(","));
        r_.expect("]");
    }
    op.attributes.emplace_back("start_indices", std::move(start));
    op.attributes.emplace_back("limit_indices", std::move(limit));
    op.attributes.emplace_back("strides", std::move(stride));
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
}

/// `@name(%a, %b) {attributes} : types`.
void Parser::parse_callee(SyntaxOp& op, std::string_view key) {
    op.attributes.emplace_back(key, text_attribute(Attribute::string, r_.symbol()));
    r_.expect("(");
    if (!r_.accept(")")) {
        do op.operands.push_back(use());
        while (r_.accept(","));
        r_.expect(")");
    }
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
}

/// `"name" %a, %b (regions) {decomposition = @f, ...} : types`; its regions are for others.
void Parser::parse_composite(SyntaxOp& op) {
    op.attributes.emplace_back("name", text_attribute(Attribute::string, r_.string()));
    if (r_.peek() == '%') {
        do op.operands.push_back(use());
        while (r_.accept(","));
    }
    if (r_.peek() == '(') r_.skip_group();
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
}

/// `%t[1] : types`.
void Parser::parse_element(SyntaxOp& op) {
    op.operands.push_back(use());
    r_.expect("[");
    op.attributes.emplace_back("index", number_attribute(r_.integer()));
    r_.expect("]");
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
}

/// `%a, dense<...> : T, tolerance = t`: the type is the constant's.
void Parser::parse_check_constant(SyntaxOp& op) {
    op.operands.push_back(use());
    r_.expect(",");
    op.attributes.emplace_back("value", parse_attribute());
    while (r_.accept(",")) parse_key_and_value(op);
    parse_optional_dictionary(op.attributes);
    if (r_.accept(":")) (void)parse_type_list();
}

} // namespace stithy::ir::text
