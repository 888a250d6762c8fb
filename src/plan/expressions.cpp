#include "ops/build.hpp"
#include "plan/loop_emitter.hpp"
#include "plan/loops/body.hpp"

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

const ir::Op& LoopEmitter::op_of(const Node& node) const {
    return f_.function->ops()[static_cast<std::size_t>(f_.function->defining_op()[node.value])];
}

bool LoopEmitter::is_simple(NodeId reduce) const {
    const Node& node = f_.nodes[reduce];
    return node.operand_count == 2 && ops::combiner_of(*op_of(node).regions[0]).has_value();
}

void LoopEmitter::remember(NodeId n, NestValue v) {
    values_[f_.nodes[n].local] = v;
    log_.push_back(f_.nodes[n].local);
}

/// The value of a node at the current place of the loops.
NestValue LoopEmitter::value(NodeId n) {
    n = f_.resolved(n);
    const NestValue known = values_[f_.nodes[n].local];
    if (known != no_nest_value) return known;
    const NestValue v = compute(n);
    remember(n, v);
    return v;
}

NestValue LoopEmitter::compute(NodeId n) {
    const Node& node = f_.nodes[n];
    if (node.state == Node::State::leaf) return load_leaf(node);
    if (phase_ > 0 && (f_.dims_of(g_, node.map) & inner_) != 0 && plan_.phase[node.local] < phase_) {
        // Stored in an earlier phase of this row: read back.
        for (std::size_t o = 0; o < g_.outputs.size(); ++o) {
            const Output& output = g_.outputs[o];
            if (f_.resolved(output.node) == n && !output.accumulate &&
                f_.function->type(output.target).dtype() == f_.function->type(node.value).dtype())
                return b_.load(f_.function->type(output.target).dtype(), scope_.pointer(w_, output.target), index(plan_.output_access[o]));
        }
    }
    const ir::Op& op = op_of(node);
    switch (node.state) {
    case Node::State::literal: return literal_of(op);
    case Node::State::iota: {
        const IndexMap& map = g_.table.maps[node.map];
        return b_.apply(OpCode::convert, f_.function->type(node.value).dtype(),
                        axis(map.axes[static_cast<std::size_t>(op.get<ir::DimAttr>().dim)]));
    }
    case Node::State::pad: return emit_pad(node, op);
    case Node::State::concatenate: return emit_concatenate(node, op);
    case Node::State::apply: {
        NestValue operands[3] = {no_nest_value, no_nest_value, no_nest_value};
        for (std::size_t i = 0; i < node.operand_count; ++i) operands[i] = value(f_.operand(node, i));
        return emit_apply(w_, *f_.function, op, operands);
    }
    default: internal_error("a value of a group is not known where it is used");
    }
}

NestValue LoopEmitter::literal_of(const ir::Op& op) {
    const DType dtype = f_.function->type(op.result()).dtype();
    return w_.literal(dtype, op.code == OpCode::constant ? op.get<ir::ConstantAttr>().value.bits() : 0);
}

NestValue LoopEmitter::load_leaf(const Node& node) {
    const ir::Type& type = f_.function->type(node.value);
    if (type.elements() == 1) return scope_.scalar(w_, node.value);
    return b_.load(type.dtype(), scope_.pointer(w_, node.value), index(plan_.leaf_access[node.local]));
}

/// In flat code: whether numbers of a value's shape may stand in the code. (A small piece of a large array still has the large one's
/// strides.)
bool LoopEmitter::constant_for(ValueId v) const {
    const ir::Type& type = f_.function->type(v);
    return fixed_ && (is_small(type) || type.elements() == 1);
}

/// The place in memory, in elements.
NestValue LoopEmitter::index(std::uint32_t id) {
    const Access& a = plan_.accesses[id];
    NestValue sum = no_nest_value;
    const bool constant = constant_for(a.like);
    std::uint32_t part = 0;
    const auto loops = [&](const PoolVector<Merged>& list) {
        for (const Merged& m : list) {
            const std::int64_t factor = a.factors[m.last];
            const std::uint32_t mine = part++;
            if (factor == 0) continue;
            const NestValue counter = counters_[m.last];
            internal_check(counter != no_nest_value, "a loop dimension is used outside of its loop");
            sum = add(sum, factor == 1 ? counter : b_.mul(counter, factor == -1 ? b_.fixed_int(-1) : number(&a, mine, factor, constant)));
        }
    };
    for (std::size_t i = 0; i < a.terms.size(); ++i) {
        const NestValue t = term(a.terms[i].first);
        const std::int64_t factor = a.terms[i].second;
        sum = add(sum, factor == 1 ? t : b_.mul(t, number(&a, 2000 + static_cast<std::uint32_t>(i), factor, constant)));
    }
    loops(plan_.rows);
    loops(plan_.inner);
    if (a.offset != 0) sum = add(sum, number(&a, 1000, a.offset, constant));
    return sum == no_nest_value ? b_.fixed_int(0) : sum;
}

