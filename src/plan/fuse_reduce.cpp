#include "ops/build.hpp"
#include "plan/fuser.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {

struct ReduceShape {
    PoolVector<std::size_t> kept;   ///< axes of the operand
    PoolVector<std::int64_t> inner; ///< extents of the reduced axes, without ones
    PoolVector<bool> is_reduced;    ///< per axis of the operand
};

ReduceShape reduce_shape(const ir::Op& op, const Shape& from) {
    ReduceShape r;
    r.is_reduced.assign(from.rank(), false);
    for (std::int64_t d : op.get<ir::DimsAttr>().dims) r.is_reduced[static_cast<std::size_t>(d)] = true;
    for (std::size_t i = 0; i < from.rank(); ++i) {
        if (!r.is_reduced[i])
            r.kept.push_back(i);
        else if (from[i] != 1)
            r.inner.push_back(from[i]);
    }
    return r;
}

std::int64_t product(const PoolVector<std::int64_t>& extents) {
    std::int64_t n = 1;
    for (std::int64_t e : extents) n *= e;
    return n;
}

bool simple(const ir::Op& op) { return op.operands.size() == 2 && ops::combiner_of(*op.regions[0]).has_value(); }

} // namespace

void Fuser::visit_reduce(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const ValueId v = op.result();
    if (!simple(op)) return store_reduce(i);
    // Inside the only group that uses it, when the loops fit.
    const NodeId only = head_[v];
    if (only != no_node && node(only).next == no_node && static_cast<std::int64_t>(node(only).group) == latest_[v] &&
        group(node(only).group).kind == Group::Kind::loops && !overwritten_for(op, node(only).group)) {
        const bool part = !group(node(only).group).outputs.empty() && group(node(only).group).outputs[0].part;
        if (!(part && memory_[v]) && reduce_in(only, op, false)) {
            if (memory_[v]) {
                out_.stored[v] = true;
                group(node(only).group).outputs.push_back({only, v, node(only).map, false, false});
            }
            return;
        }
    }
    store_reduce(i);
}

/// Makes a node of a reduction a part of its group: the group's loops must be the reduction's rows and, inside them, what it runs over.
/// `fresh`: the group was made for the reduction.
bool Fuser::reduce_in(NodeId n, const ir::Op& op, bool fresh) {
    const GroupId id = node(n).group;
    const Shape &from = shape(op.operands[0]), &to = shape(op.result());
    const ReduceShape r = reduce_shape(op, from);
    if (!fresh && group(id).arithmetic >= group_limit) return false;
    IndexMap rows = Fused::axes_of(group(id), node(n).map, to);
    Group& g = group(id);
    std::uint64_t seen = 0;
    for (std::size_t k = 0; k < to.rank(); ++k) {
        const AxisIndex& axis = rows.axes[k];
        if (to[k] == 1) continue;
        if (axis.term >= 0 || axis.offset != 0 || axis.parts.size() != 1 || axis.parts[0].factor != 1) return false;
        const std::uint64_t bit = std::uint64_t{1} << axis.parts[0].dim;
        if ((seen & bit) || g.extents[axis.parts[0].dim] != to[k]) return false;
        seen |= bit;
    }
    PoolVector<std::uint32_t> inner; // the loop dimensions that are reduced
    const std::uint64_t have = reduced_dims(g), all = all_dims(g);
    // A reduction over extents of 1 runs over no loop: loops that others are reduced over would add its elements several times.
    if (have == 0 && !r.inner.empty() && !g.reductions.empty()) return false;
    if (have != 0) {
        if (seen != (all & ~have)) return false;
        for (std::uint32_t d = 0; d < g.extents.size(); ++d)
            if (have >> d & 1) inner.push_back(d);
    } else if (seen == all) {
        // The rows are the whole domain so far: what is computed there must not outweigh the reduction, for it runs one row at a time.
        if (g.extents.size() + r.inner.size() > 60) {
            if (!fresh) return false;
            fail("reduce", "arrays of more than 60 axes are not supported", op.location);
        }
        std::int64_t heavy = 0;
        for (NodeId m : g.nodes)
            if (node(m).state == Node::State::apply)
                heavy += weight(f_.ops()[static_cast<std::size_t>(f_.defining_op()[node(m).value])].code) > 4 ? 1 : 0;
        if (heavy * 64 > product(r.inner) && to.elements() > 64 && product(r.inner) > 16) return false;
        for (std::int64_t e : r.inner) {
            inner.push_back(static_cast<std::uint32_t>(g.extents.size()));
            g.extents.push_back(e);
            g.reduced.push_back(true);
        }
    } else {
        for (std::uint32_t d = 0; d < g.extents.size(); ++d)
            if (!(seen >> d & 1)) inner.push_back(d);
        const std::int64_t columns = product(r.inner), row_count = to.elements();
        const std::size_t outer = static_cast<std::size_t>(__builtin_popcountll(seen));
        const bool inside = outer == 0 || seen == (~std::uint64_t{0} >> (64 - outer));
        if (!(columns <= 16 || row_count * columns <= 16384 || (inside && row_count >= 16))) return false;
        if (inner.size() != r.inner.size()) return false;
        for (std::uint32_t d : inner)
            if (d >= g.root_dims) return false;
        for (std::size_t k = 0; k < inner.size(); ++k)
            if (g.extents[inner[k]] != r.inner[k]) return false;
        for (std::uint32_t d : inner) g.reduced[d] = true;
    }
    if (inner.size() != r.inner.size()) return false;
    for (std::size_t k = 0; k < inner.size(); ++k)
        if (g.extents[inner[k]] != r.inner[k]) return false;
    IndexMap at;
    at.axes.resize(from.rank());
    for (std::size_t i = 0, k = 0, j = 0; i < from.rank(); ++i) {
        if (!r.is_reduced[i])
            at.axes[i] = rows.axes[k++];
        else if (from[i] != 1)
            at.axes[i].parts.push_back({inner[j++], 1});
    }
    expand_reduce(n, at);
    return true;
}

