#pragma once
#include "array/node.hpp"
#include "array/trace.hpp"
#include "ir/function.hpp"

#include <span>

namespace stithy::detail {

/// The one door of every public operation. Finds the trace that the operation belongs to (`find_trace`) and hands it over, else runs it now.
/// Shapes and dtypes are checked by the operation's shape rule; Error with the user's line.
/// Bit i of `dying` marks operands[i] as an array that the caller gives up.
Arrays bind(ir::OpCode code, std::span<const Array> operands, const ir::AttrPtr& attr = nullptr, std::span<const ir::FunctionPtr> regions = {},
            const Location& location = Location(), std::uint64_t dying = 0);

/// The same for operations of one result.
Array bind1(ir::OpCode code, std::span<const Array> operands, const ir::AttrPtr& attr = nullptr, std::span<const ir::FunctionPtr> regions = {},
            const Location& location = Location(), std::uint64_t dying = 0);
inline Array bind1(ir::OpCode code, std::initializer_list<Array> operands, const ir::AttrPtr& attr = nullptr, const Location& location = Location()) {
    return bind1(code, std::span<const Array>(operands.begin(), operands.size()), attr, {}, location);
}

/// The trace that an operation on these operands belongs to: the innermost staging trace, or a recording trace above it that made one of the operands;
/// null: none, it runs now. Error for an undefined operand, one whose trace has ended, or one of another thread.
Trace* find_trace(std::span<const Array* const> operands, const char* operation, const Location& location);
/// Error unless the value may be used here and now: defined, its trace alive, its thread this one.
void check_usable(const Array& x, const char* operation, const Location& location);

/// Runs one operation now. All operands are concrete. `results` of the shape rule.
Arrays run_now(ir::OpCode code, std::span<const Array> operands, const ir::AttrPtr& attr, std::span<const ir::FunctionPtr> regions,
               const Location& location, std::uint64_t dying);

/// A constant array of a literal: staged where a staging trace is at work, else a buffer.
Array constant(const ir::Literal& literal, const Location& location = Location());
/// A concrete array of a literal, whatever is being traced.
Array concrete_constant(const ir::Literal& literal, const Location& location = Location());

} // namespace stithy::detail
