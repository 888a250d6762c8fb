#include "ir/structured.hpp"
#include "plan/fuser.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

void Fuser::need(ValueId v, GroupId by) {
    memory_[v] = true;
    latest_[v] = std::max(latest_[v], static_cast<std::int32_t>(by));
}

/// The memory of `target` starts as that of `source`: in place when `source` dies there, else by this copy.
void Fuser::copy_base(std::size_t op, ValueId source, ValueId target, GroupId writer) {
    const GroupId copy = new_group(Group::Kind::copy, op);
    group(copy).source = source;
    group(copy).target = target;
    out_.base[target] = source;
    need(source, copy);
    overwritten_[source] = std::max(overwritten_[source], static_cast<std::int32_t>(writer));
}

/// dynamic_update_slice and accumulator_add_at: the update is computed straight into its window.
void Fuser::visit_update(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const ValueId v = op.result(), base = op.operands[0], update = op.operands[1];
    out_.stored[v] = true;
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) node(n).state = Node::State::leaf;
    const GroupId id = new_loops(i, shape(update));
    IndexMap at = Fused::axes_of(group(id), 0, shape(update));
    const MapId scalar = add_map(id, IndexMap(), Shape());
    for (std::size_t d = 0; d < at.axes.size(); ++d)
        at.axes[d] = sum(group(id).table, at.axes[d], clamped_start(id, op.operands[d + 2], scalar, shape(base)[d] - shape(update)[d], 0));
    const MapId map = group(id).table.add(std::move(at));
    const NodeId n = request(id, update, 0, 0);
    group(id).outputs.push_back({n, v, map, true, op.code == OpCode::accumulator_add_at});
    copy_base(i, base, v, id);
}

/// Inside one user when that is quick, else each part is computed straight into its place.
void Fuser::visit_concatenate(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const ValueId v = op.result();
    const NodeId only = head_[v];
    if (!memory_[v] && only != no_node && node(only).next == no_node && op.operands.size() <= 4 &&
        group(node(only).group).arithmetic < group_limit && !overwritten_for(op, node(only).group) &&
        evaluations(group(node(only).group), node(only).map) <= shape(v).elements()) {
        return expand(only, false);
    }
    out_.stored[v] = true;
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) node(n).state = Node::State::leaf;
    const auto dim = static_cast<std::size_t>(op.get<ir::DimAttr>().dim);
    const std::int64_t least = least_group(op, v);
    internal_check(least <= static_cast<std::int64_t>(out_.groups.size()), "a group is needed before it is made");
    std::int64_t start = 0;
    for (ValueId x : op.operands) {
        const std::int64_t size = shape(x)[dim];
        if (shape(x).elements() != 0) {
            const GroupId id = new_loops(i, shape(x));
            IndexMap at = Fused::axes_of(group(id), 0, shape(x));
            at.axes[dim].offset += start;
            const MapId map = group(id).table.add(std::move(at));
            const NodeId n = request(id, x, 0, 0);
            group(id).outputs.push_back({n, v, map, true, false});
        }
        start += size;
    }
}

/// What is lowered alone: its operands and results are in memory.
void Fuser::visit_operation(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const GroupId id = new_group(Group::Kind::operation, i);
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        const ValueId v = op.result(r);
        if (f_.type(v).kind() == ir::TypeKind::token) continue;
        out_.stored[v] = true;
        for (NodeId n = head_[v]; n != no_node; n = node(n).next) node(n).state = Node::State::leaf;
    }
    for (ValueId x : op.operands)
        if (f_.type(x).kind() != ir::TypeKind::token) need(x, id);
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        const std::int32_t k = base_operand(op, r);
        if (k < 0) continue;
        const ValueId source = op.operands[static_cast<std::size_t>(k)];
        const bool region = op.code != OpCode::scatter && op.code != OpCode::accumulator_scatter_add;
        if (!region || shape(source).elements() != 1) copy_base(i, source, op.result(r), id); // loops read single elements themselves
    }
}

namespace {

/// The parameter whose memory a value of a region may be made in: the start of a chain of updates.
std::int32_t origin(const ir::Function& region, ValueId v) {
    while (v >= region.parameter_count()) {
        const ir::Op& op = region.ops()[static_cast<std::size_t>(region.defining_op()[v])];
        std::int32_t k = -1;
        if (op.code == OpCode::dynamic_update_slice || op.code == OpCode::accumulator_add_at || op.code == OpCode::accumulator_add)
            k = 0;
        else
            k = base_operand(op, v - op.first_result);
        if (k < 0) return -1;
        v = op.operands[static_cast<std::size_t>(k)];
    }
    return static_cast<std::int32_t>(v);
}

} // namespace

std::int32_t base_operand(const ir::Op& op, std::uint32_t result) {
    switch (op.code) {
    case OpCode::if_:
    case OpCode::case_: {
        std::int32_t parameter = -1;
        for (std::size_t k = 0; k < op.regions.size(); ++k) {
            const std::int32_t p = origin(*op.regions[k], op.regions[k]->results()[result]);
            if (p < 0 || (k > 0 && p != parameter)) return -1;
            parameter = p;
        }
        return parameter < 0 ? -1 : parameter + 1;
    }
    case OpCode::scatter: return static_cast<std::int32_t>(result);
    case OpCode::accumulator_scatter_add: return 0;
    case OpCode::while_: return static_cast<std::int32_t>(op.get<ir::WhileAttr>().invariants) + static_cast<std::int32_t>(result);
    case OpCode::loop: {
        const ir::LoopLayout layout(op.get<ir::LoopAttr>());
        if (result >= layout.carries + layout.accumulators) return -1;
        return static_cast<std::int32_t>(layout.operand_of(layout.carry(0)) + result);
    }
    default: return -1;
    }
}

} // namespace stithy::plan
