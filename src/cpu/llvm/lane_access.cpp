#include "cpu/llvm/emitter.hpp"

namespace stithy::cpu {

/// Whether LLVM makes short code of accesses under a mask; else it makes a branch for each lane, which a loop over the lanes replaces.
bool Emitter::masks_are_cheap(DType dtype) const {
    if (options_.vector_bytes == 64 || lanes_ <= 4) return true;
    return options_.vector_bytes == 32 && dtype.size() >= 4;
}

bool Emitter::gathers_are_cheap(DType dtype) const { return lanes_ <= 4 || (options_.vector_bytes >= 32 && dtype.size() >= 4); }

void Emitter::over_lanes(LLVMValueRef mask, const std::function<void(LLVMValueRef lane)>& body) {
    LLVMValueRef flags = nullptr;
    if (mask) {
        const LLVMTypeRef bytes = Ir::widen(ir_.i8_type, lanes_);
        flags = ir_.allocate(bytes);
        ir_.store(LLVMBuildZExt(ir_.builder, mask, bytes, ""), flags);
    }
    const Ir::Loop loop = ir_.open_loop(ir_.index(0), ir_.index(lanes_));
    const LLVMBasicBlockRef next = mask ? ir_.block("next") : nullptr;
    if (mask) {
        const LLVMBasicBlockRef on = ir_.block("on");
        const LLVMValueRef flag = ir_.load(ir_.i8_type, ir_.element(ir_.i8_type, flags, loop.counter));
        ir_.branch(ir_.icmp(LLVMIntNE, flag, Ir::integer(ir_.i8_type, 0)), on, next);
        ir_.at(on);
    }
    body(loop.counter);
    if (mask) {
        ir_.jump(next);
        ir_.at(next);
    }
    ir_.close(loop);
}

namespace {

/// Address of a lane: side by side from one pointer, or one of a vector of pointers that was put into memory.
LLVMValueRef place_of(const Ir& ir, LLVMTypeRef element, LLVMValueRef places, bool each, LLVMValueRef lane) {
    if (!each) return ir.element(element, places, lane);
    return ir.load(ir.pointer_type, ir.element(ir.pointer_type, places, lane));
}

} // namespace

/// `places`: a pointer to the first lane, the others side by side, or a vector of pointers.
LLVMValueRef Emitter::load_one_by_one(LLVMTypeRef type, LLVMValueRef places, LLVMValueRef mask) {
    const LLVMTypeRef element = LLVMGetElementType(type);
    const bool each = Ir::lanes_of(places) > 1;
    const LLVMValueRef result = ir_.allocate(type);
    LLVMValueRef from = places;
    if (each) {
        from = ir_.allocate(LLVMTypeOf(places));
        ir_.store(places, from);
    }
    if (mask) ir_.store(LLVMConstNull(type), result);
    over_lanes(mask, [&](LLVMValueRef lane) {
        const LLVMValueRef v = ir_.load(element, place_of(ir_, element, from, each, lane));
        ir_.store(v, ir_.element(element, result, lane));
    });
    return ir_.load(type, result);
}

void Emitter::store_one_by_one(LLVMValueRef value, LLVMValueRef places, LLVMValueRef mask) {
    const LLVMTypeRef type = LLVMTypeOf(value), element = LLVMGetElementType(type);
    const bool each = Ir::lanes_of(places) > 1;
    const LLVMValueRef values = ir_.allocate(type);
    LLVMValueRef to = places;
    ir_.store(value, values);
    if (each) {
        to = ir_.allocate(LLVMTypeOf(places));
        ir_.store(places, to);
    }
    over_lanes(mask, [&](LLVMValueRef lane) {
        ir_.store(ir_.load(element, ir_.element(element, values, lane)), place_of(ir_, element, to, each, lane));
    });
}

} // namespace stithy::cpu
