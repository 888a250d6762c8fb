#include "ir/text/parser.hpp"

namespace stithy::ir::text {

/// `(%x init: %c), (%i init: %z) applies stablehlo.add across dimensions = [0] : types reducer(%a: E, %c: E) (...) {...}`.
void Parser::parse_reduce(SyntaxOp& op) {
    std::vector<ValueNumber> initial;
    do {
        r_.expect("(");
        op.operands.push_back(use());
        r_.expect_word("init");
        r_.expect(":");
        initial.push_back(use());
        r_.expect(")");
    } while (r_.accept(","));
    op.operands.insert(op.operands.end(), initial.begin(), initial.end());
    std::string combine;
    r_.skip_space();
    if (r_.accept_word("applies")) combine = r_.expect_name("an operation");
    r_.expect_word("across");
    r_.expect_word("dimensions");
    r_.expect("=");
    op.attributes.emplace_back("dimensions", parse_attribute(false));
    parse_optional_dictionary(op.attributes);
    parse_types_after_colon(op);
    if (!combine.empty())
        parse_short_reducer(op, combine);
    else
        parse_reducer(op);
}

/// The region that `applies stablehlo.add` stands for.
void Parser::parse_short_reducer(SyntaxOp& op, std::string_view name) {
    if (!is_known_operation(name)) r_.not_supported(std::string(name), op.at);
    if (op.operands.size() != 2) r_.fail("`applies` needs one input", op.at);
    const auto code = opcode_of(name);
    if (!code || !is_binary_elementwise(*code)) r_.fail("`applies` needs an operation of two operands", op.at);
    const Type element(type_of(op.operands[0]).dtype(), {});
    SyntaxRegion region;
    open_region(region, true);
    region.parameter_types = {element, element};
    SyntaxOp inner;
    inner.name = name;
    inner.at = op.at;
    inner.operands = {new_value(element), new_value(element)};
    inner.result_types = {element};
    inner.first_result = new_value(element);
    region.results = {inner.first_result};
    region.ops.push_back(std::move(inner));
    close_region();
    op.regions.push_back(std::move(region));
}

/// `reducer(%a: E, %c: E) (%b: F, %d: F) {...}`: one group per input; the block takes the first of every group, then the second.
void Parser::parse_reducer(SyntaxOp& op) {
    r_.expect_word("reducer");
    SyntaxRegion region;
    scopes_.emplace_back();
    open_region(region, true);
    struct Parameter {
        std::string_view name;
        std::size_t at;
        Type type;
    };
    std::vector<Parameter> firsts, seconds;
    auto parameter = [&] {
        r_.skip_space();
        Parameter p{{}, r_.at(), {}};
        p.name = r_.value_name();
        r_.expect(":");
        p.type = parse_type();
        r_.skip_location();
        return p;
    };
    while (r_.accept("(")) {
        firsts.push_back(parameter());
        r_.expect(",");
        seconds.push_back(parameter());
        r_.expect(")");
    }
    firsts.insert(firsts.end(), seconds.begin(), seconds.end());
    for (const Parameter& p : firsts) {
        define(p.name, 1, new_value(p.type), p.at);
        region.parameter_types.push_back(p.type);
    }
    r_.expect("{");
    parse_body(region);
    close_region();
    scopes_.pop_back();
    op.regions.push_back(std::move(region));
}

/// `(%it = %a, ...) : types attributes {...} cond {...} do {...}`: both regions take the same names.
void Parser::parse_while(SyntaxOp& op) {
    std::vector<std::pair<std::string_view, std::size_t>> names;
    r_.expect("(");
    if (!r_.accept(")")) {
        do {
            r_.skip_space();
            const std::size_t at = r_.at();
            names.emplace_back(r_.value_name(), at);
            r_.expect("=");
            op.operands.push_back(use());
        } while (r_.accept(","));
        r_.expect(")");
    }
    if (r_.accept(":")) {
        TypeList types = parse_type_list();
        check_operands(op, types.operands);
        op.result_types = std::move(types.operands);
    }
    if (r_.accept_word("attributes")) parse_dictionary(op.attributes);
    for (std::string_view word : {"cond", "do"}) {
        r_.expect_word(word);
        r_.expect("{");
        SyntaxRegion region;
        scopes_.emplace_back();
        open_region(region, false);
        region.parameter_types = op.result_types;
        for (std::size_t i = 0; i < names.size(); ++i) define(names[i].first, 1, new_value(op.result_types[i]), names[i].second);
        parse_body(region);
        close_region();
        scopes_.pop_back();
        op.regions.push_back(std::move(region));
    }
    parse_captures(op);
}

/// `length = 10 reverse invariants(%a = %x : T) carries(...) accumulators(...) xs(...) -> (results) {... stithy.yield ...}`; `length = %n`
/// counts at run time. The region sees nothing but its parameters: first the counter, named in `counter(%i)`.
void Parser::parse_loop(SyntaxOp& op) {
    auto set = [&](std::string_view key, std::int64_t value) {
        Attribute a;
        a.kind = Attribute::integer;
        a.number = value;
        op.attributes.emplace_back(key, std::move(a));
    };
    r_.expect_word("length");
    r_.expect("=");
    if (r_.peek() == '%') {
        op.operands.push_back(use());
        set("length", -1);
    } else {
        const std::int64_t length = r_.integer();
        if (length < 0) r_.fail("a loop of negative length");
        set("length", length);
    }
    set("reverse", r_.accept_word("reverse") ? 1 : 0);
    // Parameters are read where only the outer scope is open, and defined once the region's own scope stands.
    SyntaxRegion region;
    r_.expect_word("counter");
    r_.expect("(");
    r_.skip_space();
    const std::size_t counter_at = r_.at();
    const std::string_view counter = r_.value_name();
    r_.expect(")");
    loop_names_ = {{counter, counter_at}};
    region.parameter_types = {Type(i64, {})};
    region.linear = {false};
    for (std::string_view key : {"invariants", "carries", "accumulators", "xs"}) {
        const std::size_t before = op.operands.size();
        if (r_.accept_word(key)) parse_loop_group(op, key, region);
        set(key, static_cast<std::int64_t>(op.operands.size() - before));
    }
    if (r_.accept("->")) op.result_types = parse_type_group();
    r_.expect("{");
    std::vector<Scope> outside;
    outside.swap(scopes_);
    scopes_.emplace_back();
    open_region(region, false);
    const auto names = loop_names_;
    for (std::size_t i = 0; i < names.size(); ++i) define(names[i].first, 1, new_value(region.parameter_types[i]), names[i].second);
    parse_body(region);
    close_region();
    scopes_.swap(outside);
    op.regions.push_back(std::move(region));
}

/// `(%a = %x : T {stithy.linear}, ...)`; of xs the region takes slices.
void Parser::parse_loop_group(SyntaxOp& op, std::string_view key, SyntaxRegion& region) {
    r_.expect("(");
    if (r_.accept(")")) return;
    do {
        r_.skip_space();
        const std::size_t at = r_.at();
        loop_names_.emplace_back(r_.value_name(), at);
        r_.expect("=");
        op.operands.push_back(use());
        r_.expect(":");
        Type type = parse_type();
        if (!(type == type_of(op.operands.back())))
            r_.fail("%" + std::string(loop_names_.back().first) + " starts as " + type_of(op.operands.back()).text() + ", written as " +
                        type.text(),
                    at);
        if (key == "xs") {
            if (!type.is_tensor() || type.rank() == 0) r_.fail("xs of a loop need a leading axis", at);
            Shape shape = type.shape();
            shape.dims().erase(0);
            type = Type(type.dtype(), shape);
        }
        region.parameter_types.push_back(type);
        Dictionary attributes;
        parse_optional_dictionary(attributes);
        region.linear.push_back(!attributes.empty() && attributes.front().first == "stithy.linear");
    } while (r_.accept(","));
    r_.expect(")");
}

} // namespace stithy::ir::text
