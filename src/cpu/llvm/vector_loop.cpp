#include "cpu/llvm/emitter.hpp"

#include <limits>

namespace stithy::cpu {

using ir::OpCode;
using plan::Code;
using plan::no_nest_value;

namespace {

/// What changes nothing when it is combined.
LLVMValueRef neutral(Ir& ir, OpCode op, DType dtype, int lanes) {
    const LLVMTypeRef type = ir.type(dtype, lanes);
    if (dtype.is_floating()) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        switch (op) {
        case OpCode::add: return Ir::real(type, -0.0);
        case OpCode::multiply: return Ir::real(type, 1);
        case OpCode::minimum: return Ir::real(type, infinity);
        default: return Ir::real(type, -infinity);
        }
    }
    const int bits = dtype.bits();
    const auto lowest = static_cast<std::int64_t>(std::uint64_t{1} << (bits - 1));
    switch (op) {
    case OpCode::multiply: return Ir::integer(type, 1);
    case OpCode::and_: return Ir::integer(type, -1);
    case OpCode::minimum: return Ir::integer(type, dtype.is_signed() ? lowest - 1 : -1);
    case OpCode::maximum: return Ir::integer(type, dtype.is_signed() ? lowest : 0);
    default: return Ir::integer(type, 0); // add, or, xor
    }
}

} // namespace

/// Lanes [0, left) on; left is not negative.
LLVMValueRef Emitter::tail_mask(LLVMValueRef left) {
    if (options_.vector_bytes == 64 && lanes_ >= 8) { // a bit mask goes straight into a mask register
        const LLVMValueRef most = ir_.index(lanes_ == 64 ? 63 : lanes_);
        const LLVMValueRef count = ir_.intrinsic("llvm.umin", ir_.i64_type, {left, most});
        const LLVMValueRef bits = ir_.sub(LLVMBuildShl(ir_.builder, ir_.index(1), count, ""), ir_.index(1));
        const LLVMTypeRef whole = LLVMIntTypeInContext(ir_.context, static_cast<unsigned>(lanes_));
        const LLVMValueRef narrow = lanes_ == 64 ? bits : LLVMBuildTrunc(ir_.builder, bits, whole, "");
        return LLVMBuildBitCast(ir_.builder, narrow, Ir::widen(ir_.i1_type, lanes_), "");
    }
    const int bits = std::max(8, options_.vector_bytes * 8 / lanes_);
    const LLVMTypeRef type = ir_.integer_type(std::min(bits, 64), lanes_);
    const LLVMValueRef count = ir_.intrinsic("llvm.umin", ir_.i64_type, {left, ir_.index(lanes_)});
    const LLVMTypeRef element = LLVMGetElementType(type);
    const LLVMValueRef narrow = element == ir_.i64_type ? count : LLVMBuildTrunc(ir_.builder, count, element, "");
    return ir_.icmp(LLVMIntSGT, ir_.splat(narrow, lanes_), Ir::count_up(type));
}

/// One pass over [lower, upper) in steps of `lanes`, a multiple of it unless masked. Gives what the totals' lanes came to.
std::vector<LLVMValueRef> Emitter::emit_lanes(NestValue at, const VectorPlan& plan, int lanes, LLVMValueRef lower, LLVMValueRef upper, bool masked) {
    lanes_ = lanes;
    for (NestValue r : plan.totals) {
        const Instruction& i = nest_.code[r];
        totals_[r] = ir_.allocate(ir_.type(i.dtype, lanes));
        ir_.store(neutral(ir_, i.op, i.dtype, lanes), totals_[r]);
    }
    const Ir::Loop loop = ir_.open_loop(lower, upper, lanes);
    of(at) = {.value = loop.counter, .stride = ir_.index(1), .shape = Shape::linear};
    if (masked) mask_ = tail_mask(ir_.sub(upper, loop.counter));
    emit_range(at + 1, analysis_.close[at]);
    mask_ = nullptr;
    ir_.close(loop);
    std::vector<LLVMValueRef> sums;
    for (NestValue r : plan.totals) {
        sums.push_back(ir_.load(ir_.type(nest_.code[r].dtype, lanes), totals_[r]));
        totals_[r] = nullptr;
    }
    lanes_ = 1;
    return sums;
}

void Emitter::emit_vector_loop(NestValue at) {
    const Instruction& i = nest_.code[at];
    const VectorPlan plan = plan_vector_loop(nest_, analysis_, at, options_.vector_bytes);
    const LLVMValueRef lower = scalar(i.a), upper = scalar(i.b);
    std::vector<LLVMValueRef> sums, tail_sums;
    if (plan.one_masked) {
        sums = emit_lanes(at, plan, plan.lanes, lower, upper, true);
    } else {
        const int wide = plan.lanes * plan.copies;
        const LLVMValueRef size = ir_.intrinsic("llvm.smax", ir_.i64_type, {ir_.sub(upper, lower), ir_.index(0)});
        const LLVMValueRef whole = ir_.add(lower, ir_.bit_and(size, ir_.index(-wide)));
        sums = emit_lanes(at, plan, wide, lower, whole, false);
        tail_sums = emit_lanes(at, plan, plan.lanes, whole, upper, true);
    }
    for (std::size_t k = 0; k < plan.totals.size(); ++k) {
        const NestValue r = plan.totals[k];
        const Instruction& reduction = nest_.code[r];
        const OpCode op = reduction.op;
        LLVMValueRef sum = halved(op, reduction.dtype, sums[k], plan.lanes);
        if (!tail_sums.empty()) sum = combine(op, reduction.dtype, sum, tail_sums[k]);
        sum = halved(op, reduction.dtype, sum, 1);
        ir_.store(combine(op, reduction.dtype, ir_.load(ir_.scalar_type(reduction.dtype), slots_[r]), sum), slots_[r]);
    }
}

/// Halves are combined until `width` lanes are left: an order that only the numbers of lanes decide.
LLVMValueRef Emitter::halved(OpCode op, DType dtype, LLVMValueRef v, int width) {
    while (Ir::lanes_of(v) > width) {
        const int half = Ir::lanes_of(v) / 2;
        const LLVMValueRef low = half > 1 ? ir_.lanes(v, 0, half) : ir_.lane(v, 0);
        const LLVMValueRef high = half > 1 ? ir_.lanes(v, half, half) : ir_.lane(v, 1);
        v = combine(op, dtype, low, high);
    }
    return v;
}

void Emitter::emit_accumulate(NestValue at) {
    const Instruction& i = nest_.code[at];
    const Instruction& reduction = nest_.code[i.a];
    const bool apart = totals_[i.a] != nullptr;
    const bool wide = lanes_ > 1 && (apart || of(i.a).shape == Shape::varying);
    const LLVMValueRef slot = apart ? totals_[i.a] : slots_[i.a];
    const LLVMValueRef old = ir_.load(ir_.type(reduction.dtype, lanes_for(wide)), slot);
    LLVMValueRef sum;
    if (analysis_.fused[at] != no_nest_value) sum = fused(at, old, lanes_for(wide));
    else sum = combine(reduction.op, reduction.dtype, old, shaped(i.b, wide));
    if (wide && mask_ && (apart || under_control_)) sum = ir_.select(mask_, sum, old);
    ir_.store(sum, slot);
}

} // namespace stithy::cpu