NestValue LoopEmitter::axis(const AxisIndex& at) {
    NestValue sum = no_nest_value;
    std::uint32_t part = 0;
    for (const AxisIndex::Part& p : at.parts) {
        const NestValue counter = counters_[p.dim];
        internal_check(counter != no_nest_value, "a loop dimension is used outside of its loop");
        sum = add(sum, p.factor == 1 ? counter : b_.mul(counter, p.factor == -1 ? b_.fixed_int(-1) : number(&at, part, p.factor)));
        ++part;
    }
    if (at.term >= 0) sum = add(sum, term(at.term));
    if (at.offset != 0) sum = add(sum, number(&at, 1000, at.offset));
    return sum == no_nest_value ? b_.fixed_int(0) : sum;
}

NestValue LoopEmitter::term(std::int32_t id) {
    const Term& t = g_.table.terms[static_cast<std::size_t>(id)];
    switch (t.kind) {
    case Term::Kind::clamped: {
        const NestValue raw = value(t.node);
        const DType dtype = b_.dtype(raw);
        const NestValue limit = number(&t, 0, t.number);
        if (dtype == u64) { // beyond i64 it is beyond the limit too
            const NestValue low = b_.apply(OpCode::minimum, u64, raw, b_.apply(OpCode::convert, u64, limit));
            return b_.apply(OpCode::convert, i64, low);
        }
        const NestValue wide = b_.apply(OpCode::convert, i64, raw);
        const NestValue below = b_.apply(OpCode::minimum, i64, wide, limit);
        return dtype.is_unsigned() ? below : b_.apply(OpCode::maximum, i64, below, b_.fixed_int(0));
    }
    case Term::Kind::quotient: return b_.apply(OpCode::divide, i64, axis(t.inner), number(&t, 0, t.number));
    case Term::Kind::remainder: return b_.apply(OpCode::remainder, i64, axis(t.inner), number(&t, 0, t.number));
    case Term::Kind::sum: {
        const NestValue right = term(t.right);
        const NestValue scaled = t.number == 1 ? right : b_.mul(right, t.number == -1 ? b_.fixed_int(-1) : number(&t, 0, t.number));
        return t.left < 0 ? scaled : b_.add(term(t.left), scaled);
    }
    }
    return no_nest_value;
}

/// The operand inside, the padding value elsewhere.
NestValue LoopEmitter::emit_pad(const Node& node, const ir::Op& op) {
    const auto& attr = op.get<ir::PadAttr>();
    const IndexMap& map = g_.table.maps[node.map];
    const Shape& from = f_.function->type(op.operands[0]).shape();
    const bool constant = constant_for(op.operands[0]) && constant_for(node.value);
    const NestValue padding = value(f_.operand(node, 1));
    if (from.elements() == 0) return padding;
    NestValue inside = no_nest_value;
    const auto both = [&](NestValue p) { inside = inside == no_nest_value ? p : b_.apply(OpCode::and_, boolean, inside, p); };
    for (std::size_t i = 0; i < map.axes.size(); ++i) {
        const std::int64_t step = attr.interior[i] + 1, last = attr.low[i] + (from[i] - 1) * step;
        const bool check_low = attr.low[i] > 0, check_high = attr.high[i] > 0, check_step = attr.interior[i] > 0;
        if (!check_low && !check_high && !check_step) continue;
        const NestValue at = axis(map.axes[i]);
        if (check_low) both(b_.compare(ir::Direction::ge, at, number(&node, static_cast<std::uint32_t>(3 * i), attr.low[i], constant)));
        if (check_high || check_step)
            both(b_.compare(ir::Direction::le, at, number(&node, static_cast<std::uint32_t>(3 * i + 1), last, constant)));
        if (check_step) {
            const std::int64_t shift = ((-attr.low[i]) % step + step) % step; // keeps the dividend positive
            const NestValue moved = b_.add(at, number(&node, static_cast<std::uint32_t>(3 * i + 2), shift, constant));
            const NestValue rest =
                b_.apply(OpCode::remainder, i64, moved, number(&node, static_cast<std::uint32_t>(500 + i), step, constant));
            both(b_.compare(ir::Direction::eq, rest, b_.fixed_int(0)));
        }
    }
    if (inside == no_nest_value) return value(f_.operand(node, 0));
    const NestValue result = b_.variable(f_.function->type(node.value).dtype(), padding);
    b_.if_(inside);
    marks_.push_back({log_.size(), available_});
    b_.set(result, value(f_.operand(node, 0)));
    close_to(marks_.size() - 1);
    return b_.get(result);
}

