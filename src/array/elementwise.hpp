#pragma once
#include "array/bind.hpp"
#include "stithy/operand.hpp"

#include <span>

namespace stithy::detail {

/// An elementwise operation with NumPy's broadcasting, on operands converted to dtypes.
struct Elementwise {
    const char* name; ///< for messages
    ir::OpCode code;
    std::span<const Operand* const> operands;
    std::span<const DType> dtypes; ///< of each operand
    ir::CompareAttr compare = {};  ///< of compare
};

/// Binds it: traced as conversions, broadcasts and the operation, run at once as one program. Cites the first operand's line.
Array elementwise(const Elementwise& request);

/// Runs an elementwise operation on concrete arrays now, large splats as single elements. Undefined where it is none or has no large splat.
Array elementwise_with_splats(const Operation& operation);

/// One operand in its own dtype; `floating`: integers and bools become f64.
Array unary(const char* name, ir::OpCode code, const Operand& x, bool floating);
/// Two operands that meet in their common dtype (`floating`: f64 for integers and bools).
Array binary(const char* name, ir::OpCode code, const Operand& a, const Operand& b, bool floating = false);
Array compare(const char* name, ir::Direction direction, const Operand& a, const Operand& b);

/// The operand as an array; a number becomes a rank-0 array of its own dtype.
Array to_array(const Operand& x);
/// The operand as an array of a dtype (a number is checked, an array converted).
Array to_array(const Operand& x, DType dtype, const char* name);
/// x stretched to a shape by NumPy's rule. Error when that cannot be.
Array stretch(const Array& x, const Shape& shape, const char* name, const Location& location);
/// The shape that two broadcast to; false when they do not.
bool broadcast_shapes(Shape& into, const Shape& other);

} // namespace stithy::detail
