#include "plan/fuser.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {

/// Axes of a value of the root domain's shape: one loop dimension for each that is not 1.
IndexMap identity(const Shape& shape) {
    IndexMap map;
    map.axes.resize(shape.rank());
    std::uint32_t d = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i)
        if (shape[i] != 1) map.axes[i].parts.push_back({d++, 1});
    return map;
}

bool same_without_ones(const Shape& a, const Shape& b) {
    std::size_t i = 0, j = 0;
    while (true) {
        while (i < a.rank() && a[i] == 1) ++i;
        while (j < b.rank() && b[j] == 1) ++j;
        if (i == a.rank() || j == b.rank()) return i == a.rank() && j == b.rank();
        if (a[i++] != b[j++]) return false;
    }
}

bool is_identity(const Group& g, const IndexMap& map, const Shape& shape) {
    std::uint32_t d = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        const AxisIndex& axis = map.axes[i];
        if (axis.term >= 0 || axis.offset != 0) return false;
        if (shape[i] == 1) {
            if (!axis.parts.empty()) return false;
            continue;
        }
        if (axis.parts.size() != 1 || axis.parts[0].factor != 1 || axis.parts[0].dim != d || d >= g.root_dims || g.extents[d] != shape[i])
            return false;
        ++d;
    }
    return d == g.root_dims;
}

} // namespace

IndexMap Fused::axes_of(Group& g, MapId map, const Shape& shape) {
    if (map != 0) return g.table.maps[map];
    if (g.flat && !same_without_ones(g.root_shape, shape)) {
        g.root_shape = shape;
        g.extents.clear();
        for (std::int64_t e : shape)
            if (e != 1) g.extents.push_back(e);
        g.root_dims = static_cast<std::uint32_t>(g.extents.size());
        g.reduced.assign(g.extents.size(), false);
    }
    g.flat = false;
    if (same_without_ones(g.root_shape, shape)) return identity(shape);
    return reshaped(g.table, identity(g.root_shape), g.root_shape, shape, g.extents);
}

NodeId Fuser::request(GroupId g, ValueId v, MapId map, std::uint8_t copies) {
    int looked = 0;
    for (NodeId n = head_[v]; n != no_node && looked < 16; n = node(n).next, ++looked) {
        if (node(n).group != g || node(n).map != map) continue;
        node(n).copies = std::max(node(n).copies, copies);
        return n;
    }
    Node n;
    n.value = v;
    n.group = g;
    n.map = map;
    n.local = group(g).node_count++;
    n.copies = copies;
    n.next = head_[v];
    out_.nodes.push_back(n);
    head_[v] = static_cast<NodeId>(out_.nodes.size() - 1);
    latest_[v] = std::max(latest_[v], static_cast<std::int32_t>(g));
    return head_[v];
}

MapId Fuser::add_map(GroupId g, IndexMap map, const Shape& s) {
    Group& to = group(g);
    if (s.elements() == to.root_shape.elements() && is_identity(to, map, s)) return 0;
    if (!s.dims().empty() || to.root_dims > 0) to.flat = false;
    return to.table.add(std::move(map));
}

void Fuser::set_operands(NodeId n, Node::State state, std::initializer_list<NodeId> operands) {
    node(n).state = state;
    node(n).first_operand = static_cast<std::uint32_t>(out_.operands.size());
    node(n).operand_count = static_cast<std::uint32_t>(operands.size());
    out_.operands.insert(out_.operands.end(), operands);
}

