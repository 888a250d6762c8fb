#pragma once
#include "array/node.hpp"
#include "array/trace.hpp"
#include "ir/function.hpp"

#include <initializer_list>
#include <span>
#include <string>

namespace stithy::detail {

/// The one door of every public operation. Finds the trace that the operation belongs to (`find_trace`) and hands it over, else runs it
/// now. Shapes and dtypes are checked by the operation's shape rule; Error with the user's line.
Arrays bind(const Operation& operation);
/// The same for operations of one result.
Array bind1(const Operation& operation);
/// Of plain operands and an attribute.
Array bind1(ir::OpCode code, std::initializer_list<Array> operands, ir::AttrPtr attr, const Location& location);
/// Of an operation whose result type is the caller's word (reshape, broadcast_in_dim, convert, iota, ...).
Array bind_as(const ir::Type& result, ir::OpCode code, std::initializer_list<Array> operands, ir::AttrPtr attr, const Location& location);

/// The trace that an operation on these operands belongs to: the innermost staging trace, or a recording trace above it that made one of
/// the operands; null: none, it runs now. Error for an undefined operand, one whose trace has ended, or one of another thread.
Trace* find_trace(std::span<const Array* const> operands, const char* operation, const Location& location);
/// The same, for one operand after the other: start with `innermost_staging()`.
Trace* join_trace(Trace* so_far, const Array& operand, const char* operation, const Location& location);
/// Error unless the value may be used here and now: defined, its trace alive, its thread this one.
void check_usable(const Array& x, const char* operation, const Location& location);
/// The same for array `position` of `what` ("the arguments", "the result"), which the message names.
void check_usable(const Array& x, std::size_t position, const char* what, const char* operation, const Location& location);

/// "f64[3] (made at file.cpp:12)", for messages; without the place where it is unknown.
std::string made_at(const ArrayNode& node);

/// Runs one operation now. All operands are concrete.
Arrays run_now(const Operation& operation);

/// A constant array of a literal: staged where a staging trace is at work, else a buffer.
Array constant(const ir::Literal& literal, const Location& location = Location());
/// A concrete array of a literal, whatever is being traced.
Array concrete_constant(const ir::Literal& literal, const Location& location = Location());

} // namespace stithy::detail
