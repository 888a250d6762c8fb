#pragma once
#include "ir/structured.hpp"
#include "ops/build.hpp"
#include "ops/rules.hpp"

namespace stithy::transform {

using ir::Function;
using ir::FunctionPtr;
using ir::LoopAttr;
using ir::LoopLayout;
using ir::ValueId;
using ir::WhileAttr;
using ops::Builder;
using ops::Op;
using ops::OpCode;
using ops::Type;
using ops::Value;
using ops::Values;
using Mask = std::vector<bool>;

bool any(const Mask& mask);
std::size_t count(const Mask& mask);
/// The entries from `from` on.
Mask tail(const Mask& mask, std::size_t from);
/// A key for memo tables: "name:0110".
std::string memo_key(std::string_view name, const Mask& a, const Mask& b = {});

/// Appends a copy of `op` of function `from` with other operands of the same types.
Values copy_op(Builder& builder, const Function& from, const Op& op, std::span<const Value> operands);
/// Appends an operation whose result types the caller knows.
Values append_op(Builder& builder, OpCode code, std::span<const Value> operands, ir::AttrPtr attr, ir::Regions regions,
                 std::span<const Type> result_types, const Location& location);
/// Zero of a type: a constant, or an empty accumulator.
Value zero_of(Builder& builder, const Type& type);
/// `v`, or zero of `type` when there is none.
Value instantiate(Builder& builder, Value v, const Type& type);
/// The values of `from` (ids of its function) through a table.
Values lookup(std::span<const ValueId> ids, const Values& table);
ir::Operands ids_of(std::span<const Value> values);
/// How often each value of a function is an operand or a result.
std::vector<std::uint32_t> count_uses(const Function& function);

/// call, case, if, while, loop.
bool is_structured(OpCode code);
/// Whether an operation's results never have tangents (comparisons, rounding, integers, ...).
bool has_zero_derivative(OpCode code);

/// Which results of a function depend on the marked parameters. `differentiable`: only through values that carry tangents (floating point,
/// operations whose derivative is not identically zero). Structured operations are followed inside, loops to their fixed point.
Mask dependent_results(const Function& function, const Mask& parameters, bool differentiable);
/// The same for the results of one operation.
Mask dependent_results(const Function& function, const Op& op, const Mask& operands, bool differentiable);
/// Of a loop or while: the body's parameter mask at the fixed point over carries (and accumulators), given the mask of operands.
Mask loop_fixpoint(const Op& op, const Mask& operands, bool differentiable);

} // namespace stithy::transform
