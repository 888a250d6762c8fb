#include "cpu/llvm/elementwise.hpp"

#include <limits>
#include <string>

namespace stithy::cpu {

using ir::OpCode;

LLVMValueRef emit_fma(Ir& ir, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return ir.intrinsic("llvm.fma", LLVMTypeOf(a), {a, b, c}); }

namespace {

LLVMValueRef one(Ir& ir, const char* name, LLVMValueRef x) { return ir.intrinsic(name, LLVMTypeOf(x), {x}); }

/// 1 and -1 by sign; zeros and NaN stay.
LLVMValueRef emit_sign(Ir& ir, LLVMValueRef x) {
    const LLVMTypeRef type = LLVMTypeOf(x);
    const LLVMValueRef unit = ir.intrinsic("llvm.copysign", type, {Ir::real(type, 1), x});
    return ir.select(ir.fcmp(LLVMRealONE, x, Ir::real(type, 0)), unit, x);
}

LLVMValueRef emit_unary(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const auto math = [&](MathFunction f) { return emit_math(ir, f, e.operand, e.a); };
    switch (e.op) {
    case OpCode::abs: return one(ir, "llvm.fabs", e.a);
    case OpCode::ceil: return one(ir, "llvm.ceil", e.a);
    case OpCode::floor: return one(ir, "llvm.floor", e.a);
    case OpCode::round_nearest_afz: return one(ir, "llvm.round", e.a);
    case OpCode::round_nearest_even: return one(ir, "llvm.roundeven", e.a);
    case OpCode::sqrt: return one(ir, "llvm.sqrt", e.a);
    case OpCode::rsqrt: return LLVMBuildFDiv(ir.builder, Ir::real(type, 1), one(ir, "llvm.sqrt", e.a), "");
    case OpCode::negate: return LLVMBuildFNeg(ir.builder, e.a, "");
    case OpCode::sign: return emit_sign(ir, e.a);
    case OpCode::is_finite: return ir.fcmp(LLVMRealOLT, one(ir, "llvm.fabs", e.a), Ir::real(type, std::numeric_limits<double>::infinity()));
    case OpCode::logistic: return math(MathFunction::logistic);
    case OpCode::exponential: return math(MathFunction::exp);
    case OpCode::exponential_minus_one: return math(MathFunction::expm1);
    case OpCode::log: return math(MathFunction::log);
    case OpCode::log_plus_one: return math(MathFunction::log1p);
    case OpCode::cbrt: return math(MathFunction::cbrt);
    case OpCode::sine: return math(MathFunction::sin);
    case OpCode::cosine: return math(MathFunction::cos);
    case OpCode::tan: return math(MathFunction::tan);
    case OpCode::tanh: return math(MathFunction::tanh);
    default: internal_error("no machine code for operation " + std::string(ir::name(e.op)) + " of floats");
    }
}

/// The larger or the smaller of two; zeros are told apart, NaN wins. What LLVM makes of its own operation takes twice as long with AVX-512.
LLVMValueRef emit_extreme(Ir& ir, const Elementwise& e) {
    const LLVMTypeRef type = LLVMTypeOf(e.a);
    const bool larger = e.op == OpCode::maximum;
    const int lanes = Ir::lanes_of(type), width = 64 / static_cast<int>(e.operand.size());
    if (ir.vector_bytes < 64 || lanes < width) return ir.intrinsic(larger ? "llvm.maximum" : "llvm.minimum", type, {e.a, e.b});
    const char* name = e.operand == f32 ? "llvm.x86.avx512.mask.range.ps.512" : "llvm.x86.avx512.mask.range.pd.512";
    const LLVMValueRef choice = Ir::integer(ir.i32_type, larger ? 5 : 4), rounding = Ir::integer(ir.i32_type, 4); // sign as compared
    const LLVMValueRef all = Ir::integer(LLVMIntTypeInContext(ir.context, static_cast<unsigned>(width)), -1);
    std::vector<LLVMValueRef> parts;
    for (int first = 0; first < lanes; first += width) {
        const LLVMValueRef a = ir.lanes(e.a, first, width), b = ir.lanes(e.b, first, width);
        const LLVMValueRef number = ir.intrinsic(name, {}, {a, b, choice, LLVMConstNull(LLVMTypeOf(a)), all, rounding});
        const LLVMValueRef nan = Ir::real(LLVMTypeOf(a), std::numeric_limits<double>::quiet_NaN());
        parts.push_back(ir.select(ir.fcmp(LLVMRealUNO, a, b), nan, number));
    }
    return ir.concatenated(parts);
}

} // namespace

LLVMValueRef emit_quotient(Ir& ir, LLVMValueRef a, LLVMValueRef divisor) {
    const int lanes = Ir::lanes_of(a);
    const LLVMTypeRef wide = ir.type(f64, lanes);
    const LLVMValueRef inverse =
        LLVMBuildFDiv(ir.builder, Ir::real(ir.scalar_type(f64), 1), LLVMBuildFPExt(ir.builder, divisor, ir.scalar_type(f64), ""), "");
    const LLVMValueRef product = LLVMBuildFMul(ir.builder, LLVMBuildFPExt(ir.builder, a, wide, ""), ir.splat(inverse, lanes), "");
    return LLVMBuildFPTrunc(ir.builder, product, LLVMTypeOf(a), "");
}

LLVMValueRef emit_float(Ir& ir, const Elementwise& e) {
    LLVMBuilderRef b = ir.builder;
    switch (e.op) {
    case OpCode::add: return LLVMBuildFAdd(b, e.a, e.b, "");
    case OpCode::subtract: return LLVMBuildFSub(b, e.a, e.b, "");
    case OpCode::multiply: return LLVMBuildFMul(b, e.a, e.b, "");
    case OpCode::divide: return LLVMBuildFDiv(b, e.a, e.b, "");
    case OpCode::maximum:
    case OpCode::minimum: return emit_extreme(ir, e);
    case OpCode::atan2: return emit_math(ir, MathFunction::atan2, e.operand, e.a, e.b);
    case OpCode::power: return emit_math(ir, MathFunction::power, e.operand, e.a, e.b);
    case OpCode::remainder: return emit_math(ir, MathFunction::remainder, e.operand, e.a, e.b);
    default: return emit_unary(ir, e);
    }
}

namespace {

LLVMValueRef call_scalar(Ir& ir, const char* symbol, LLVMTypeRef type, LLVMValueRef a, LLVMValueRef b) {
    const LLVMValueRef arguments[] = {a, b};
    return ir.call(symbol, type, std::span(arguments, b ? 2 : 1), true);
}

} // namespace

LLVMValueRef emit_math(Ir& ir, MathFunction function, DType dtype, LLVMValueRef a, LLVMValueRef b) {
    const LLVMTypeRef type = LLVMTypeOf(a), element = ir.scalar_type(dtype);
    const int lanes = Ir::lanes_of(type);
    const char* scalar = scalar_math_symbol(function, dtype);
    internal_check(scalar != nullptr, "a math function has no scalar form");
    if (lanes == 1) return call_scalar(ir, scalar, element, a, b);

    const int size = static_cast<int>(dtype.size());
    int width = std::min(lanes, ir.vector_bytes / size);
    const char* symbol = vector_math_symbol(function, dtype, width);
    if (!symbol && width * size < 16) { // fewer lanes than the smallest register has
        width = 16 / size;
        symbol = vector_math_symbol(function, dtype, width);
    }
    if (!symbol)
        return lane_by_lane(ir, type, a, b, [&](LLVMValueRef x, LLVMValueRef y) { return call_scalar(ir, scalar, element, x, y); });

    const LLVMTypeRef piece = Ir::widen(element, width);
    std::vector<LLVMValueRef> parts;
    for (int first = 0; first < lanes; first += width) {
        const LLVMValueRef arguments[] = {ir.lanes(a, first, width), b ? ir.lanes(b, first, width) : nullptr};
        parts.push_back(ir.call(symbol, piece, std::span(arguments, b ? 2 : 1), true));
    }
    return ir.lanes(ir.concatenated(parts), 0, lanes);
}

} // namespace stithy::cpu