NestValue LoopEmitter::emit_concatenate(const Node& node, const ir::Op& op) {
    const auto dim = static_cast<std::size_t>(op.get<ir::DimAttr>().dim);
    const DType dtype = f_.function->type(node.value).dtype();
    const NestValue at = axis(g_.table.maps[node.map].axes[dim]);
    PoolVector<std::size_t> parts;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (f_.function->type(op.operands[i]).elements() != 0) parts.push_back(i);
    if (parts.empty()) return w_.literal(dtype, 0);
    if (parts.size() == 1) return value(f_.operand(node, parts[0]));
    const NestValue result = b_.variable(dtype, b_.fixed(dtype, 0));
    std::int64_t end = 0;
    std::uint32_t slot = 0;
    const std::size_t depth = marks_.size();
    for (std::size_t k = 0; k < parts.size(); ++k) {
        end += f_.function->type(op.operands[parts[k]]).shape()[dim];
        const bool last = k + 1 == parts.size();
        if (!last) {
            b_.if_(b_.compare(ir::Direction::lt, at, number(&node, slot++, end, constant_for(node.value))));
            marks_.push_back({log_.size(), available_});
        }
        b_.set(result, value(f_.operand(node, parts[k])));
        if (last) break;
        // The rest stands in the else branch; what was computed in this one is not known there.
        while (log_.size() > marks_.back().log) {
            values_[log_.back()] = no_nest_value;
            log_.pop_back();
        }
        b_.else_();
    }
    close_to(depth);
    return b_.get(result);
}

NestValue emit_apply(Writer& w, const ir::Function& function, const ir::Op& op, const NestValue* operands) {
    const DType dtype = function.type(op.result()).dtype();
    switch (op.code) {
    case OpCode::compare: {
        const auto& attr = op.get<ir::CompareAttr>();
        return w.b.compare(attr.direction, operands[0], operands[1], attr.kind);
    }
    case OpCode::accumulator_add: return w.b.apply(OpCode::add, dtype, operands[0], operands[1]);
    default: break;
    }
    const std::size_t count = op.operands.size();
    return w.b.apply(op.code, dtype, operands[0], count > 1 ? operands[1] : no_nest_value, count > 2 ? operands[2] : no_nest_value);
}

PoolVector<NestValue> emit_region(Writer& w, const ir::Function& region, const PoolVector<NestValue>& arguments) {
    PoolVector<NestValue> values(region.value_count(), no_nest_value);
    for (std::size_t i = 0; i < arguments.size(); ++i) values[i] = arguments[i];
    for (const ir::Op& op : region.ops()) {
        if (op.code == OpCode::constant) {
            values[op.result()] = w.literal(region.type(op.result()).dtype(), op.get<ir::ConstantAttr>().value.bits());
            continue;
        }
        if (op.code == OpCode::iota) {
            values[op.result()] = w.b.fixed(region.type(op.result()).dtype(), 0);
            continue;
        }
        if (op.code == OpCode::optimization_barrier) {
            for (std::uint32_t r = 0; r < op.result_count; ++r) values[op.result(r)] = values[op.operands[r]];
            continue;
        }
        if (op.code == OpCode::broadcast_in_dim || op.code == OpCode::reshape || op.code == OpCode::transpose ||
            op.code == OpCode::reverse) {
            values[op.result()] = values[op.operands[0]]; // of one element
            continue;
        }
        if (op.code == OpCode::reduce || op.code == OpCode::call) { // over no axis: combined with the first value
            PoolVector<NestValue> inner;
            if (op.code == OpCode::call) {
                for (ir::ValueId v : op.operands) inner.push_back(values[v]);
            } else {
                const std::size_t n = op.operands.size() / 2;
                for (std::size_t k = 0; k < 2 * n; ++k) inner.push_back(values[op.operands[(k + n) % (2 * n)]]);
            }
            const PoolVector<NestValue> results = emit_region(w, *op.regions[0], inner);
            for (std::uint32_t r = 0; r < op.result_count; ++r) values[op.result(r)] = results[r];
            continue;
        }
        if (!ir::is_elementwise(op.code) && op.code != OpCode::bitcast_convert)
            fail(ir::name(op.code), "is not supported inside a reducer or scatter update", op.location);
        NestValue operands[3] = {no_nest_value, no_nest_value, no_nest_value};
        for (std::size_t k = 0; k < op.operands.size() && k < 3; ++k) operands[k] = values[op.operands[k]];
        values[op.result()] = emit_apply(w, region, op, operands);
    }
    PoolVector<NestValue> results;
    for (ir::ValueId r : region.results()) results.push_back(values[r]);
    return results;
}

} // namespace stithy::plan
