#include "cpu/llvm/emitter.hpp"

namespace stithy::cpu {

using ir::OpCode;
using plan::Code;
using plan::no_nest_value;

/// What depends on slots alone is read once, in the function's first block.
void Emitter::emit_entry_value(NestValue at) {
    const Instruction& i = nest_.code[at];
    if (i.code == Code::fixed) {
        of(at) = {.value = Ir::from_bits(ir_.scalar_type(i.dtype), i.slot)};
        return;
    }
    if (i.code == Code::range_begin || i.code == Code::range_end) {
        of(at) = {.value = i.code == Code::range_begin ? begin_ : end_};
        return;
    }
    if (of(at).value) return; // the body of a vector loop is emitted twice
    const LLVMBasicBlockRef back = ir_.here();
    ir_.at(entry_);
    const LLVMValueRef place =
        ir_.element(ir_.i64_type, i.code == Code::buffer ? buffers_ : params_, ir_.index(static_cast<std::int64_t>(i.slot)));
    const LLVMTypeRef type = i.code == Code::buffer ? ir_.pointer_type : ir_.memory_type(i.dtype, 1);
    const LLVMValueRef value = ir_.load(type, place, 8);
    ir_.mark_invariant(value);
    of(at) = {.value = i.code == Code::literal ? from_memory(i.dtype, value) : value};
    ir_.at(back);
}

LLVMValueRef Emitter::scalar(NestValue v) {
    internal_check(of(v).shape == Shape::uniform && of(v).value, "a value that differs between lanes stands where one is needed");
    return of(v).value;
}

LLVMValueRef Emitter::vector_of(const Emitted& e) {
    if (lanes_ == 1 || e.shape == Shape::varying) return e.value;
    const LLVMValueRef base = ir_.splat(e.value, lanes_);
    if (e.shape == Shape::uniform) return base;
    const LLVMValueRef steps = Ir::count_up(LLVMTypeOf(base));
    return ir_.add(base, ir_.mul(ir_.splat(e.stride, lanes_), steps));
}

LLVMValueRef Emitter::vector(NestValue v) { return vector_of(of(v)); }

void Emitter::give(NestValue at, LLVMValueRef value, bool as_vector) {
    of(at) = {.value = value, .shape = as_vector ? Shape::varying : Shape::uniform};
}

/// Arithmetic that keeps a value linear works on the first lane and on the stride.
bool Emitter::emit_linear(NestValue at) {
    const Instruction& i = nest_.code[at];
    const Emitted a = of(i.a), b = i.b == no_nest_value ? Emitted{} : of(i.b);
    if (a.shape == Shape::varying || b.shape == Shape::varying || i.c != no_nest_value || !i.dtype.is_integer()) return false;
    const LLVMTypeRef type = ir_.scalar_type(i.dtype);
    const auto stride = [&](const Emitted& e) { return e.shape == Shape::linear ? e.stride : Ir::integer(type, 0); };
    Emitted result = {.shape = Shape::linear};
    switch (i.op) {
    case OpCode::add:
        result.value = ir_.add(a.value, b.value);
        result.stride = ir_.add(stride(a), stride(b));
        break;
    case OpCode::subtract:
        result.value = ir_.sub(a.value, b.value);
        result.stride = ir_.sub(stride(a), stride(b));
        break;
    case OpCode::negate:
        result.value = LLVMBuildNeg(ir_.builder, a.value, "");
        result.stride = LLVMBuildNeg(ir_.builder, a.stride, "");
        break;
    case OpCode::multiply: {
        if (a.shape == b.shape) return false;
        const Emitted &line = a.shape == Shape::linear ? a : b, &factor = a.shape == Shape::linear ? b : a;
        result.value = ir_.mul(line.value, factor.value);
        result.stride = ir_.mul(line.stride, factor.value);
        break;
    }
    case OpCode::convert: {
        const DType from = nest_.code[i.a].dtype;
        if (!from.is_integer() || i.dtype.size() > from.size()) return false;
        result.value = emit_convert(ir_, i.dtype, from, a.value);
        result.stride = emit_convert(ir_, i.dtype, from, a.stride);
        break;
    }
    default: return false;
    }
    of(at) = result;
    return true;
}

LLVMValueRef Emitter::combine(OpCode op, DType dtype, LLVMValueRef a, LLVMValueRef b) {
    return emit_elementwise(ir_, {op, dtype, dtype, 0, a, b});
}

/// The multiplication folded into instruction `at`, fused with the other operand of the sum.
LLVMValueRef Emitter::fused(NestValue at, LLVMValueRef other_operand, int lanes) {
    const Instruction& product = nest_.code[analysis_.fused[at]];
    return emit_fma(ir_, shaped(product.a, lanes > 1), shaped(product.b, lanes > 1), other_operand);
}

void Emitter::emit_apply(NestValue at) {
    const Instruction& i = nest_.code[at];
    if (analysis_.shape[at] == Shape::linear && emit_linear(at)) return;
    const bool wide = analysis_.shape[at] != Shape::uniform && lanes_ > 1;
    if (const NestValue m = analysis_.fused[at]; m != no_nest_value) {
        LLVMValueRef value;
        if (i.op == OpCode::add)
            value = fused(at, shaped(m == i.a ? i.b : i.a, wide), lanes_for(wide));
        else if (m == i.a)
            value = fused(at, LLVMBuildFNeg(ir_.builder, shaped(i.b, wide), ""), lanes_for(wide));
        else { // a - x * y
            const Instruction& product = nest_.code[m];
            value = emit_fma(ir_, LLVMBuildFNeg(ir_.builder, shaped(product.a, wide), ""), shaped(product.b, wide), shaped(i.a, wide));
        }
        return give(at, value, wide);
    }
    if (wide && i.op == OpCode::divide && i.dtype == f32 && of(i.b).shape == Shape::uniform && options_.vector_bytes >= 32)
        return give(at, emit_quotient(ir_, vector(i.a), of(i.b).value), true);
    Elementwise e = {i.op, i.dtype, nest_.code[i.op == OpCode::select ? i.b : i.a].dtype, i.aux};
    e.a = shaped(i.a, wide);
    if (i.b != no_nest_value) e.b = shaped(i.b, wide);
    if (i.c != no_nest_value) e.c = shaped(i.c, wide);
    give(at, emit_elementwise(ir_, e), wide);
}

} // namespace stithy::cpu
