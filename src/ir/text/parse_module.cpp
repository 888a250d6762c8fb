#include "ir/text/parser.hpp"

namespace stithy::ir::text {

SyntaxModule Parser::parse_module() {
    SyntaxModule module;
    parse_top_level(module, false);
    return module;
}

/// Functions, aliases and what else stands beside them; `inside` the braces of a module.
void Parser::parse_top_level(SyntaxModule& module, bool inside) {
    const Nesting nesting(*this);
    for (;;) {
        const char c = r_.peek();
        const std::size_t at = r_.at();
        if (c == '\0' && at >= r_.text().size()) {
            if (inside) r_.fail("expected '}' at the end of the module, found the end of the text");
            return;
        }
        if (inside && r_.accept("}")) return;
        if (c == '#') {
            r_.expect("#");
            const std::string name(r_.word());
            r_.expect("=");
            Attribute value = parse_attribute();
            aliases_.insert_or_assign(name, std::move(value));
        } else if (r_.looks_at("{-#")) {
            r_.skip_group();
        } else if (r_.accept_word("module") || r_.accept_word("builtin.module")) {
            parse_module_header(module);
        } else if (r_.accept_word("func.func")) {
            parse_function(module);
        } else if (r_.accept_word("sdy.mesh")) {
            (void)r_.symbol();
            r_.expect("=");
            r_.skip_group();
            if (r_.peek() == '{') r_.skip_group();
        } else {
            const std::string_view word = r_.peek() == '"' ? "" : r_.word();
            if (word.find('.') != std::string_view::npos) r_.not_supported(std::string(word) + " at the top level", at);
            r_.go_to(at);
            r_.fail("expected a module or a function, found " + r_.found());
        }
        r_.skip_location();
    }
}

void Parser::parse_module_header(SyntaxModule& module) {
    if (r_.peek() == '@') module.name = r_.symbol();
    if (r_.accept_word("attributes")) {
        Dictionary attributes;
        parse_dictionary(attributes);
        for (const auto& [key, value] : attributes)
            if ((key == "mhlo.num_partitions" || key == "mhlo.num_replicas") && value.number > 1)
                r_.not_supported("programs for several devices (" + key + " = " + std::to_string(value.number) + ")", value.at);
    }
    r_.expect("{");
    parse_top_level(module, true);
}

void Parser::parse_function(SyntaxModule& module) {
    SyntaxFunction& function = module.functions.emplace_back();
    function_ = &function;
    scopes_.assign(1, {});
    r_.skip_space();
    function.at = r_.at();
    if (r_.accept_word("private") || r_.accept_word("nested"))
        function.is_public = false;
    else
        (void)r_.accept_word("public");
    function.name = r_.symbol();
    open_region(function.body, false);
    parse_function_parameters(function);
    if (r_.accept("->")) parse_function_results(function);
    Dictionary attributes;
    if (r_.accept_word("attributes")) parse_dictionary(attributes);
    if (r_.peek() == '{') {
        function.has_body = true;
        r_.expect("{");
        parse_body(function.body);
        if (function.body.results.size() != function.result_types.size())
            r_.fail("@" + function.name + " returns " + std::to_string(function.body.results.size()) + " values, its type says " +
                        std::to_string(function.result_types.size()),
                    function.at);
        for (std::size_t i = 0; i < function.result_types.size(); ++i)
            if (!(type_of(function.body.results[i]) == function.result_types[i]))
                r_.fail("result " + std::to_string(i) + " of @" + function.name + " is " + type_of(function.body.results[i]).text() +
                            ", its type says " + function.result_types[i].text(),
                        function.at);
    }
    close_region();
    function_ = nullptr;
}

void Parser::parse_function_parameters(SyntaxFunction& function) {
    r_.expect("(");
    if (r_.accept(")")) return;
    do {
        r_.skip_space();
        const std::size_t at = r_.at();
        std::string_view name;
        if (r_.peek() == '%') { // declarations may leave the names out
            name = r_.value_name();
            r_.expect(":");
        }
        const Type type = parse_type();
        Dictionary attributes;
        parse_optional_dictionary(attributes);
        r_.skip_location();
        const ValueNumber parameter = new_value(type);
        if (!name.empty()) define(name, 1, parameter, at);
        function.body.parameter_types.push_back(type);
        function.body.linear.push_back(false);
        for (const auto& [key, value] : attributes)
            if (key == "stithy.linear") function.body.linear.back() = true;
    } while (r_.accept(","));
    r_.expect(")");
}

void Parser::parse_function_results(SyntaxFunction& function) {
    Dictionary attributes;
    if (!r_.accept("(")) {
        function.result_types.push_back(parse_type());
        return;
    }
    if (r_.accept(")")) return;
    do {
        function.result_types.push_back(parse_type());
        parse_optional_dictionary(attributes);
    } while (r_.accept(","));
    r_.expect(")");
}

/// Names `count` values from `first` on.
void Parser::define(std::string_view name, std::uint32_t count, ValueNumber first, std::size_t at) {
    if (!scopes_.back().emplace(name, Entry{first, count}).second) r_.fail("%" + std::string(name) + " is defined twice", at);
}

ValueNumber Parser::new_value(const Type& type) {
    function_->value_types.push_back(type);
    return static_cast<ValueNumber>(function_->value_types.size() - 1);
}

/// `%x` or `%x#1`, as a value that is defined.
ValueNumber Parser::lookup(Reader& reader) {
    reader.skip_space();
    const std::size_t at = reader.at();
    const std::string_view name = reader.value_name();
    std::int64_t which = 0;
    if (reader.at() < reader.text().size() && reader.text()[reader.at()] == '#') {
        reader.expect("#");
        which = reader.integer();
    }
    for (std::size_t i = scopes_.size(); i-- > 0;) {
        const auto found = scopes_[i].find(name);
        if (found == scopes_[i].end()) continue;
        if (which < 0 || which >= static_cast<std::int64_t>(found->second.count))
            reader.fail("%" + std::string(name) + " has " + std::to_string(found->second.count) + " values, not a value #" +
                            std::to_string(which),
                        at);
        return found->second.first + static_cast<ValueNumber>(which);
    }
    reader.fail("undefined value %" + std::string(name), at);
}

ValueNumber Parser::use() {
    const ValueNumber value = lookup(r_);
    note_use(value);
    return value;
}

/// Regions between the use and the definition see the value as one from outside.
void Parser::note_use(ValueNumber value) {
    for (std::size_t i = open_.size(); i-- > 0 && value < open_[i].region->first_value;) {
        if (!open_[i].seen.insert(value).second) return;
        open_[i].region->outer.push_back(value);
        if (open_[i].copies_constants && function_->constants.contains(value)) return;
    }
}

void Parser::open_region(SyntaxRegion& region, bool copies_constants) {
    r_.skip_space();
    region.at = r_.at();
    region.first_value = static_cast<ValueNumber>(function_->value_types.size());
    open_.push_back({&region, {}, copies_constants});
}

void Parser::close_region() { open_.pop_back(); }

/// Operations up to the terminator and the closing brace.
void Parser::parse_body(SyntaxRegion& region) {
    const Nesting nesting(*this);
    while (parse_operation(region)) {
    }
    if (r_.peek() == '^') r_.not_supported("regions of several blocks", r_.at());
    r_.expect("}");
}

} // namespace stithy::ir::text