void Fuser::expand(NodeId n, bool copied) {
    const ValueId v = node(n).value;
    const ir::Op& op = f_.ops()[static_cast<std::size_t>(f_.defining_op()[v])];
    const GroupId g = node(n).group;
    const auto copies = static_cast<std::uint8_t>(std::min(node(n).copies + (copied ? 1 : 0), 200));
    node(n).copies = copies;
    group(g).nodes.push_back(n);
    if (op.code == OpCode::constant || op.code == OpCode::accumulator_zeros) return set_operands(n, Node::State::literal, {});
    if (op.code == OpCode::iota) {
        IndexMap axes = Fused::axes_of(group(g), node(n).map, shape(v));
        node(n).map = group(g).table.add(std::move(axes));
        return set_operands(n, Node::State::iota, {});
    }
    if (op.code == OpCode::pad) return expand_pad(n, op);
    if (op.code == OpCode::concatenate) return expand_concatenate(n, op);
    if (moves_only(op.code)) {
        const ValueId x = op.operands[0];
        MapId map = 0;
        const bool keeps_order =
            op.code == OpCode::reshape ||
            (op.code == OpCode::broadcast_in_dim && shape(x).elements() == shape(v).elements() && same_without_ones(shape(x), shape(v)) &&
             std::is_sorted(op.get<ir::DimsAttr>().dims.begin(), op.get<ir::DimsAttr>().dims.end()));
        if (node(n).map != 0 || !keeps_order) {
            auto axes = moved(g, op, Fused::axes_of(group(g), node(n).map, shape(v)), copies);
            map = add_map(g, std::move(*axes), shape(x));
        }
        const NodeId operand = request(g, x, map, copies);
        return set_operands(n, Node::State::forward, {operand});
    }
    ++group(g).arithmetic;
    NodeId operands[3] = {no_node, no_node, no_node};
    const MapId own = node(n).map;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const bool scalar = shape(op.operands[i]).rank() == 0 && shape(v).rank() != 0;
        operands[i] = request(g, op.operands[i], scalar ? add_map(g, IndexMap(), Shape()) : own, copies);
    }
    const std::size_t first = out_.operands.size();
    out_.operands.insert(out_.operands.end(), operands, operands + op.operands.size());
    node(n).state = Node::State::apply;
    node(n).first_operand = static_cast<std::uint32_t>(first);
    node(n).operand_count = static_cast<std::uint32_t>(op.operands.size());
}

AxisIndex Fuser::clamped_start(GroupId g, ValueId start, MapId map, std::int64_t limit, std::uint8_t copies) {
    AxisIndex axis;
    if (limit <= 0) return axis;
    const NodeId n = request(g, start, map, copies);
    Term term;
    term.kind = Term::Kind::clamped;
    term.node = n;
    term.number = limit;
    axis.term = group(g).table.add(std::move(term));
    return axis;
}

/// Where the operand of an operation that only moves elements is read, when its result is read at `map`.
std::optional<IndexMap> Fuser::moved(GroupId g, const ir::Op& op, const IndexMap& map, std::uint8_t copies) {
    const Shape& from = shape(op.operands[0]);
    IndexMap r;
    r.axes.resize(from.rank());
    switch (op.code) {
    case OpCode::broadcast_in_dim: {
        const Dims& dims = op.get<ir::DimsAttr>().dims;
        for (std::size_t i = 0; i < from.rank(); ++i)
            if (from[i] != 1) r.axes[i] = map.axes[static_cast<std::size_t>(dims[i])];
        return r;
    }
    case OpCode::transpose: {
        const Dims& permutation = op.get<ir::DimsAttr>().dims;
        for (std::size_t j = 0; j < permutation.size(); ++j) r.axes[static_cast<std::size_t>(permutation[j])] = map.axes[j];
        return r;
    }
    case OpCode::reverse:
        r = map;
        for (std::int64_t d : op.get<ir::DimsAttr>().dims) {
            const auto i = static_cast<std::size_t>(d);
            if (from[i] == 1) continue;
            r.axes[i] = scaled(group(g).table, map.axes[i], -1);
            r.axes[i].offset += from[i] - 1;
        }
        return r;
    case OpCode::slice: {
        const auto& attr = op.get<ir::SliceAttr>();
        for (std::size_t i = 0; i < from.rank(); ++i) {
            r.axes[i] = attr.stride[i] == 1 ? map.axes[i] : scaled(group(g).table, map.axes[i], attr.stride[i]);
            r.axes[i].offset += attr.start[i];
        }
        return r;
    }
    case OpCode::dynamic_slice: {
        const Dims& sizes = op.get<ir::DimsAttr>().dims;
        for (std::size_t i = 0; i < from.rank(); ++i) {
            const MapId scalar = add_map(g, IndexMap(), Shape());
            r.axes[i] = sum(group(g).table, map.axes[i], clamped_start(g, op.operands[i + 1], scalar, from[i] - sizes[i], copies));
        }
        return r;
    }
    case OpCode::reshape: return reshaped(group(g).table, map, shape(op.result()), from, group(g).extents);
    case OpCode::gather: return gathered(g, op, map, copies);
    default: internal_error("an operation that does not only move elements");
    }
}

