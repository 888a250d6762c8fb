#include "ops/elementwise.hpp"
#include "plan/fuser.hpp"
#include "plan/loop_plan.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

int weight(OpCode code) {
    if (ops::is_transcendental(code)) return 12;
    switch (code) {
    case OpCode::divide:
    case OpCode::remainder:
    case OpCode::sqrt:
    case OpCode::rsqrt: return 4;
    default: return 1;
    }
}

bool moves_only(OpCode code) {
    switch (code) {
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::dynamic_slice:
    case OpCode::reverse:
    case OpCode::gather: return true;
    default: return false;
    }
}

std::uint64_t reduced_dims(const Group& group) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < group.reduced.size(); ++i)
        if (group.reduced[i]) bits |= std::uint64_t{1} << i;
    return bits;
}

std::uint64_t all_dims(const Group& group) { return group.extents.empty() ? 0 : ~std::uint64_t{0} >> (64 - group.extents.size()); }

NodeId Fused::resolved(NodeId n) const {
    while (nodes[n].state == Node::State::forward) n = operand(nodes[n], 0);
    return n;
}

ValueId Fused::owner(ValueId v) const {
    while (alias[v] != v) v = alias[v];
    return v;
}

namespace {
std::uint64_t dims_of_term(const Fused& fused, const Group& group, std::int32_t term);

std::uint64_t dims_of_axis(const Fused& fused, const Group& group, const AxisIndex& axis) {
    std::uint64_t bits = dims_of_term(fused, group, axis.term);
    for (const AxisIndex::Part& p : axis.parts) bits |= std::uint64_t{1} << p.dim;
    return bits;
}

std::uint64_t dims_of_term(const Fused& fused, const Group& group, std::int32_t term) {
    if (term < 0) return 0;
    const Term& t = group.table.terms[static_cast<std::size_t>(term)];
    std::uint64_t bits = dims_of_axis(fused, group, t.inner) | dims_of_term(fused, group, t.left) | dims_of_term(fused, group, t.right);
    if (t.node != no_node) bits |= fused.dims_of(group, fused.nodes[t.node].map);
    return bits;
}
} // namespace

std::uint64_t Fused::dims_of(const Group& group, MapId map) const {
    if (map == 0) return group.root_dims == 0 ? 0 : ~std::uint64_t{0} >> (64 - group.root_dims);
    std::uint64_t bits = 0;
    for (const AxisIndex& axis : group.table.maps[map].axes) bits |= dims_of_axis(*this, group, axis);
    return bits;
}

Fuser::Fuser(const ir::Function& function) : f_(function) {
    const std::size_t n = f_.value_count();
    out_.function = &f_;
    out_.alias.resize(n);
    for (ValueId v = 0; v < n; ++v) out_.alias[v] = v;
    out_.stored.assign(n, false);
    out_.base.assign(n, ir::no_value);
    out_.nodes.reserve(n + n / 2);
    out_.operands.reserve(2 * n);
    head_.assign(n, no_node);
    latest_.assign(n, -1);
    overwritten_.assign(n, -1);
    memory_.assign(n, false);
}

Fused Fuser::run() {
    for (ValueId r : f_.results()) memory_[r] = true;
    for (std::size_t i = f_.ops().size(); i-- > 0;) {
        if (f_.ops()[i].effect == ir::Effect::ordered || wanted(f_.ops()[i])) visit(i);
    }
    for (ValueId p = 0; p < f_.parameter_count(); ++p) {
        out_.stored[p] = true;
        for (NodeId n = head_[p]; n != no_node; n = node(n).next) node(n).state = Node::State::leaf;
    }
    for (GroupId g = 0; g < out_.groups.size(); ++g) add_spills(out_, g);
    return std::move(out_);
}

bool Fuser::wanted(const ir::Op& op) const {
    for (std::uint32_t r = 0; r < op.result_count; ++r)
        if (memory_[op.result(r)] || head_[op.result(r)] != no_node) return true;
    return false;
}