void Fuser::expand_reduce(NodeId n, const IndexMap& operand_map) {
    const GroupId g = node(n).group;
    const ir::Op& op = f_.ops()[static_cast<std::size_t>(f_.defining_op()[node(n).value])];
    const std::size_t count = op.operands.size() / 2;
    const std::uint8_t copies = node(n).copies;
    group(g).nodes.push_back(n);
    group(g).arithmetic += static_cast<std::int32_t>(count);
    const MapId map = add_map(g, operand_map, shape(op.operands[0]));
    const MapId scalar = add_map(g, IndexMap(), Shape());
    PoolVector<NodeId> operands;
    for (std::size_t i = 0; i < 2 * count; ++i) operands.push_back(request(g, op.operands[i], i < count ? map : scalar, copies));
    node(n).state = Node::State::reduce;
    node(n).first_operand = static_cast<std::uint32_t>(out_.operands.size());
    node(n).operand_count = static_cast<std::uint32_t>(operands.size());
    out_.operands.insert(out_.operands.end(), operands.begin(), operands.end());
    if (node(n).value == op.result()) group(g).reductions.push_back(n);
}

void Fuser::store_reduce(std::size_t i) {
    const ir::Op& op = f_.ops()[i];
    const bool plain = simple(op);
    std::int64_t least = -1;
    for (std::uint32_t k = 0; k < op.result_count; ++k) least = std::max(least, least_group(op, op.result(k)));
    const auto count = static_cast<std::int64_t>(out_.groups.size());
    bool done = false;
    // Beside another reduction over rows of the same kind.
    for (std::int64_t g = count; plain && !done && g-- > std::max<std::int64_t>({least, 0, count - 4});) {
        const auto id = static_cast<GroupId>(g);
        if (group(id).reductions.empty() || !can_join(id, op.result()) || reduced_dims(group(id)) == 0) continue;
        bool general = false;
        for (NodeId r : group(id).reductions) general = general || node(r).operand_count != 2;
        if (general) continue;
        const NodeId n = request(id, op.result(), 0, 0);
        done = reduce_in(n, op, false);
        if (done) group(id).outputs.push_back({n, op.result(), 0, false, false});
    }
    if (!done) {
        const GroupId id = new_loops(i, shape(op.result()));
        group(id).flat = false;
        for (std::uint32_t k = 0; k < op.result_count; ++k) {
            const bool used = memory_[op.result(k)] || head_[op.result(k)] != no_node;
            const NodeId n = request(id, op.result(k), 0, 0);
            if (k == 0) {
                internal_check(reduce_in(n, op, true), "a reduction does not fit its own loops");
            } else {
                set_operands(n, Node::State::reduce, {});
                node(n).first_operand = node(group(id).reductions.back()).first_operand;
                node(n).operand_count = node(group(id).reductions.back()).operand_count;
                group(id).nodes.push_back(n);
            }
            if (used) group(id).outputs.push_back({n, op.result(k), 0, false, false});
        }
    }
    for (std::uint32_t k = 0; k < op.result_count; ++k) {
        const NodeId first = head_[op.result(k)];
        out_.stored[op.result(k)] = memory_[op.result(k)] || (first != no_node && node(first).next != no_node);
        for (NodeId n = head_[op.result(k)]; n != no_node; n = node(n).next)
            if (node(n).state == Node::State::open) node(n).state = Node::State::leaf;
    }
}

} // namespace stithy::plan
