#pragma once
#include "ir/text/reader.hpp"
#include "ir/text/syntax.hpp"

#include <unordered_map>
#include <unordered_set>

namespace stithy::ir::text {

/// Whether an operation of this full name ("stablehlo.add", "chlo.square", "func.call") can be built.
bool is_known_operation(std::string_view name);

/// Text to syntax tree: every way of writing becomes the generic form, names become numbers.
class Parser {
public:
    explicit Parser(Reader& reader) : r_(reader) {}

    SyntaxModule parse_module();

private:
    struct TypeList {
        std::vector<Type> operands, results;
        bool functional = false; ///< written as (T, U) -> V
    };
    struct Results {
        std::vector<std::pair<std::string_view, std::uint32_t>> names; ///< with the number of values of each pack
        std::size_t at = 0;
        [[nodiscard]] std::size_t count() const;
    };
    struct Entry {
        ValueNumber first = 0;
        std::uint32_t count = 1;
    };
    using Scope = std::unordered_map<std::string_view, Entry>;
    struct OpenRegion {
        SyntaxRegion* region;
        std::unordered_set<ValueNumber> seen;
        bool copies_constants; ///< constants from outside are copied into the region (reducers)
    };

    // parse_module.cpp
    void parse_top_level(SyntaxModule& module, bool inside);
    void parse_module_header(SyntaxModule& module);
    void parse_function(SyntaxModule& module);
    void parse_function_parameters(SyntaxFunction& function);
    void parse_function_results(SyntaxFunction& function);
    void define(std::string_view name, std::uint32_t count, ValueNumber first, std::size_t at);
    ValueNumber new_value(const Type& type);
    ValueNumber lookup(Reader& reader);
    ValueNumber use();
    void note_use(ValueNumber value);
    const Type& type_of(ValueNumber value) const { return function_->value_types[value]; }
    void open_region(SyntaxRegion& region, bool copies_constants);
    void close_region();
    void parse_body(SyntaxRegion& region);

    // parse_types.cpp
    Type parse_type(bool index_allowed = false);
    Type parse_tensor(std::size_t at, bool index_allowed);
    DType parse_element_type(bool index_allowed);
    Shape parse_extents(std::size_t at);
    std::vector<Type> parse_type_group();
    void skip_type();
    TypeList parse_type_list();

    // parse_attributes.cpp
    Attribute parse_attribute(bool typed = true);
    void parse_number(Attribute& attribute, bool typed);
    void parse_hash(Attribute& attribute);
    void parse_dense(Attribute& attribute);
    void parse_array(Attribute& attribute);
    Dictionary parse_fields(std::string_view close);
    void parse_dictionary(Dictionary& into);
    void parse_optional_dictionary(Dictionary& into) {
        if (r_.peek() == '{') parse_dictionary(into);
    }

    // parse_operations.cpp
    /// False for the terminator of the region.
    bool parse_operation(SyntaxRegion& region);
    Results parse_results();
    void finish_operation(SyntaxRegion& region, SyntaxOp op, const Results& results);
    void parse_terminator(SyntaxRegion& region, bool generic);
    void parse_generic(SyntaxOp& op);
    SyntaxRegion parse_region(bool copies_constants);
    void parse_captures(SyntaxOp& op);
    void check_operands(const SyntaxOp& op, std::span<const Type> types);
    void set_types(SyntaxOp& op, TypeList types);
    void parse_types_after_colon(SyntaxOp& op);

    // parse_pretty.cpp
    void parse_pretty(SyntaxOp& op);
    void parse_plain(SyntaxOp& op);
    void parse_key_and_value(SyntaxOp& op);
    void parse_constant(SyntaxOp& op);
    void parse_compare(SyntaxOp& op);
    void parse_slice(SyntaxOp& op);
    void parse_callee(SyntaxOp& op, std::string_view key);
    void parse_composite(SyntaxOp& op);
    void parse_element(SyntaxOp& op);
    void parse_check_constant(SyntaxOp& op);

    // parse_structured.cpp
    void parse_reduce(SyntaxOp& op);
    void parse_short_reducer(SyntaxOp& op, std::string_view name);
    void parse_reducer(SyntaxOp& op);
    void parse_while(SyntaxOp& op);
    void parse_loop(SyntaxOp& op);
    void parse_loop_group(SyntaxOp& op, std::string_view key, SyntaxRegion& region);

    Reader& r_;
    SyntaxFunction* function_ = nullptr;
    std::vector<Scope> scopes_;
    std::vector<OpenRegion> open_;
    std::vector<std::pair<std::string_view, std::size_t>> loop_names_; ///< parameters of the loop whose header is being read
    std::unordered_map<std::string, Attribute> aliases_;
    int depth_ = 0; ///< of nested regions, attributes and types

    /// Counts nesting, so that a text cannot overflow the stack.
    class Nesting {
    public:
        explicit Nesting(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > 200) parser_.r_.fail("nested too deeply");
        }
        ~Nesting() { --parser_.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        Parser& parser_;
    };
};

} // namespace stithy::ir::text