void Fuser::visit(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    switch (op.code) {
    case OpCode::constant:
        if (!op.get<ir::ConstantAttr>().value.is_splat()) return visit_dense(op.result());
        return visit_plain(i);
    case OpCode::reshape: return memory_[op.result()] ? visit_alias(op, 0, op.operands[0]) : visit_plain(i);
    case OpCode::bitcast_convert: {
        if (f_.type(op.operands[0]).dtype().size() == f_.type(op.result()).dtype().size()) return visit_plain(i);
        memory_[op.result()] = true;
        return visit_alias(op, 0, op.operands[0]);
    }
    case OpCode::optimization_barrier:
        for (std::uint32_t r = 0; r < op.result_count; ++r) visit_alias(op, r, op.operands[r]);
        return;
    case OpCode::freeze: return visit_alias(op, 0, op.operands[0]);
    case OpCode::get_tuple_element: {
        const std::int32_t made = f_.defining_op()[op.operands[0]];
        if (made < 0 || f_.ops()[static_cast<std::size_t>(made)].code != OpCode::tuple)
            fail("get_tuple_element", "tuples as arguments are not supported", op.location);
        return visit_alias(op, 0, f_.ops()[static_cast<std::size_t>(made)].operands[static_cast<std::size_t>(op.get<ir::DimAttr>().dim)]);
    }
    case OpCode::tuple:
    case OpCode::create_token:
    case OpCode::after_all: return;
    case OpCode::reduce: return visit_reduce(i);
    case OpCode::concatenate: return visit_concatenate(i);
    case OpCode::dynamic_update_slice:
    case OpCode::accumulator_add_at: return visit_update(i);
    case OpCode::iota:
    case OpCode::pad:
    case OpCode::accumulator_zeros:
    case OpCode::accumulator_add: return visit_plain(i);
    default: break;
    }
    if (ir::is_elementwise(op.code) || moves_only(op.code)) return visit_plain(i);
    visit_operation(i);
}

/// Results that share all the bytes of an operand.
void Fuser::visit_alias(const ir::Op& op, std::size_t result, ValueId source) {
    const ValueId v = op.result(static_cast<std::uint32_t>(result));
    const bool same_shape = f_.type(v).dtype() == f_.type(source).dtype();
    latest_[source] = std::max(latest_[source], latest_[v]);
    overwritten_[source] = std::max(overwritten_[source], overwritten_[v]);
    if (memory_[v]) {
        memory_[source] = true;
        out_.alias[v] = source;
        out_.stored[v] = true;
    }
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) {
        if (!same_shape) {
            node(n).state = Node::State::leaf;
            continue;
        }
        const GroupId g = node(n).group;
        MapId map = node(n).map;
        if (map != 0 && op.code == OpCode::reshape)
            map = add_map(g, reshaped(group(g).table, group(g).table.maps[map], shape(v), shape(source), group(g).extents), shape(source));
        const NodeId operand = request(g, source, map, node(n).copies);
        set_operands(n, Node::State::forward, {operand});
    }
}

void Fuser::visit_dense(ValueId v) {
    out_.stored[v] = true;
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) node(n).state = Node::State::leaf;
}

void Fuser::visit_plain(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const ValueId v = op.result();
    if (memory_[v] && !moves_only(op.code) && op.code != OpCode::constant && op.code != OpCode::iota) return store(i, v);
    if (!compute_at_uses(op, v)) return store(i, v);
    if (memory_[v]) store(i, v); // what only moves is read through by its other users
}

/// Whether a group that runs at or after the time when an operand of `op` is overwritten would have to read it.
bool Fuser::overwritten_for(const ir::Op& op, GroupId requester) const {
    for (ValueId operand : op.operands)
        if (overwritten_[operand] >= static_cast<std::int64_t>(requester)) return true;
    return false;
}

/// The lowest number of a group that may compute a value: it runs before all users, and before what overwrites the operands.
std::int64_t Fuser::least_group(const ir::Op& op, ValueId v) const {
    std::int64_t least = latest_[v];
    for (ValueId operand : op.operands) least = std::max<std::int64_t>(least, overwritten_[operand] + 1);
    return least;
}

