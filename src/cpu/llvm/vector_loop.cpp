#include "cpu/llvm/emitter.hpp"

#include <algorithm>
#include <limits>

namespace stithy::cpu {

using ir::OpCode;
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

/// What a masked pass over `size` iterations needs: bits of the last step's lanes, made before the loop.
LLVMValueRef Emitter::last_step_bits(LLVMValueRef size) {
    const LLVMValueRef rest = ir_.bit_and(size, ir_.index(lanes_ - 1));
    const LLVMValueRef bits = ir_.sub(LLVMBuildShl(ir_.builder, ir_.index(1), rest, ""), ir_.index(1));
    const LLVMTypeRef whole = LLVMIntTypeInContext(ir_.context, static_cast<unsigned>(lanes_));
    return lanes_ == 64 ? bits : LLVMBuildTrunc(ir_.builder, bits, whole, "");
}

/// Lanes [0, left) on; left is not negative. `last_bits`: of last_step_bits, or null for a mask that is made by comparing.
LLVMValueRef Emitter::tail_mask(LLVMValueRef left, LLVMValueRef last_bits) {
    if (last_bits) { // goes straight into a mask register
        const LLVMValueRef all = Ir::integer(LLVMTypeOf(last_bits), -1);
        const LLVMValueRef bits = ir_.select(ir_.icmp(LLVMIntSGE, left, ir_.index(lanes_)), all, last_bits);
        return LLVMBuildBitCast(ir_.builder, bits, Ir::widen(ir_.i1_type, lanes_), "");
    }
    const int bits = std::max(8, options_.vector_bytes * 8 / lanes_);
    const LLVMTypeRef type = ir_.integer_type(std::min(bits, 64), lanes_);
    const LLVMValueRef count = ir_.intrinsic("llvm.umin", ir_.i64_type, {left, ir_.index(lanes_)});
    const LLVMTypeRef element = LLVMGetElementType(type);
    const LLVMValueRef narrow = element == ir_.i64_type ? count : LLVMBuildTrunc(ir_.builder, count, element, "");
    return ir_.icmp(LLVMIntSGT, ir_.splat(narrow, lanes_), Ir::count_up(type));
}

/// The lanes' parts of a reduction live from its declaration to its last `get`, so that loops around a vector loop do not join them each
/// time.
void Emitter::open_totals(NestValue reduction) {
    const Instruction& i = nest_.code[reduction];
    const auto allocate = [&](int lanes) {
        const LLVMValueRef slot = ir_.allocate(ir_.memory_type(i.dtype, lanes)); // bools as bytes: bits are slow before AVX-512
        ir_.store(to_memory(i.dtype, neutral(ir_, i.op, i.dtype, lanes)), slot);
        return slot;
    };
    std::erase_if(totals_, [&](const Total& t) { return t.reduction == reduction; }); // unrolled loops declare it again
    for (const auto& [loop, plan] : plans_) {
        if (std::find(plan.totals.begin(), plan.totals.end(), reduction) == plan.totals.end()) continue;
        Total total = {loop, reduction};
        if (plan.one_masked || plan.copies > 1) total.wide = allocate(plan.lanes * plan.copies);
        if (!plan.one_masked) total.narrow = allocate(plan.lanes);
        if (!total.wide) total.wide = total.narrow;
        if (plan.gathers && i.op == OpCode::add && i.dtype.is_floating()) total.gathered = allocate(plan.lanes * plan.copies);
        totals_.push_back(total);
    }
}

/// A reduction's value so far: the scalar part and the lanes' parts, joined in an order that only the numbers of lanes decide.
LLVMValueRef Emitter::total(NestValue reduction) {
    const Instruction& i = nest_.code[reduction];
    LLVMValueRef sum = ir_.load(ir_.scalar_type(i.dtype), slots_[reduction]);
    for (const Total& t : totals_) {
        if (t.reduction != reduction) continue;
        const VectorPlan& plan = plans_.at(t.loop);
        LLVMValueRef lanes = ir_.load(ir_.memory_type(i.dtype, plan.lanes * plan.copies), t.wide);
        if (t.gathered) lanes = combine(i.op, i.dtype, ir_.load(LLVMTypeOf(lanes), t.gathered), lanes);
        lanes = halved(i.op, i.dtype, lanes, plan.lanes);
        if (t.narrow && t.narrow != t.wide) lanes = combine(i.op, i.dtype, lanes, ir_.load(ir_.memory_type(i.dtype, plan.lanes), t.narrow));
        sum = combine(i.op, i.dtype, sum, from_memory(i.dtype, halved(i.op, i.dtype, lanes, 1)));
    }
    return sum;
}

void Emitter::gather(const Total& total, int lanes) {
    const Instruction& i = nest_.code[total.reduction];
    const LLVMTypeRef type = ir_.memory_type(i.dtype, lanes);
    ir_.store(combine(i.op, i.dtype, ir_.load(type, total.gathered), ir_.load(type, total.wide)), total.gathered);
    ir_.store(neutral(ir_, i.op, i.dtype, lanes), total.wide);
}

/// In the body of a main loop: after each 16 steps what the lanes have summed goes to a second level, so that errors grow with the square
/// root of the length at most. `done`: iterations before this step.
void Emitter::gather_totals(NestValue loop, LLVMValueRef done, int lanes) {
    constexpr std::int64_t steps = 16;
    std::vector<const Total*> mine;
    for (const Total& t : totals_)
        if (t.loop == loop && t.gathered) mine.push_back(&t);
    if (mine.empty()) return;
    const LLVMBasicBlockRef now = ir_.block("gather"), next = ir_.block("gathered");
    const LLVMValueRef place = ir_.bit_and(done, ir_.index(steps * lanes - 1));
    ir_.branch(ir_.icmp(LLVMIntEQ, place, ir_.index((steps - 1) * lanes)), now, next);
    ir_.at(now);
    for (const Total* t : mine) gather(*t, lanes);
    ir_.jump(next);
    ir_.at(next);
}

/// One pass over [lower, upper) in steps of `lanes`, a multiple of it unless masked.
void Emitter::emit_lanes(NestValue at, int lanes, LLVMValueRef lower, LLVMValueRef upper, bool masked, bool wide) {
    lanes_ = lanes;
    for (const Total& t : totals_) {
        if (t.loop == at) lane_slots_[t.reduction] = wide ? t.wide : t.narrow;
    }
    const bool by_bits = masked && options_.vector_bytes == 64 && lanes >= 8;
    const LLVMValueRef last_bits = by_bits ? last_step_bits(ir_.sub(upper, lower)) : nullptr;
    const Ir::Loop loop = ir_.open_loop(lower, upper, lanes);
    of(at) = {.value = loop.counter, .stride = ir_.index(1), .shape = Shape::linear};
    if (masked) mask_ = tail_mask(ir_.sub(upper, loop.counter), last_bits);
    emit_range(at + 1, analysis_.close[at]);
    mask_ = nullptr;
    if (wide) gather_totals(at, ir_.sub(loop.counter, lower), lanes);
    ir_.close(loop);
    for (const Total& t : totals_) // of a loop that is repeated: each time is a part of its own
        if (wide && t.loop == at && t.gathered && analysis_.parent[at] != analysis_.parent[t.reduction]) gather(t, lanes);
    for (const Total& t : totals_) {
        if (t.loop == at) lane_slots_[t.reduction] = nullptr;
    }
    lanes_ = 1;
}

void Emitter::emit_vector_loop(NestValue at) {
    const Instruction& i = nest_.code[at];
    const VectorPlan& plan = plans_.at(at);
    const LLVMValueRef lower = scalar(i.a), upper = scalar(i.b);
    if (plan.one_masked) return emit_lanes(at, plan.lanes, lower, upper, true, true);
    const int wide = plan.lanes * plan.copies;
    const LLVMValueRef size = ir_.intrinsic("llvm.smax", ir_.i64_type, {ir_.sub(upper, lower), ir_.index(0)});
    const LLVMValueRef whole = ir_.add(lower, ir_.bit_and(size, ir_.index(-wide)));
    emit_lanes(at, wide, lower, whole, false, true);
    emit_lanes(at, plan.lanes, whole, upper, true, false);
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
    const bool apart = lane_slots_[i.a] != nullptr;
    const bool wide = lanes_ > 1 && (apart || of(i.a).shape == Shape::varying);
    const LLVMValueRef slot = apart ? lane_slots_[i.a] : slots_[i.a];
    const int lanes = lanes_for(wide);
    const LLVMValueRef old = ir_.load(apart ? ir_.memory_type(reduction.dtype, lanes) : ir_.type(reduction.dtype, lanes), slot);
    LLVMValueRef sum;
    if (analysis_.fused[at] != no_nest_value) {
        sum = fused(at, old, lanes);
    } else {
        const LLVMValueRef value = shaped(i.b, wide);
        sum = combine(reduction.op, reduction.dtype, old, apart ? to_memory(reduction.dtype, value) : value);
    }
    if (wide && mask_ && (apart || under_control_)) sum = ir_.select(mask_, sum, old);
    ir_.store(sum, slot);
}

} // namespace stithy::cpu
