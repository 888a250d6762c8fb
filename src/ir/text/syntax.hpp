#pragma once
#include "ir/literal.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// What the parser makes of a text: operations in MLIR's generic form, whichever way they were written, with names resolved to numbers.
namespace stithy::ir::text {

struct Attribute;
using Dictionary = std::vector<std::pair<std::string, Attribute>>;

struct Attribute {
    enum Kind {
        unit,
        boolean, ///< integer is 0 or 1
        integer,
        real,
        string,
        symbol, ///< text without @
        list,   ///< items
        fields, ///< dictionary, and the fields of #dialect.name<...>
        dense,  ///< literal
        word,   ///< bare words, enums (text is the last word), types and whatever else (see `raw`)
    };
    Kind kind = unit;
    std::int64_t number = 0;
    double real_number = 0;
    std::string text;
    std::vector<Attribute> items;
    Dictionary dictionary;
    Literal literal;
    std::string_view raw; ///< as written
    std::size_t at = 0;   ///< where in the text

    [[nodiscard]] const Attribute* find(std::string_view key) const {
        for (const auto& [k, v] : dictionary)
            if (k == key) return &v;
        return nullptr;
    }
};

/// Number of a value within a function of the text.
using ValueNumber = std::uint32_t;

struct SyntaxOp;

/// A region of one block. Values defined inside are numbered from `first_value` on.
struct SyntaxRegion {
    std::vector<Type> parameter_types;
    std::vector<bool> linear; ///< parameters marked {stithy.linear}; empty: none
    ValueNumber first_value = 0;
    std::vector<SyntaxOp> ops;
    std::vector<ValueNumber> results; ///< the terminator's operands
    std::vector<ValueNumber> outer;   ///< values from outside, in the order of their first use
    std::size_t at = 0;
};

struct SyntaxOp {
    std::string name; ///< "stablehlo.add"
    std::vector<ValueNumber> operands;
    std::vector<Type> result_types;
    ValueNumber first_result = 0;
    Dictionary attributes;
    std::vector<SyntaxRegion> regions;
    std::vector<ValueNumber> captures; ///< written order of what the regions use from outside (attribute stithy.captures), when given
    bool has_captures = false;
    std::size_t at = 0;

    [[nodiscard]] const Attribute* find(std::string_view key) const {
        for (const auto& [k, v] : attributes)
            if (k == key) return &v;
        return nullptr;
    }
};

struct SyntaxFunction {
    std::string name;
    bool is_public = true;
    bool has_body = false;
    std::vector<Type> result_types;
    SyntaxRegion body;
    std::vector<Type> value_types;                      ///< of every value, nested ones too
    std::unordered_map<ValueNumber, Literal> constants; ///< of the values that are constants
    std::size_t at = 0;
};

struct SyntaxModule {
    std::string name;
    std::vector<SyntaxFunction> functions;
};

} // namespace stithy::ir::text
