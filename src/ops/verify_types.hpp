#pragma once
#include "ir/text/text.hpp"
#include "ops/rules.hpp"

namespace stithy::ops {

/// Checks one operation against its shape rule. Throws Error as the rule does, or when the stated result types are others.
void check_types(const Op& op, std::span<const Type> operands, std::span<const Type> results);

/// Infers every operation again, in regions too. Throws InternalError where a rule refuses or the types differ.
void verify_types(const ir::Function& function);

/// ir::parse that checks each operation by its shape rule: Error("file:line:column: add: ...").
ir::Module parse(std::string_view text, std::string_view file_name);

} // namespace stithy::ops
