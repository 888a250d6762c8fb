#include "cpu/llvm/elementwise.hpp"

#include <string>

namespace stithy::cpu {

using ir::OpCode;

namespace {

/// Quotient by floating division, exact for up to 32 bits (24 bits of quotient's gap fit float for 16, 53 double for 32): vectors have no
/// integer division.
LLVMValueRef divide_by_float(Ir& ir, DType dtype, LLVMValueRef a, LLVMValueRef b) {
    const int lanes = Ir::lanes_of(a);
    const LLVMTypeRef real = dtype.size() == 4 ? ir.type(f64, lanes) : ir.type(f32, lanes);
    LLVMBuilderRef at = ir.builder;
    const auto to_real = [&](LLVMValueRef v) {
        return dtype.is_signed() ? LLVMBuildSIToFP(at, v, real, "") : LLVMBuildUIToFP(at, v, real, "");
    };
    const LLVMValueRef q = LLVMBuildFDiv(at, to_real(a), to_real(b), "");
    if (dtype.size() < 4) return LLVMBuildTrunc(at, LLVMBuildFPToSI(at, q, ir.integer_type(32, lanes), ""), LLVMTypeOf(a), "");
    return dtype.is_signed() ? LLVMBuildFPToSI(at, q, LLVMTypeOf(a), "") : LLVMBuildFPToUI(at, q, LLVMTypeOf(a), "");
}

LLVMValueRef plain_quotient(Ir& ir, DType dtype, LLVMValueRef a, LLVMValueRef b) {
    if (Ir::lanes_of(a) > 1 && !LLVMIsConstant(b)) {
        if (dtype.size() < 8) return divide_by_float(ir, dtype, a, b);
        return lane_by_lane(ir, LLVMTypeOf(a), a, b, [&](LLVMValueRef x, LLVMValueRef y) {
            return dtype.is_signed() ? LLVMBuildSDiv(ir.builder, x, y, "") : LLVMBuildUDiv(ir.builder, x, y, "");
        });
    }
    return dtype.is_signed() ? LLVMBuildSDiv(ir.builder, a, b, "") : LLVMBuildUDiv(ir.builder, a, b, "");
}

/// x / 0 is -1, x % 0 is x, the least number / -1 is itself, its remainder 0.
LLVMValueRef emit_division(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const LLVMValueRef unit = Ir::integer(type, 1), minus_one = Ir::integer(type, -1);
    const LLVMValueRef by_zero = ir.icmp(LLVMIntEQ, e.b, Ir::integer(type, 0));
    LLVMValueRef divisor = ir.select(by_zero, unit, e.b), numerator = e.a;
    LLVMValueRef quotient;
    if (e.operand.is_signed()) { // -1 is replaced by 1 and the numerator by its negative, which wraps as wanted
        const LLVMValueRef by_minus_one = ir.icmp(LLVMIntEQ, divisor, minus_one);
        divisor = ir.select(by_minus_one, unit, divisor);
        numerator = ir.select(by_minus_one, LLVMBuildNeg(ir.builder, e.a, ""), e.a);
    }
    quotient = plain_quotient(ir, e.operand, numerator, divisor);
    if (e.op == OpCode::divide) return ir.select(by_zero, minus_one, quotient);
    const LLVMValueRef rest = ir.sub(numerator, ir.mul(quotient, divisor));
    return ir.select(by_zero, e.a, rest);
}

LLVMValueRef emit_shift(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const int bits = e.operand.bits();
    const LLVMValueRef inside = ir.icmp(LLVMIntULT, e.b, Ir::integer(type, bits));
    if (e.op == OpCode::shift_right_arithmetic)
        return LLVMBuildAShr(ir.builder, e.a, ir.select(inside, e.b, Ir::integer(type, bits - 1)), "");
    const LLVMValueRef amount = ir.select(inside, e.b, Ir::integer(type, 0));
    const LLVMValueRef shifted =
        e.op == OpCode::shift_left ? LLVMBuildShl(ir.builder, e.a, amount, "") : LLVMBuildLShr(ir.builder, e.a, amount, "");
    return ir.select(inside, shifted, Ir::integer(type, 0));
}

/// Repeated squaring while any lane has bits left; negative exponents leave 1 and -1 only.
LLVMValueRef emit_power(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const LLVMValueRef zero = Ir::integer(type, 0), unit = Ir::integer(type, 1);
    LLVMValueRef base = e.a, exponent = e.b;
    if (e.operand.is_signed()) {
        const LLVMValueRef negative = ir.icmp(LLVMIntSLT, e.b, zero);
        const LLVMValueRef is_unit = ir.bit_or(ir.icmp(LLVMIntEQ, e.a, unit), ir.icmp(LLVMIntEQ, e.a, Ir::integer(type, -1)));
        // (+-1)^-n is (+-1)^(n & 1); others become 0^1.
        exponent = ir.select(negative, ir.select(is_unit, ir.bit_and(e.b, unit), unit), e.b);
        base = ir.select(ir.bit_and(negative, LLVMBuildNot(ir.builder, is_unit, "")), zero, e.a);
    }
    const LLVMBasicBlockRef before = ir.here(), loop = ir.block("power"), done = ir.block("done");
    ir.jump(loop);
    ir.at(loop);
    LLVMValueRef phis[3], first[3] = {unit, base, exponent}, next[3];
    for (LLVMValueRef& phi : phis) phi = LLVMBuildPhi(ir.builder, type, "");
    const LLVMValueRef odd = ir.icmp(LLVMIntNE, ir.bit_and(phis[2], unit), zero);
    next[0] = ir.select(odd, ir.mul(phis[0], phis[1]), phis[0]);
    next[1] = ir.mul(phis[1], phis[1]);
    next[2] = LLVMBuildLShr(ir.builder, phis[2], unit, "");
    for (int i = 0; i < 3; ++i) {
        LLVMValueRef values[] = {first[i], next[i]};
        LLVMBasicBlockRef from[] = {before, loop};
        LLVMAddIncoming(phis[i], values, from, 2);
    }
    ir.branch(ir.any(ir.icmp(LLVMIntNE, next[2], zero)), loop, done);
    ir.at(done);
    return next[0];
}

LLVMValueRef emit_minmax(Ir& ir, const Elementwise& e) {
    const bool largest = e.op == OpCode::maximum;
    if (e.operand.is_bool()) return largest ? ir.bit_or(e.a, e.b) : ir.bit_and(e.a, e.b);
    const char* name = e.operand.is_signed() ? (largest ? "llvm.smax" : "llvm.smin") : (largest ? "llvm.umax" : "llvm.umin");
    return ir.intrinsic(name, LLVMTypeOf(e.a), {e.a, e.b});
}

LLVMValueRef emit_sign(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const LLVMValueRef unit = Ir::integer(type, 1);
    if (!e.operand.is_signed()) return ir.intrinsic("llvm.umin", type, {e.a, unit});
    return ir.intrinsic("llvm.smax", type, {ir.intrinsic("llvm.smin", type, {e.a, unit}), Ir::integer(type, -1)});
}

} // namespace

LLVMValueRef emit_integer(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const bool is_bool = e.operand.is_bool();
    switch (e.op) {
    case OpCode::add: return is_bool ? ir.bit_or(e.a, e.b) : ir.add(e.a, e.b);
    case OpCode::multiply: return is_bool ? ir.bit_and(e.a, e.b) : ir.mul(e.a, e.b);
    case OpCode::subtract: return ir.sub(e.a, e.b);
    case OpCode::and_: return ir.bit_and(e.a, e.b);
    case OpCode::or_: return ir.bit_or(e.a, e.b);
    case OpCode::xor_: return LLVMBuildXor(ir.builder, e.a, e.b, "");
    case OpCode::not_: return LLVMBuildNot(ir.builder, e.a, "");
    case OpCode::negate: return LLVMBuildNeg(ir.builder, e.a, "");
    case OpCode::abs: return e.operand.is_signed() ? ir.intrinsic("llvm.abs", type, {e.a, LLVMConstNull(ir.i1_type)}) : e.a;
    case OpCode::sign: return emit_sign(ir, e);
    case OpCode::popcnt: return ir.intrinsic("llvm.ctpop", type, {e.a});
    case OpCode::count_leading_zeros: return ir.intrinsic("llvm.ctlz", type, {e.a, LLVMConstNull(ir.i1_type)});
    case OpCode::divide:
    case OpCode::remainder: return emit_division(ir, e);
    case OpCode::power: return emit_power(ir, e);
    case OpCode::shift_left:
    case OpCode::shift_right_arithmetic:
    case OpCode::shift_right_logical: return emit_shift(ir, e);
    case OpCode::maximum:
    case OpCode::minimum: return emit_minmax(ir, e);
    default: internal_error("no machine code for operation " + std::string(ir::name(e.op)) + " of integers");
    }
}

} // namespace stithy::cpu
