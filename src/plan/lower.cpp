#include "plan/loops/body.hpp"
#include "plan/lower/operations.hpp"
#include "plan/lowering.hpp"

#include <cmath>

namespace stithy::plan {

using ir::OpCode;

NestValue Writer::literal(DType dtype, std::uint64_t bits) {
    const auto is = [&](auto value) { return bits == ir::bits_of(dtype, value); };
    bool fixed = is(0) || is(1) || (!dtype.is_bool() && is(-1));
    if (dtype.is_floating()) fixed = fixed || is(INFINITY) || is(-INFINITY);
    return fixed ? b.fixed(dtype, bits) : b.literal(dtype, slot(static_cast<std::int64_t>(bits)));
}

NestValue Writer::scratch(std::int64_t bytes) {
    if (scratch_slot_ < 0) scratch_slot_ = static_cast<std::int64_t>(new_buffer());
    const std::int64_t at = scratch_bytes_;
    scratch_bytes_ += (bytes + 63) / 64 * 64;
    return b.offset(b.buffer(static_cast<std::size_t>(scratch_slot_)), number(at));
}

NestValue Writer::constant(const ir::Literal& literal) {
    for (const Constant& c : constants_)
        if (c.literal == literal) return b.buffer(c.slot);
    constants_.push_back({new_buffer(), literal});
    return b.buffer(constants_.back().slot);
}

LowerOperation lowering_of(OpCode code) {
    switch (code) {
    case OpCode::dot_general: return lower_dot;
    case OpCode::scatter:
    case OpCode::accumulator_scatter_add: return lower_scatter;
    case OpCode::loop: return lower_loop;
    case OpCode::while_: return lower_while;
    case OpCode::case_:
    case OpCode::if_: return lower_branch;
    default: return nullptr;
    }
}

Work emit_step(Writer& w, Scope& scope, GroupId id) {
    const Group& g = scope.fused.groups[id];
    if (g.kind == Group::Kind::loops) return emit_loops(w, scope, id);
    const ir::Op& op = scope.function.ops()[static_cast<std::size_t>(g.op)];
    if (g.kind == Group::Kind::copy) return emit_copy(w, scope, g.source, g.target);
    const LowerOperation lower = lowering_of(op.code);
    if (!lower) fail(ir::name(op.code), "is not supported on this device yet", op.location);
    return lower(w, scope, op);
}

/// Copies a value's memory, element by element in vectors.
Work emit_copy(Writer& w, Scope& scope, ir::ValueId source, ir::ValueId target) {
    const ir::Type& type = scope.function.type(target);
    Work work;
    work.estimate_us = static_cast<double>(type.bytes()) * 1e-4;
    if (type.elements() == 0) return work;
    if (type.elements() == 1) {
        scope.set_scalar(w, target, scope.scalar(w, source));
        return work;
    }
    copy_memory(w, type, scope.pointer(w, source), scope.pointer(w, target));
    return work;
}

} // namespace stithy::plan
