#include "cpu/llvm/elementwise.hpp"

#include "ir/attributes.hpp"

namespace stithy::cpu {

using ir::OpCode;

namespace {

/// An integer that orders floats as IEEE's totalOrder does.
LLVMValueRef order_key(Ir& ir, DType dtype, LLVMValueRef value) {
    const LLVMTypeRef type = ir.integer_type(dtype.bits(), Ir::lanes_of(value));
    const LLVMValueRef bits = LLVMBuildBitCast(ir.builder, value, type, "");
    const LLVMValueRef sign = LLVMBuildAShr(ir.builder, bits, Ir::integer(type, dtype.bits() - 1), "");
    const LLVMValueRef flip = LLVMBuildLShr(ir.builder, sign, Ir::integer(type, 1), "");
    return LLVMBuildXor(ir.builder, bits, flip, "");
}

LLVMValueRef emit_compare(Ir& ir, const Elementwise& e) {
    static constexpr LLVMRealPredicate floats[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOGE, LLVMRealOGT, LLVMRealOLE, LLVMRealOLT};
    static constexpr LLVMIntPredicate signed_ones[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSGE, LLVMIntSGT, LLVMIntSLE, LLVMIntSLT};
    static constexpr LLVMIntPredicate unsigned_ones[] = {LLVMIntEQ, LLVMIntNE, LLVMIntUGE, LLVMIntUGT, LLVMIntULE, LLVMIntULT};
    const unsigned direction = e.aux & 7u;
    if (e.operand.is_floating()) {
        if (e.aux < 8) return ir.fcmp(floats[direction], e.a, e.b);
        return ir.icmp(signed_ones[direction], order_key(ir, e.operand, e.a), order_key(ir, e.operand, e.b));
    }
    return ir.icmp(e.operand.is_signed() ? signed_ones[direction] : unsigned_ones[direction], e.a, e.b);
}

LLVMValueRef emit_bitcast(Ir& ir, const Elementwise& e) {
    if (e.operand.is_bool() || e.result.is_bool()) return emit_convert(ir, e.result, e.operand, e.a);
    return LLVMBuildBitCast(ir.builder, e.a, ir.type(e.result, Ir::lanes_of(e.a)), "");
}

LLVMValueRef emit_any(Ir& ir, const Elementwise& e) { return e.operand.is_floating() ? emit_float(ir, e) : emit_integer(ir, e); }

} // namespace

LLVMValueRef emit_elementwise(Ir& ir, const Elementwise& e) {
    switch (e.op) {
    case OpCode::compare: return emit_compare(ir, e);
    case OpCode::convert: return emit_convert(ir, e.result, e.operand, e.a);
    case OpCode::bitcast_convert: return emit_bitcast(ir, e);
    case OpCode::select: return ir.select(e.a, e.b, e.c);
    case OpCode::clamp: { // min(max(x, low), high)
        Elementwise step = {OpCode::maximum, e.result, e.operand, 0, e.b, e.a};
        step.a = emit_any(ir, step);
        step.b = e.c;
        step.op = OpCode::minimum;
        return emit_any(ir, step);
    }
    default: return emit_any(ir, e);
    }
}

LLVMValueRef emit_convert(Ir& ir, DType to, DType from, LLVMValueRef v) {
    const int lanes = Ir::lanes_of(v);
    const LLVMTypeRef type = ir.type(to, lanes), source = LLVMTypeOf(v);
    LLVMBuilderRef b = ir.builder;
    if (to == from) return v;
    if (to.is_bool())
        return from.is_floating() ? ir.fcmp(LLVMRealUNE, v, Ir::real(source, 0)) : ir.icmp(LLVMIntNE, v, Ir::integer(source, 0));
    if (to.is_floating()) {
        if (from.is_floating()) return to.size() > from.size() ? LLVMBuildFPExt(b, v, type, "") : LLVMBuildFPTrunc(b, v, type, "");
        return from.is_signed() ? LLVMBuildSIToFP(b, v, type, "") : LLVMBuildUIToFP(b, v, type, "");
    }
    if (!from.is_floating()) {
        if (to.bits() <= from.bits()) return to.bits() == from.bits() ? v : LLVMBuildTrunc(b, v, type, "");
        return from.is_signed() ? LLVMBuildSExt(b, v, type, "") : LLVMBuildZExt(b, v, type, "");
    }
    // Saturates, NaN gives 0. LLVM's own saturating conversion is scalar code on x86.
    const int width = to.is_signed() ? to.bits() - 1 : to.bits();
    double limit = 1;
    for (int i = 0; i < width; ++i) limit *= 2;
    const LLVMValueRef low = Ir::real(source, to.is_signed() ? -limit : 0.0), high = Ir::real(source, limit);
    const LLVMValueRef above = ir.fcmp(LLVMRealOGE, v, high);
    const LLVMValueRef safe = ir.select(above, low, ir.select(ir.fcmp(LLVMRealOGE, v, low), v, low));
    LLVMValueRef whole;
    if (to.bits() < 32)
        whole = LLVMBuildTrunc(b, LLVMBuildFPToSI(b, safe, ir.integer_type(32, lanes), ""), type, "");
    else
        whole = to.is_signed() ? LLVMBuildFPToSI(b, safe, type, "") : LLVMBuildFPToUI(b, safe, type, "");
    const std::uint64_t most = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    whole = ir.select(above, Ir::integer(type, static_cast<std::int64_t>(most)), whole);
    if (!to.is_signed()) return whole; // NaN became low = 0
    return ir.select(ir.fcmp(LLVMRealUNO, v, v), Ir::integer(type, 0), whole);
}

} // namespace stithy::cpu
