#include "ir/text/dense.hpp"
#include "ir/text/parser.hpp"

#include <charconv>

namespace stithy::ir::text {

namespace {
/// The attributes whose inside is `key = value` and that are read; of all others only the words are kept.
bool has_fields(std::string_view name) { return name == "stablehlo.gather" || name == "stablehlo.scatter" || name == "stablehlo.dot"; }
} // namespace

Attribute Parser::parse_attribute(bool typed) {
    const Nesting nesting(*this);
    Attribute a;
    const char c = r_.peek();
    a.at = r_.at();
    if (c == '"') {
        a.kind = Attribute::string;
        a.text = r_.string();
        if (typed && r_.accept(":")) skip_type();
    } else if (c == '@') {
        a.kind = Attribute::symbol;
        a.text = r_.symbol();
        while (r_.accept("::")) a.text += "::" + r_.symbol();
    } else if (c == '[') {
        a.kind = Attribute::list;
        r_.expect("[");
        if (!r_.accept("]")) {
            do a.items.push_back(parse_attribute(typed));
            while (r_.accept(","));
            r_.expect("]");
        }
    } else if (c == '{') {
        a.kind = Attribute::fields;
        r_.expect("{");
        a.dictionary = parse_fields("}");
    } else if (r_.at_number()) {
        parse_number(a, typed);
    } else if (c == '#') {
        parse_hash(a);
    } else if (c == '(' || c == '!') {
        a.kind = Attribute::word;
        skip_type();
    } else if (c == '<') {
        a.kind = Attribute::word;
        r_.skip_group();
    } else if (c == '?') {
        a.kind = Attribute::word;
        r_.expect("?");
    } else {
        const std::string_view word = r_.expect_name("an attribute");
        if (word == "true" || word == "false") {
            a.kind = Attribute::boolean;
            a.number = word == "true";
            if (typed && r_.accept(":")) skip_type();
        } else if (word == "dense" && r_.looks_at("<")) {
            parse_dense(a);
        } else if (word == "dense_resource" && r_.looks_at("<")) {
            r_.not_supported("dense_resource: the numbers of this constant are not in the text", a.at);
        } else if (word == "array" && r_.looks_at("<")) {
            parse_array(a);
        } else {
            a.kind = Attribute::word;
            a.text = word;
            if (r_.looks_at("<") || (word == "loc" && r_.looks_at("("))) r_.skip_group();
        }
    }
    a.raw = r_.since(a.at);
    return a;
}

void Parser::parse_number(Attribute& a, bool typed) {
    const std::string_view number = r_.number();
    const bool hex = number.find('x') != std::string_view::npos;
    a.kind = !hex && number.find_first_of(".eE") != std::string_view::npos ? Attribute::real : Attribute::integer;
    const bool negative = number.starts_with('-');
    std::string_view digits = number.substr(number.starts_with('-') || number.starts_with('+') ? 1 : 0);
    if (a.kind == Attribute::integer) {
        std::uint64_t magnitude = 0;
        const std::string_view plain = hex ? digits.substr(2) : digits;
        auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), magnitude, hex ? 16 : 10);
        if (error != std::errc() || end != plain.data() + plain.size()) r_.fail("not an integer of 64 bits: " + std::string(number), a.at);
        a.number = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
        a.real_number = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    } else {
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), a.real_number);
        if (end != digits.data() + digits.size()) r_.fail("not a number: " + std::string(number), a.at);
        if (negative) a.real_number = -a.real_number;
    }
    if (typed && r_.accept(":")) skip_type();
}

/// `#alias`, `#dialect<mnemonic VALUE>`, `#dialect.name<...>`.
void Parser::parse_hash(Attribute& a) {
    r_.expect("#");
    const std::string name(r_.word());
    if (name.empty()) r_.fail("expected a name after '#'");
    if (!r_.looks_at("<")) {
        const auto alias = aliases_.find(name);
        if (alias != aliases_.end()) {
            const std::size_t at = a.at;
            a = alias->second;
            a.at = at;
        } else {
            a.kind = Attribute::word;
            a.text = name;
        }
        return;
    }
    if (has_fields(name)) {
        a.kind = Attribute::fields;
        a.text = name;
        r_.expect("<");
        a.dictionary = parse_fields(">");
        return;
    }
    a.kind = Attribute::word;
    const std::size_t open = r_.at();
    r_.skip_group();
    std::string_view inside = r_.text().substr(open + 1, r_.at() - open - 2);
    while (!inside.empty() && inside.back() == ' ') inside.remove_suffix(1);
    const std::size_t blank = inside.find_last_of(' ');
    a.text = blank == std::string_view::npos ? inside : inside.substr(blank + 1);
}

void Parser::parse_dense(Attribute& a) {
    a.kind = Attribute::dense;
    r_.expect("<");
    const std::string_view text = r_.text();
    const std::size_t begin = r_.at();
    std::size_t end = begin;
    while (end < text.size() && text[end] != '>') {
        if (text[end] == '"') end = text.find('"', end + 1);
        if (end == std::string_view::npos) r_.fail("string without an end", begin);
        ++end;
    }
    r_.go_to(std::min(end, text.size()));
    r_.expect(">");
    r_.expect(":");
    r_.skip_space();
    const std::size_t type_at = r_.at();
    const Type type = parse_type(true);
    if (!type.is_tensor()) r_.fail("a dense constant needs a tensor type", type_at);
    a.literal = decode_dense(r_, begin, end, type);
}

/// `array<i64: 1, 2>` as a list.
void Parser::parse_array(Attribute& a) {
    a.kind = Attribute::list;
    r_.expect("<");
    (void)r_.expect_name("an element type");
    if (r_.accept(":")) {
        do a.items.push_back(parse_attribute(false));
        while (r_.accept(","));
    }
    r_.expect(">");
}

/// `key = value, key, "quoted key" = value` up to the closing bracket; commas may be missing in struct attributes.
Dictionary Parser::parse_fields(std::string_view close) {
    Dictionary fields;
    while (!r_.accept(close)) {
        std::string key = r_.peek() == '"' ? r_.string() : std::string(r_.expect_name("an attribute's name"));
        Attribute value;
        value.at = r_.at();
        if (r_.accept("=")) value = parse_attribute();
        fields.emplace_back(std::move(key), std::move(value));
        if (!r_.accept(",") && close == "}") {
            r_.expect(close);
            break;
        }
    }
    return fields;
}

void Parser::parse_dictionary(Dictionary& into) {
    r_.expect("{");
    for (auto& field : parse_fields("}")) into.push_back(std::move(field));
}

} // namespace stithy::ir::text
