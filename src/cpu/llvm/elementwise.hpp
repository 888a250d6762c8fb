#pragma once
#include "cpu/llvm/ir.hpp"
#include "cpu/math/math_table.hpp"
#include "ir/opcode.hpp"

namespace stithy::cpu {

/// One elementwise operation on scalars or on vectors of equally many lanes, with StableHLO's semantics.
struct Elementwise {
    ir::OpCode op{};
    DType result, operand; ///< dtypes; for select the operand is the result's dtype
    std::uint8_t aux = 0;  ///< compare: direction + 8 * kind
    LLVMValueRef a = nullptr, b = nullptr, c = nullptr;
};

/// The operation's value; throws Error for what is not supported.
LLVMValueRef emit_elementwise(Ir& ir, const Elementwise& e);

/// Integers and bool: everything but compare, convert, select, clamp.
LLVMValueRef emit_integer(Ir& ir, const Elementwise& e);
/// f32 and f64: everything but compare, convert, select, clamp.
LLVMValueRef emit_float(Ir& ir, const Elementwise& e);
LLVMValueRef emit_convert(Ir& ir, DType to, DType from, LLVMValueRef value);
/// A function of the math table: vectors by the vector functions, else lane by lane.
LLVMValueRef emit_math(Ir& ir, MathFunction function, DType dtype, LLVMValueRef a, LLVMValueRef b = nullptr);
/// Lanes of f32 divided by one number, at half the price: products with its inverse in f64, which rounded to f32 are the quotients to the
/// last bit. (A quotient of two f32 is no closer than 2^-49 to the middle of two neighbours; it can be that middle only among subnormals.)
LLVMValueRef emit_quotient(Ir& ir, LLVMValueRef a, LLVMValueRef divisor);
/// a * b + c with one rounding; only where has_fma().
LLVMValueRef emit_fma(Ir& ir, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);

/// Calls `body(lane values of a and b)` for each lane in a loop over memory, and collects the results: for what has no vector form.
template <class Body>
LLVMValueRef lane_by_lane(Ir& ir, LLVMTypeRef result, LLVMValueRef a, LLVMValueRef b, const Body& body) {
    const auto element = [](LLVMTypeRef t) { return LLVMGetElementType(t); };
    const LLVMTypeRef type = LLVMTypeOf(a);
    const LLVMValueRef from_a = ir.allocate(type), from_b = b ? ir.allocate(type) : nullptr, to = ir.allocate(result);
    ir.store(a, from_a);
    if (b) ir.store(b, from_b);
    const Ir::Loop loop = ir.open_loop(ir.index(0), ir.index(Ir::lanes_of(a)));
    const LLVMValueRef x = ir.load(element(type), ir.element(element(type), from_a, loop.counter));
    const LLVMValueRef y = b ? ir.load(element(type), ir.element(element(type), from_b, loop.counter)) : nullptr;
    ir.store(body(x, y), ir.element(element(result), to, loop.counter));
    ir.close(loop);
    return ir.load(result, to);
}

} // namespace stithy::cpu