/// Computes a value inside the groups that use it, when that costs little more than computing it once.
bool Fuser::compute_at_uses(const ir::Op& op, ValueId v) {
    const int cost = moves_only(op.code) || op.code == OpCode::constant ? 0 : weight(op.code);
    int count = 0;
    bool one_group = true;
    const std::int64_t elements = shape(v).elements();
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) {
        const Node r = node(n);
        ++count;
        one_group = one_group && r.group == node(head_[v]).group;
        Group& g = group(r.group);
        if (cost > 0 && g.arithmetic >= group_limit) return false;
        if (g.table.terms.size() >= 32) return false;
        if (overwritten_for(op, r.group)) {
            // One element is read before it is written; so is an element that stands where the result goes.
            bool harmless = g.extents.empty();
            if (!harmless && op.code == OpCode::dynamic_slice && !g.outputs.empty() && g.outputs[0].part) {
                const auto map = moved(r.group, op, Fused::axes_of(g, r.map, shape(v)), r.copies);
                harmless = map && *map == group(r.group).table.maps[group(r.group).outputs[0].map];
            }
            if (!harmless) return false;
        }
        if (cost > 2 && evaluations(g, r.map) > elements) return false;
        if (cost > 0 && r.copies >= 4 && evaluations(g, r.map) > elements) return false;
        if (count > 8 && cost > 0) return false;
    }
    if (count > 1 && cost > 0) {
        int arrays = 0;
        bool many_copies = false;
        for (ValueId operand : op.operands) arrays += shape(operand).rank() != 0 ? 1 : 0;
        for (NodeId n = head_[v]; n != no_node; n = node(n).next) many_copies = many_copies || node(n).copies >= 4;
        const bool cheap = cost <= 2 && arrays <= 1 && count <= 4 && !many_copies && op.code != OpCode::pad;
        if (!cheap && !(one_group && cost * count <= 8 && !many_copies)) return false;
    }
    const bool copied = count > 1 && cost > 0;
    for (NodeId n = head_[v]; n != no_node; n = node(n).next)
        expand(n, copied || (cost > 0 && evaluations(group(node(n).group), node(n).map) > elements));
    return true;
}

/// Evaluations of a node at a map: the extents of all loops down to the innermost that it depends on.
std::int64_t Fuser::evaluations(const Group& g, MapId map) const {
    const std::uint64_t dims = out_.dims_of(g, map);
    if (dims == 0) return 1;
    if (reduced_dims(g) != 0 && dims == (all_dims(g) & ~reduced_dims(g))) {
        std::int64_t rows = 1;
        for (std::size_t d = 0; d < g.extents.size(); ++d) rows *= g.reduced[d] ? 1 : g.extents[d];
        return rows;
    }
    std::int64_t count = 1;
    const std::size_t last = 63 - static_cast<std::size_t>(__builtin_clzll(dims));
    for (std::size_t d = 0; d <= last; ++d) count *= g.extents[d];
    return count;
}

GroupId Fuser::new_group(Group::Kind kind, std::size_t op) {
    Group g;
    g.kind = kind;
    g.op = static_cast<std::int32_t>(op);
    out_.groups.push_back(std::move(g));
    return static_cast<GroupId>(out_.groups.size() - 1);
}

GroupId Fuser::new_loops(std::size_t op, const Shape& domain) {
    if (domain.rank() > 48) fail(ir::name(f_.ops()[op].code), "arrays of more than 48 axes are not supported", f_.ops()[op].location);
    const GroupId id = new_group(Group::Kind::loops, op);
    Group& g = group(id);
    g.root_shape = domain;
    for (std::int64_t e : domain)
        if (e != 1) g.extents.push_back(e);
    g.root_dims = static_cast<std::uint32_t>(g.extents.size());
    g.reduced.assign(g.extents.size(), false);
    return id;
}