IndexMap Fuser::gathered(GroupId g, const ir::Op& op, const IndexMap& map, std::uint8_t copies) {
    const auto& attr = op.get<ir::GatherAttr>();
    const auto holds = [](const Dims& dims, std::size_t d) {
        return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    };
    const Shape from = shape(op.operands[0]), indices = shape(op.operands[1]);
    IndexMap r;
    r.axes.resize(from.rank());
    PoolVector<AxisIndex> batch;
    PoolVector<AxisIndex> offsets;
    for (std::size_t i = 0; i < map.axes.size(); ++i) (holds(attr.offset_dims, i) ? offsets : batch).push_back(map.axes[i]);
    const auto vector_dim = static_cast<std::size_t>(attr.index_vector_dim);
    for (std::size_t k = 0; k < attr.start_index_map.size(); ++k) {
        const auto d = static_cast<std::size_t>(attr.start_index_map[k]);
        IndexMap at;
        for (std::size_t i = 0, b = 0; i < indices.rank(); ++i) {
            if (i == vector_dim) {
                at.axes.emplace_back();
                at.axes.back().offset = static_cast<std::int64_t>(k);
            } else {
                at.axes.push_back(batch[b++]);
            }
        }
        const MapId at_id = add_map(g, std::move(at), indices);
        r.axes[d] = clamped_start(g, op.operands[1], at_id, from[d] - attr.slice_sizes[d], copies);
    }
    for (std::size_t k = 0; k < attr.operand_batching_dims.size(); ++k) {
        const auto i = static_cast<std::size_t>(attr.start_indices_batching_dims[k]);
        r.axes[static_cast<std::size_t>(attr.operand_batching_dims[k])] = batch[i < vector_dim ? i : i - 1];
    }
    for (std::size_t d = 0, o = 0; d < from.rank(); ++d)
        if (!holds(attr.collapsed_slice_dims, d) && !holds(attr.operand_batching_dims, d))
            r.axes[d] = sum(group(g).table, r.axes[d], offsets[o++]);
    return r;
}

void Fuser::expand_pad(NodeId n, const ir::Op& op) {
    const GroupId g = node(n).group;
    const auto& attr = op.get<ir::PadAttr>();
    ++group(g).arithmetic;
    const IndexMap axes = Fused::axes_of(group(g), node(n).map, shape(op.result()));
    node(n).map = group(g).table.add(axes);
    IndexMap inside = axes;
    for (std::size_t i = 0; i < inside.axes.size(); ++i) {
        inside.axes[i].offset -= attr.low[i];
        if (attr.interior[i] == 0) continue;
        Term term;
        term.kind = Term::Kind::quotient;
        term.number = attr.interior[i] + 1;
        term.inner = inside.axes[i];
        inside.axes[i] = AxisIndex();
        inside.axes[i].term = group(g).table.add(std::move(term));
    }
    const NodeId operand = request(g, op.operands[0], add_map(g, std::move(inside), shape(op.operands[0])), node(n).copies);
    const NodeId padding = request(g, op.operands[1], add_map(g, IndexMap(), Shape()), node(n).copies);
    set_operands(n, Node::State::pad, {operand, padding});
}

void Fuser::expand_concatenate(NodeId n, const ir::Op& op) {
    const GroupId g = node(n).group;
    const auto dim = static_cast<std::size_t>(op.get<ir::DimAttr>().dim);
    const IndexMap axes = Fused::axes_of(group(g), node(n).map, shape(op.result()));
    node(n).map = group(g).table.add(axes);
    std::int64_t start = 0;
    PoolVector<NodeId> parts;
    for (ValueId x : op.operands) {
        ++group(g).arithmetic;
        IndexMap at = axes;
        at.axes[dim].offset -= start;
        start += shape(x)[dim];
        parts.push_back(request(g, x, add_map(g, std::move(at), shape(x)), node(n).copies));
    }
    node(n).state = Node::State::concatenate;
    node(n).first_operand = static_cast<std::uint32_t>(out_.operands.size());
    node(n).operand_count = static_cast<std::uint32_t>(parts.size());
    out_.operands.insert(out_.operands.end(), parts.begin(), parts.end());
}

} // namespace stithy::plan
