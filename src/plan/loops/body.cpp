#include "plan/loops/body.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::ValueId;

namespace {

constexpr std::int64_t frame_bytes = 512;

BodyParts parts_of(const ir::Function& region, const PoolVector<std::int32_t>& home) {
    BodyParts parts;
    parts.fused_form = fuse(region);
    parts.registers.resize(region.value_count());
    for (ValueId v = 0; v < region.value_count(); ++v) {
        const ir::Type& t = region.type(v);
        parts.registers[v] = (t.is_tensor() || t.is_accumulator()) && t.elements() == 1;
    }
    MemoryOptions options;
    options.registers = parts.registers;
    options.home = home;
    parts.memory = assign_memory(parts.fused_form, options);
    return parts;
}

} // namespace

bool is_small(const ir::Type& type) {
    const std::int64_t n = type.elements();
    return n > 1 && n <= 64 && std::all_of(type.shape().begin(), type.shape().end(), [](std::int64_t e) { return e <= 8; });
}

void copy_memory(Writer& w, const ir::Type& type, NestValue from, NestValue to) {
    if (type.elements() == 0 || from == to) return;
    const bool small = is_small(type);
    const NestValue zero = w.b.fixed_int(0);
    const NestValue i = small ? w.b.loop(LoopKind::unrolled, zero, w.b.fixed_int(type.elements()))
                              : w.b.loop(LoopKind::vector, zero, w.number(type.elements()));
    w.b.store(type.dtype(), to, i, w.b.load(type.dtype(), from, i));
    w.b.end();
}

BodyScope::BodyScope(Writer& w, const ir::Function& region, PoolVector<std::int32_t> home)
    : BodyParts(parts_of(region, home)), Scope(region, fused_form), home_(std::move(home)) {
    scalars_.assign(region.value_count(), no_nest_value);
    pointers_.assign(memory.blocks.size(), no_nest_value);
    // Scratch memory: what is small stands in the frame, where the compiler can turn it into registers.
    PoolVector<bool> small(memory.blocks.size(), true);
    for (ValueId v = 0; v < region.value_count(); ++v) {
        const std::uint32_t b = memory.block_of[v];
        if (b != no_block && !is_small(region.type(v))) small[b] = false;
    }
    NestValue base = no_nest_value;
    for (std::size_t b = 0; b < memory.blocks.size(); ++b) {
        const Block& block = memory.blocks[b];
        if (block.kind == Block::Kind::scratch) {
            if (small[b] && block.bytes <= frame_bytes) {
                pointers_[b] = w.b.local(f64, static_cast<std::size_t>((block.bytes + 7) / 8));
            } else {
                if (base == no_nest_value) base = w.scratch(memory.scratch_bytes);
                pointers_[b] = w.b.offset(base, w.number(block.offset));
            }
        } else if (block.kind == Block::Kind::constant) {
            const ir::Op& op = region.ops()[static_cast<std::size_t>(region.defining_op()[block.index])];
            pointers_[b] = w.constant(op.get<ir::ConstantAttr>().value);
        }
    }
}

BodyScope::Where BodyScope::where(std::size_t r) const {
    const ValueId v = fused.owner(function.results()[r]);
    if (registers[v]) return Where::in_register;
    const Block& block = memory.blocks[memory.block_of[v]];
    if (block.kind == Block::Kind::result && block.index == r) return Where::own;
    if (block.kind == Block::Kind::parameter && static_cast<std::int64_t>(block.index) == home_[r]) return Where::at_home;
    return Where::elsewhere;
}

void BodyScope::set_parameter(std::size_t p, NestValue value) {
    const auto v = static_cast<ValueId>(p);
    if (registers[v])
        scalars_[v] = value;
    else if (memory.block_of[v] != no_block)
        pointers_[memory.block_of[v]] = value;
}

void BodyScope::set_result_pointer(std::size_t r, NestValue pointer) {
    for (std::size_t b = 0; b < memory.blocks.size(); ++b)
        if (memory.blocks[b].kind == Block::Kind::result && memory.blocks[b].index == r) pointers_[b] = pointer;
}

double BodyScope::emit(Writer& w) {
    double estimate = 0;
    for (GroupId id = static_cast<GroupId>(fused.groups.size()); id-- > 0;) {
        const Group& g = fused.groups[id];
        if (g.kind == Group::Kind::copy && !registers[g.target] && memory.block_of[g.source] == memory.block_of[g.target]) continue;
        const Work work = emit_step(w, *this, id);
        estimate = work.estimate_us < 0 || estimate < 0 ? -1 : estimate + work.estimate_us;
    }
    return estimate;
}

NestValue BodyScope::pointer(Writer&, ValueId v) {
    const std::uint32_t b = memory.block_of[fused.owner(v)];
    internal_check(b != no_block && pointers_[b] != no_nest_value, "a value of a body has no memory");
    return pointers_[b];
}

NestValue BodyScope::pointer_or_local(Writer& w, ValueId v) {
    if (!registers[fused.owner(v)]) return pointer(w, v);
    const DType dtype = function.type(v).dtype();
    const NestValue local = w.b.local(dtype, 1);
    w.b.store(dtype, local, w.b.fixed_int(0), scalar(w, v));
    return local;
}

NestValue BodyScope::scalar(Writer& w, ValueId v) {
    const ValueId owner = fused.owner(v);
    if (registers[owner]) {
        if (scalars_[owner] == no_nest_value && constant_of(owner))
            return w.literal(function.type(owner).dtype(), constant_of(owner)->bits());
        internal_check(scalars_[owner] != no_nest_value, "a value of a body is not computed yet");
        if (function.type(owner).dtype() == function.type(v).dtype()) return scalars_[owner];
        return w.b.apply(ir::OpCode::bitcast_convert, function.type(v).dtype(), scalars_[owner]);
    }
    return w.b.load(function.type(v).dtype(), pointer(w, v), w.b.fixed_int(0));
}

const ir::Literal* BodyScope::constant_of(ValueId v) const {
    const std::int32_t made = function.defining_op()[v];
    if (made < 0 || function.ops()[static_cast<std::size_t>(made)].code != ir::OpCode::constant) return nullptr;
    return &function.ops()[static_cast<std::size_t>(made)].get<ir::ConstantAttr>().value;
}

void BodyScope::set_scalar(Writer& w, ValueId v, NestValue value) {
    const ValueId owner = fused.owner(v);
    if (registers[owner])
        scalars_[owner] = value;
    else
        w.b.store(function.type(v).dtype(), pointer(w, v), w.b.fixed_int(0), value);
}

} // namespace stithy::plan