/// Whether each element of the value is met exactly once, at one row or element of the group.
bool Fuser::storable(GroupId id, ValueId v, MapId map) {
    if (map == 0) return group(id).root_shape.elements() == shape(v).elements();
    const Group& g = group(id);
    std::uint64_t seen = 0;
    for (const AxisIndex& axis : g.table.maps[map].axes) {
        if (axis.is_constant() && axis.offset == 0) continue;
        if (axis.term >= 0 || axis.offset != 0 || axis.parts.size() != 1 || axis.parts[0].factor != 1) return false;
        const std::uint64_t bit = std::uint64_t{1} << axis.parts[0].dim;
        if (seen & bit) return false;
        seen |= bit;
    }
    std::int64_t count = 1;
    for (std::size_t d = 0; d < g.extents.size(); ++d)
        if (seen >> d & 1) count *= g.extents[d];
    if (count != shape(v).elements()) return false;
    if (seen == all_dims(g)) return true;
    if (reduced_dims(g) != 0) return seen == (all_dims(g) & ~reduced_dims(g));
    // Rows of a group without reductions so far: its inner dimensions become the inside of a row.
    const std::size_t outer = static_cast<std::size_t>(__builtin_popcountll(seen));
    return seen != 0 && count >= 16 && seen == (~std::uint64_t{0} >> (64 - outer));
}

bool Fuser::can_join(GroupId id, ValueId v) const {
    const Group& g = out_.groups[id];
    if (g.kind != Group::Kind::loops || g.arithmetic >= group_limit || g.outputs.size() >= 16 || g.outputs.empty() || g.outputs[0].part)
        return false;
    for (NodeId n = head_[v]; n != no_node; n = out_.nodes[n].next)
        if (out_.nodes[n].group == id) return false;
    const Shape& s = shape(v);
    if (g.flat && g.root_shape.elements() == s.elements()) return true;
    std::size_t d = 0;
    for (std::int64_t e : s)
        if (e != 1 && (d == g.root_dims || g.extents[d++] != e)) return false;
    return d == g.root_dims;
}

/// Computes and stores a value in a group that already asks for it at one place only.
bool Fuser::store_in(GroupId id, ValueId v) {
    if (group(id).kind != Group::Kind::loops || group(id).arithmetic >= group_limit) return false;
    NodeId only = no_node;
    for (NodeId n = head_[v]; n != no_node; n = node(n).next) {
        if (node(n).group != id) continue;
        if (only != no_node) return false;
        only = n;
    }
    if (only == no_node || !storable(id, v, node(only).map)) return false;
    if (!group(id).outputs.empty() && group(id).outputs[0].part) return false;
    const MapId map = node(only).map;
    if (map != 0) {
        Group& g = group(id);
        const std::uint64_t seen = out_.dims_of(g, map);
        if (seen != all_dims(g) && reduced_dims(g) == 0)
            for (std::size_t d = 0; d < g.extents.size(); ++d) g.reduced[d] = (seen >> d & 1) == 0;
    }
    expand(only, false);
    group(id).outputs.push_back({only, v, map, false, false});
    return true;
}

void Fuser::store(std::size_t i, ValueId v) {
    const ir::Op& op = f_.ops()[i];
    const std::int64_t least = least_group(op, v);
    out_.stored[v] = true;
    bool done = least >= 0 && least == latest_[v] && !moves_only(op.code) && store_in(static_cast<GroupId>(least), v);
    if (!done) {
        const auto count = static_cast<std::int64_t>(out_.groups.size());
        std::int64_t found = -1;
        for (std::int64_t g = count; found < 0 && g-- > std::max<std::int64_t>({least, 0, count - 4});)
            if (can_join(static_cast<GroupId>(g), v)) found = g;
        const GroupId id = found >= 0 ? static_cast<GroupId>(found) : new_loops(i, shape(v));
        const NodeId n = request(id, v, 0, 0);
        expand(n, false);
        group(id).outputs.push_back({n, v, 0, false, false});
    }
    for (NodeId n = head_[v]; n != no_node; n = node(n).next)
        if (node(n).state == Node::State::open) node(n).state = Node::State::leaf;
}

Fused fuse(const ir::Function& function) { return Fuser(function).run(); }

} // namespace stithy::plan
