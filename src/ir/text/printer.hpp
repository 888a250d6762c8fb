#pragma once
#include "ir/function.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stithy::ir::text {

/// Functions as StableHLO text. Value names are unique within a top-level function, so that regions may name what they use from outside.
class Printer {
public:
    std::string print(std::string_view module_name, std::span<const Function* const> functions);

private:
    /// Names of the values of one function or region.
    using Names = std::vector<std::string>;

    // print.cpp
    const std::string& name_of(const Function& function);
    void print_function(const Function& function, bool is_public);
    void print_ops(const Function& function, Names& names);
    void print_op(const Function& function, const Op& op, Names& names);
    void name_results(const Op& op, Names& names);
    void line() { out_ += '\n' + std::string(static_cast<std::size_t>(indent_) * 2, ' '); }
    std::string operands(const Op& op, const Names& names, std::size_t first = 0) const;
    std::string values(std::span<const ValueId> ids, const Names& names) const;
    static std::string types(const Function& function, std::span<const ValueId> ids);
    static std::string result_types(const Function& function, const Op& op, bool parentheses);
    static std::string functional(const Function& function, const Op& op);

    // print_operations.cpp
    void print_plain(const Function& function, const Op& op, const Names& names);
    void print_generic(const Function& function, const Op& op, const Names& names);
    void print_custom_call(const Function& function, const Op& op, const Names& names);

    // print_structured.cpp
    void print_region(const Function& region, Names names, std::string_view terminator);
    void print_reduce(const Function& function, const Op& op, const Names& names);
    void print_while(const Function& function, const Op& op, const Names& names);
    void print_regions(const Function& function, const Op& op, const Names& names);
    void print_loop(const Function& function, const Op& op, const Names& names);
    std::string captures(const Op& op, const Names& names);
    const std::vector<ValueId>& use_order(const Function& region);
    std::vector<ValueId> text_order(const Op& op);
    Names parameter_names(const Function& region);

    std::string out_;
    int indent_ = 0;
    std::size_t next_value_ = 0, next_parameter_ = 0;
    std::unordered_map<const Function*, std::string> function_names_;
    std::map<std::string, int, std::less<>> taken_names_;
    std::vector<const Function*> waiting_; ///< callees that are still to be printed
    std::unordered_map<const Function*, std::vector<ValueId>> use_orders_;
};

/// `[1, 2]`.
std::string list_text(const Dims& dims);
/// `"text"` with escapes; `@name`, quoted where it must be.
std::string quoted(std::string_view text);
std::string symbol_text(std::string_view name);
/// The properties of a scatter, `<{...}> `.
std::string scatter_text(const ScatterAttr& scatter);

} // namespace stithy::ir::text
