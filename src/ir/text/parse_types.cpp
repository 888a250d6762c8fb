#include "ir/text/parser.hpp"

namespace stithy::ir::text {

DType Parser::parse_element_type(bool index_allowed) {
    r_.skip_space();
    const std::size_t at = r_.at();
    if (r_.peek() == '!') {
        r_.expect("!");
        r_.not_supported("type !" + std::string(r_.word()), at);
    }
    const std::string_view word = r_.expect_name("an element type");
    if (word == "i1") return boolean;
    static constexpr DType all[] = {i8, i16, i32, i64, f32, f64};
    for (DType d : all)
        if (word == d.name()) return d;
    static constexpr std::pair<std::string_view, DType> unsigned_types[] = {{"ui8", u8}, {"ui16", u16}, {"ui32", u32}, {"ui64", u64}};
    for (auto [name, d] : unsigned_types)
        if (word == name) return d;
    if (word == "index" && index_allowed) return i64;
    if (r_.looks_at("<")) r_.skip_group();
    r_.not_supported("type " + std::string(r_.since(at)), at);
}

/// `2x3x` before an element type, character by character: `0x4` is no hex number here.
Shape Parser::parse_extents(std::size_t at) {
    Shape shape;
    for (;;) {
        const char c = r_.peek();
        if (c == '?' || c == '*') r_.not_supported(c == '?' ? "dynamic shapes (an extent '?')" : "unranked tensors", at);
        if (c < '0' || c > '9') return shape;
        std::int64_t extent = 0;
        std::size_t i = r_.at();
        const std::string_view text = r_.text();
        for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
            if (__builtin_mul_overflow(extent, 10, &extent) || __builtin_add_overflow(extent, text[i] - '0', &extent))
                r_.fail("extent too large");
        r_.go_to(i);
        if (i >= text.size() || text[i] != 'x') r_.fail("expected 'x' after an extent");
        r_.go_to(i + 1);
        shape.dims().push_back(extent);
    }
}

Type Parser::parse_tensor(std::size_t at, bool index_allowed) {
    r_.expect("<");
    Shape shape = parse_extents(at);
    const DType dtype = parse_element_type(index_allowed);
    if (r_.accept(",")) { // an encoding (bounds of dynamic extents, layouts): says nothing about values
        (void)parse_attribute();
    }
    r_.expect(">");
    std::int64_t bytes = static_cast<std::int64_t>(dtype.size());
    for (std::int64_t e : shape)
        if (e != 0 && __builtin_mul_overflow(bytes, e, &bytes)) r_.fail("tensor too large", at);
    return {dtype, shape};
}

std::vector<Type> Parser::parse_type_group() {
    std::vector<Type> types;
    const std::string_view open = r_.accept("<") ? "<" : "(";
    if (open == "(") r_.expect("(");
    const std::string_view close = open == "<" ? ">" : ")";
    if (r_.accept(close)) return types;
    do types.push_back(parse_type());
    while (r_.accept(","));
    r_.expect(close);
    return types;
}

Type Parser::parse_type(bool index_allowed) {
    const Nesting nesting(*this);
    r_.skip_space();
    const std::size_t at = r_.at();
    if (r_.accept("!")) {
        const std::string_view name = r_.word();
        if (name == "stablehlo.token") return Type::token();
        if (name == "stithy.accumulator") {
            const Type tensor = parse_tensor(at, false);
            return Type::accumulator(tensor.dtype(), tensor.shape());
        }
        if (name == "stithy.stack") return Type::stack(parse_type_group());
        r_.not_supported("type !" + std::string(name), at);
    }
    const std::string_view word = r_.word();
    if (word == "tensor") return parse_tensor(at, index_allowed);
    if (word == "tuple") return Type::tuple(parse_type_group());
    if (word.empty()) r_.fail("expected a type, found " + r_.found(), at);
    if (word == "memref" || word == "vector" || word == "index" || word == "none") r_.not_supported("type " + std::string(word), at);
    r_.fail("expected a type, found '" + std::string(word) + "'", at);
}

void Parser::skip_type() {
    if (r_.peek() == '(') {
        r_.skip_group();
        r_.expect("->");
        if (r_.peek() == '(') {
            r_.skip_group();
            return;
        }
    }
    (void)r_.accept("!");
    (void)r_.expect_name("a type");
    if (r_.looks_at("<")) r_.skip_group();
}

Parser::TypeList Parser::parse_type_list() {
    TypeList list;
    if (r_.peek() == '(') {
        list.operands = parse_type_group();
        list.functional = true;
        r_.expect("->");
    } else {
        do list.operands.push_back(parse_type());
        while (r_.accept(","));
        list.functional = r_.accept("->");
        if (!list.functional) return list;
    }
    if (r_.peek() == '(')
        list.results = parse_type_group();
    else
        list.results.push_back(parse_type());
    return list;
}

} // namespace stithy::ir::text
