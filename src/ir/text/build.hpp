#pragma once
#include "ir/text/reader.hpp"
#include "ir/text/syntax.hpp"

#include <unordered_map>

namespace stithy::ir::text {

/// The attribute of an operation, from the names that its generic and its pretty form use.
AttrPtr attribute_of(OpCode code, const SyntaxOp& op, const Reader& reader);
/// Integers of a list or a dense constant.
Dims integers_of(const Attribute& attribute, const Reader& reader);

/// Syntax tree to Functions.
class ModuleBuilder {
public:
    ModuleBuilder(const SyntaxModule& module, const Reader& reader, const CheckOp& check);

    Module build();
    /// The function of that name, built on the first request; `at` is who wants it.
    FunctionPtr function(const std::string& name, std::size_t at);
    [[nodiscard]] const Reader& reader() const { return reader_; }
    [[nodiscard]] const CheckOp& check() const { return check_; }

private:
    struct Entry {
        const SyntaxFunction* syntax = nullptr;
        FunctionPtr built;
        bool building = false;
    };
    const SyntaxModule& module_;
    const Reader& reader_;
    const CheckOp& check_;
    std::unordered_map<std::string, Entry> functions_;
    int depth_ = 0; ///< of calls
};

/// One region (or function body) to one Function.
class RegionBuilder {
public:
    RegionBuilder(ModuleBuilder& module, const SyntaxFunction& function, std::string name)
        : module_(module), function_(function), builder_(std::move(name)) {}

    /// Values from outside become the first parameters; `copied` ones, constants, are written into the region.
    FunctionPtr build(const SyntaxRegion& region, std::span<const ValueNumber> captures, bool copy_constants);

private:
    void build_operation(const SyntaxOp& op);
    void build_structured(OpCode code, const SyntaxOp& op);
    void build_call(const SyntaxOp& op, std::string_view key);
    void build_custom_call(const SyntaxOp& op);
    void bind(const SyntaxOp& op, ValueId first);
    [[nodiscard]] ValueId value(ValueNumber number) const { return values_.at(number); }
    [[nodiscard]] std::vector<ValueId> operands(const SyntaxOp& op) const;

    ValueId emit(const SyntaxOp& op, Op made, std::span<const Type> results);
    ValueId emit(const SyntaxOp& op, OpCode code, std::vector<ValueId> operands, const Type& result, AttrPtr attr = nullptr);

    // build_composed.cpp: operations made of others
    void build_composed(const SyntaxOp& op);
    void build_check(const SyntaxOp& op);
    void build_with_shape_operand(const SyntaxOp& op);
    void build_dot(const SyntaxOp& op);
    ValueId build_math(const SyntaxOp& op);
    ValueId build_inverse_hyperbolic(const SyntaxOp& op, ValueId x);

    ModuleBuilder& module_;
    const SyntaxFunction& function_;
    Builder builder_;
    std::unordered_map<ValueNumber, ValueId> values_;
};

} // namespace stithy::ir::text
