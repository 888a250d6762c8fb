#include "cpu/llvm/emitter.hpp"

namespace stithy::cpu {

using plan::Code;
using plan::no_nest_value;

LLVMValueRef Emitter::to_memory(DType dtype, LLVMValueRef v) {
    return dtype.is_bool() ? LLVMBuildZExt(ir_.builder, v, ir_.memory_type(dtype, Ir::lanes_of(v)), "") : v;
}

LLVMValueRef Emitter::from_memory(DType dtype, LLVMValueRef v) {
    return dtype.is_bool() ? ir_.icmp(LLVMIntNE, v, Ir::integer(LLVMTypeOf(v), 0)) : v;
}

LLVMValueRef Emitter::full_mask() { return mask_ ? mask_ : Ir::integer(Ir::widen(ir_.i1_type, lanes_), -1); }

LLVMValueRef Emitter::load_lanes(DType dtype, LLVMValueRef pointer, LLVMValueRef mask) {
    const LLVMTypeRef type = ir_.memory_type(dtype, lanes_);
    const auto alignment = static_cast<unsigned>(dtype.size());
    if (!mask) return ir_.load(type, pointer, alignment);
    if (!masks_are_cheap(dtype)) return load_one_by_one(type, pointer, mask);
    return ir_.intrinsic("llvm.masked.load", {type, ir_.pointer_type},
                         {pointer, Ir::integer(ir_.i32_type, alignment), mask, LLVMConstNull(type)});
}

void Emitter::store_lanes(DType dtype, LLVMValueRef value, LLVMValueRef pointer, LLVMValueRef mask) {
    const auto alignment = static_cast<unsigned>(dtype.size());
    if (!mask) return ir_.store(value, pointer, alignment);
    if (!masks_are_cheap(dtype)) return store_one_by_one(value, pointer, mask);
    ir_.intrinsic("llvm.masked.store", {LLVMTypeOf(value), ir_.pointer_type}, {value, pointer, Ir::integer(ir_.i32_type, alignment), mask});
}

LLVMValueRef Emitter::gather_lanes(DType dtype, LLVMValueRef places) {
    const LLVMTypeRef type = ir_.memory_type(dtype, lanes_);
    if (!gathers_are_cheap(dtype)) return load_one_by_one(type, places, mask_);
    const LLVMValueRef alignment = Ir::integer(ir_.i32_type, static_cast<std::int64_t>(dtype.size()));
    return ir_.intrinsic("llvm.masked.gather", {type, LLVMTypeOf(places)}, {places, alignment, full_mask(), LLVMConstNull(type)});
}

void Emitter::scatter_lanes(DType dtype, LLVMValueRef value, LLVMValueRef places) {
    if (!gathers_are_cheap(dtype) || options_.vector_bytes < 64) return store_one_by_one(value, places, mask_);
    const LLVMValueRef alignment = Ir::integer(ir_.i32_type, static_cast<std::int64_t>(dtype.size()));
    ir_.intrinsic("llvm.masked.scatter", {LLVMTypeOf(value), LLVMTypeOf(places)}, {value, places, alignment, full_mask()});
}

/// The lanes' addresses when they are not side by side.
LLVMValueRef Emitter::lane_pointers(LLVMTypeRef element, const Emitted& pointer, const Emitted& index) {
    const LLVMTypeRef indices = ir_.type(i64, lanes_);
    if (pointer.per_lane) {
        const LLVMValueRef scaled = ir_.mul(vector_of(index), Ir::integer(indices, lanes_));
        return ir_.element(element, pointer.value, ir_.add(scaled, Ir::count_up(indices)));
    }
    if (index.shape != Shape::linear || pointer.shape == Shape::varying) return ir_.element(element, pointer.value, vector_of(index));
    // The first lane's address and the lanes' distances: the latter do not change from iteration to iteration.
    const LLVMValueRef first = ir_.element(element, pointer.value, index.value);
    return ir_.element(element, first, ir_.mul(ir_.splat(index.stride, lanes_), Ir::count_up(indices)));
}

namespace {

/// -1, 0 (not a constant), or the constant stride 1.
int unit_stride(const Emitted& index) {
    if (index.shape != Shape::linear || !LLVMIsAConstantInt(index.stride)) return 0;
    const long long stride = LLVMConstIntGetSExtValue(index.stride);
    return stride == 1 || stride == -1 ? static_cast<int>(stride) : 0;
}

} // namespace

void Emitter::emit_load(NestValue at) {
    const Instruction& i = nest_.code[at];
    const Emitted pointer = of(i.a), index = of(i.b);
    const LLVMTypeRef element = ir_.memory_type(i.dtype, 1), wide = ir_.memory_type(i.dtype, lanes_);
    const auto alignment = static_cast<unsigned>(i.dtype.size());
    LLVMValueRef value;
    bool varying = true;
    if (pointer.per_lane && index.shape == Shape::uniform) { // its lanes are always there
        const LLVMValueRef place = ir_.element(element, pointer.value, ir_.mul(index.value, ir_.index(lanes_)));
        value = ir_.load(wide, place, alignment);
    } else if (pointer.shape == Shape::uniform && index.shape == Shape::uniform) {
        value = ir_.load(element, ir_.element(element, pointer.value, index.value), alignment);
        varying = false;
    } else if (const int step = pointer.shape == Shape::uniform && !pointer.per_lane ? unit_stride(index) : 0; step == 1) {
        value = load_lanes(i.dtype, ir_.element(element, pointer.value, index.value), mask_);
    } else if (step == -1) {
        const LLVMValueRef last = ir_.sub(index.value, ir_.index(lanes_ - 1));
        value = ir_.reversed(load_lanes(i.dtype, ir_.element(element, pointer.value, last), mask_ ? ir_.reversed(mask_) : nullptr));
    } else {
        value = gather_lanes(i.dtype, lane_pointers(element, pointer, index));
    }
    give(at, from_memory(i.dtype, value), varying && lanes_ > 1);
}

void Emitter::emit_store(const Instruction& i) {
    const Emitted pointer = of(i.a), index = of(i.b);
    const LLVMTypeRef element = ir_.memory_type(i.dtype, 1);
    const auto alignment = static_cast<unsigned>(i.dtype.size());
    const bool one_place = pointer.shape == Shape::uniform && !pointer.per_lane && index.shape == Shape::uniform;
    if (lanes_ == 1 || (one_place && of(i.c).shape == Shape::uniform)) {
        ir_.store(to_memory(i.dtype, of(i.c).value), ir_.element(element, pointer.value, index.value), alignment);
        return;
    }
    LLVMValueRef value = to_memory(i.dtype, vector(i.c));
    if (pointer.per_lane && index.shape == Shape::uniform) {
        const LLVMValueRef place = ir_.element(element, pointer.value, ir_.mul(index.value, ir_.index(lanes_)));
        if (under_control_) value = ir_.select(mask_, value, ir_.load(LLVMTypeOf(value), place, alignment));
        ir_.store(value, place, alignment);
        return;
    }
    const int step = pointer.shape == Shape::uniform && !pointer.per_lane ? unit_stride(index) : 0;
    if (step == 1) return store_lanes(i.dtype, value, ir_.element(element, pointer.value, index.value), mask_);
    if (step == -1) {
        const LLVMValueRef last = ir_.sub(index.value, ir_.index(lanes_ - 1));
        return store_lanes(i.dtype, ir_.reversed(value), ir_.element(element, pointer.value, last), mask_ ? ir_.reversed(mask_) : nullptr);
    }
    const LLVMValueRef places = lane_pointers(element, pointer, index);
    scatter_lanes(i.dtype, value, Ir::lanes_of(places) > 1 ? places : ir_.splat(places, lanes_));
}

/// One instruction for each cache line.
void Emitter::emit_prefetch(const Instruction& i) {
    const Emitted &pointer = of(i.a), &index = of(i.b);
    if (pointer.shape != Shape::uniform || pointer.per_lane || index.shape == Shape::varying) return;
    if (index.shape == Shape::linear && unit_stride(index) != 1) return;
    constexpr int line = 64;
    const int bytes = index.shape == Shape::linear ? lanes_ * static_cast<int>(i.dtype.size()) : 1;
    const LLVMValueRef first = ir_.element(ir_.memory_type(i.dtype, 1), pointer.value, index.value);
    const auto number = [&](int n) { return Ir::integer(ir_.i32_type, n); };
    for (int at = 0; at < bytes; at += line)
        ir_.intrinsic("llvm.prefetch", ir_.pointer_type, {ir_.moved(first, ir_.index(at)), number(i.aux), number(3), number(1)});
}

void Emitter::emit_offset(NestValue at) {
    const Instruction& i = nest_.code[at];
    const Emitted pointer = of(i.a), bytes = of(i.b);
    if (pointer.per_lane) {
        internal_check(bytes.shape == Shape::uniform, "the lanes' local arrays are moved by different distances");
        of(at) = pointer;
        of(at).value = ir_.moved(pointer.value, ir_.mul(bytes.value, ir_.index(lanes_)));
        return;
    }
    const bool varying = pointer.shape != Shape::uniform || bytes.shape != Shape::uniform;
    of(at) = {.value = ir_.moved(pointer.value, varying ? vector_of(bytes) : bytes.value),
              .shape = varying ? Shape::varying : Shape::uniform};
}

void Emitter::emit_local(NestValue at) {
    const Instruction& i = nest_.code[at];
    const bool per_lane = analysis_.vector_loop[at] != no_nest_value && lanes_ > 1;
    const auto count = static_cast<unsigned>(i.slot) * static_cast<unsigned>(per_lane ? lanes_ : 1);
    const LLVMValueRef memory = ir_.allocate(LLVMArrayType(ir_.memory_type(i.dtype, 1), count));
    LLVMSetAlignment(memory, static_cast<unsigned>(options_.vector_bytes));
    of(at) = {.value = memory, .per_lane = per_lane};
}

void Emitter::emit_variable(NestValue at) {
    const Instruction& i = nest_.code[at];
    const bool pointer = i.code == Code::variable && i.aux == 1;
    const bool wide = !pointer && analysis_.shape[at] != Shape::uniform && lanes_ > 1;
    const LLVMValueRef first = shaped(i.a, wide); // pointers that differ between lanes are refused
    slots_[at] = ir_.allocate(LLVMTypeOf(first));
    ir_.store(first, slots_[at]);
    if (i.code == Code::reduction && !wide) open_totals(at);
    of(at) = {.value = slots_[at], .shape = wide ? Shape::varying : Shape::uniform, .per_lane = pointer && of(i.a).per_lane};
}

LLVMTypeRef Emitter::variable_type(NestValue variable) const {
    const Instruction& v = nest_.code[variable];
    const bool pointer = v.code == Code::variable && v.aux == 1;
    return pointer ? ir_.pointer_type : ir_.type(v.dtype, lanes_for(values_[variable].shape == Shape::varying));
}

void Emitter::emit_get(NestValue at) {
    const Instruction& i = nest_.code[at];
    const Emitted& variable = of(i.a);
    if (nest_.code[i.a].code == Code::reduction && variable.shape == Shape::uniform) {
        of(at) = {.value = total(i.a)};
        return;
    }
    of(at) = {.value = ir_.load(variable_type(i.a), slots_[i.a]), .shape = variable.shape, .per_lane = i.aux == 1 && variable.per_lane};
}

void Emitter::emit_set(const Instruction& i) {
    const bool wide = of(i.a).shape == Shape::varying;
    LLVMValueRef value = i.aux == 1 ? of(i.b).value : shaped(i.b, wide);
    if (wide && under_control_) value = ir_.select(mask_, value, ir_.load(LLVMTypeOf(value), slots_[i.a]));
    ir_.store(value, slots_[i.a]);
}

} // namespace stithy::cpu
