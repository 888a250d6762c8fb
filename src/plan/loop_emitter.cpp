#include "plan/loop_emitter.hpp"

#include "ops/build.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {
/// Columns whose running totals are kept at a time: they stay in the first cache.
constexpr std::int64_t column_block = 512;
/// Iterations of the innermost dimension in a tile: as many cache lines are read in turn.
constexpr std::int64_t tile_width = 64;
/// Rows that are added to the totals in one pass over them.
constexpr int rows_at_once = 4;
} // namespace

LoopEmitter::LoopEmitter(Writer& w, Scope& scope, GroupId group, const LoopPlan& plan, LoopPart part)
    : w_(w), b_(w.b), scope_(scope), f_(scope.fused), g_(scope.fused.groups[group]), plan_(plan), part_(part), top_(scope.has_units()),
      fixed_(plan.form == LoopForm::small), inner_(reduced_dims(g_)), counters_(g_.extents.size(), no_nest_value),
      values_(g_.node_count, no_nest_value), totals_(g_.node_count, no_nest_value), visited_(g_.node_count, 0) {}

Work LoopEmitter::run() {
    if (part_ != LoopPart::all) partials_ = b_.buffer(w_.new_buffer());
    if (part_ == LoopPart::final) {
        emit_final();
        return work();
    }
    hoist();
    switch (plan_.form) {
    case LoopForm::elements: emit_elements(); break;
    case LoopForm::tiles: emit_tiles(); break;
    case LoopForm::rows: emit_rows(LoopKind::serial, LoopKind::vector); break;
    case LoopForm::small: emit_rows(LoopKind::unrolled, LoopKind::unrolled); break;
    case LoopForm::lanes: emit_lanes(); break;
    case LoopForm::columns: emit_columns(); break;
    }
    close_to(0);
    return work();
}

void LoopEmitter::emit_elements() {
    const std::size_t depth = plan_.rows.size();
    if (depth == 0) return body();
    if (depth == 1 && top_) {
        units_ = plan_.rows[0].extent;
        marks_.push_back({log_.size(), available_});
        opened(plan_.rows[0], b_.loop(LoopKind::vector, b_.range_begin(), b_.range_end()));
        return body();
    }
    open_outer(depth - 1, 1);
    hoist();
    open_merged(LoopKind::vector, plan_.rows.back());
    body();
}

/// A piece of the innermost dimension for all of the other one, before the next piece: the cache lines that are read across stay in the
/// first cache.
void LoopEmitter::emit_tiles() {
    const Merged &columns = plan_.rows.back(), &along = plan_.rows[plan_.along];
    const std::int64_t pieces = (columns.extent + tile_width - 1) / tile_width;
    NestValue piece;
    if (top_) {
        units_ = plan_.row_count / columns.extent * pieces;
        marks_.push_back({log_.size(), available_});
        NestValue rest = b_.loop(LoopKind::units, b_.range_begin(), b_.range_end());
        opened(along, next_digit(rest, &along, along.extent));
        piece = plan_.rows.size() == 2 ? rest : next_digit(rest, &pieces, pieces);
        for (std::size_t i = plan_.rows.size() - 1; i-- > 0;)
            if (i != plan_.along) opened(plan_.rows[i], next_digit(rest, &plan_.rows[i], plan_.rows[i].extent));
    } else {
        for (std::size_t i = 0; i + 1 < plan_.rows.size(); ++i)
            if (i != plan_.along) open_merged(LoopKind::serial, plan_.rows[i]);
        const NestValue count = number(&pieces, 0, pieces);
        marks_.push_back({log_.size(), available_});
        piece = b_.loop(LoopKind::serial, b_.fixed_int(0), count);
        open_merged(LoopKind::serial, along);
    }
    hoist();
    const NestValue width = number(&tile_width, 0, tile_width), first = b_.mul(piece, width);
    const NestValue last = b_.apply(OpCode::minimum, i64, b_.add(first, width), number(&columns, 0, columns.extent));
    open(LoopKind::vector, first, last);
    opened(columns, static_cast<NestValue>(b_.nest().code.size() - 1));
    body();
}

/// Takes the lowest digit, of so many values, off a number of a unit.
NestValue LoopEmitter::next_digit(NestValue& rest, const void* owner, std::int64_t extent) {
    const NestValue size = number(owner, 0, extent);
    const NestValue quotient = b_.apply(OpCode::divide, i64, rest, size);
    const NestValue low = b_.apply(OpCode::subtract, i64, rest, b_.mul(quotient, size));
    rest = quotient;
    return low;
}

void LoopEmitter::emit_rows(LoopKind row_kind, LoopKind inner_kind) {
    if (row_kind == LoopKind::unrolled) {
        for (const Merged& m : plan_.rows) open_merged(LoopKind::unrolled, m);
    } else {
        open_outer(plan_.rows.size(), part_ == LoopPart::partials ? plan_.blocks : 1);
    }
    emit_phases(inner_kind);
}

void LoopEmitter::emit_lanes() {
    open_outer(plan_.rows.size() - 1, 1);
    hoist();
    const bool all_units = top_ && plan_.rows.size() == 1;
    if (all_units) {
        units_ = plan_.rows[0].extent;
        marks_.push_back({log_.size(), available_});
        opened(plan_.rows[0], b_.loop(LoopKind::vector, b_.range_begin(), b_.range_end()));
    } else {
        open_merged(LoopKind::vector, plan_.rows.back());
    }
    emit_phases(LoopKind::serial);
}

/// Whether a phase has something to do inside a row.
bool LoopEmitter::has_loops(std::uint8_t phase) const {
    for (NodeId r : g_.reductions)
        if (plan_.phase[f_.nodes[r].local] == phase + 1) return true;
    for (const Output& o : g_.outputs)
        if ((inner_ == 0 || (f_.dims_of(g_, o.map) & inner_) != 0) && plan_.phase[f_.nodes[f_.resolved(o.node)].local] == phase)
            return true;
    return false;
}

/// One row (or one in each lane): each phase's loops, then what is stored once a row.
void LoopEmitter::emit_phases(LoopKind inner_kind) {
    for (NodeId r : g_.reductions)
        if (!is_simple(r) && inner_kind == LoopKind::vector) inner_kind = LoopKind::serial;
    for (phase_ = 0; phase_ < plan_.phases; ++phase_) {
        hoist();
        if (!has_loops(phase_)) continue;
        declare_reductions();
        const std::size_t depth = marks_.size();
        open_inner(inner_kind);
        body();
        if (phase_ == 1 && inner_kind == LoopKind::vector) prefetch_next_row();
        close_to(depth);
        finish_reductions();
    }
    --phase_;
    if (part_ != LoopPart::partials) store_rows();
}

void LoopEmitter::declare_reductions() {
    for (NodeId r : g_.reductions) {
        const Node& node = f_.nodes[r];
        if (plan_.phase[node.local] != phase_ + 1) continue;
        const DType dtype = f_.function->type(node.value).dtype();
        if (is_simple(r)) {
            const OpCode combine = *ops::combiner_of(*op_of(node).regions[0]);
            const NestValue first =
                part_ == LoopPart::partials ? w_.literal(dtype, ops::identity_literal(combine, dtype).bits()) : value(f_.operand(node, 1));
            totals_[node.local] = b_.reduction(combine, dtype, first);
            continue;
        }
        // One variable for each result, held by the result's node.
        const std::size_t count = node.operand_count / 2;
        for (NodeId n : g_.nodes) {
            const Node& other = f_.nodes[n];
            if (other.state != Node::State::reduce || other.first_operand != node.first_operand) continue;
            const std::size_t k = other.value - node.value;
            totals_[other.local] = b_.variable(f_.function->type(other.value).dtype(), value(f_.operand(node, count + k)));
        }
    }
}

/// What stands in the innermost loop of a phase.
void LoopEmitter::body() {
    for (NodeId r : g_.reductions) {
        const Node& node = f_.nodes[r];
        if (plan_.phase[node.local] != phase_ + 1) continue;
        if (is_simple(r)) {
            b_.accumulate(totals_[node.local], value(f_.operand(node, 0)));
            continue;
        }
        const std::size_t count = node.operand_count / 2;
        PoolVector<NestValue> arguments(2 * count, no_nest_value), variables(count, no_nest_value);
        for (NodeId n : g_.nodes)
            if (f_.nodes[n].state == Node::State::reduce && f_.nodes[n].first_operand == node.first_operand)
                variables[f_.nodes[n].value - node.value] = totals_[f_.nodes[n].local];
        for (std::size_t k = 0; k < count; ++k) arguments[count + k] = value(f_.operand(node, k));
        for (std::size_t k = 0; k < count; ++k) arguments[k] = b_.get(variables[k]);
        const PoolVector<NestValue> results = emit_region(w_, *op_of(node).regions[0], arguments);
        for (std::size_t k = 0; k < count; ++k) b_.set(variables[k], results[k]);
    }
    store_all([&](const Output& output) {
        const bool inside = inner_ == 0 || (f_.dims_of(g_, output.map) & inner_) != 0;
        return inside && plan_.phase[f_.nodes[f_.resolved(output.node)].local] == phase_;
    });
}

/// Stores the outputs that `wanted` picks. All values are computed first: an output may stand in the memory of an operand.
template <class Wanted>
void LoopEmitter::store_all(Wanted wanted) {
    for (const Output& output : g_.outputs)
        if (wanted(output)) value(output.node);
    for (std::size_t o = 0; o < g_.outputs.size(); ++o)
        if (wanted(g_.outputs[o])) store(o);
}

void LoopEmitter::finish_reductions() {
    std::int64_t which = 0;
    for (NodeId n : g_.nodes) {
        const Node& node = f_.nodes[n];
        if (node.state != Node::State::reduce || plan_.phase[node.local] != phase_ + 1) continue;
        const NestValue total = b_.get(totals_[node.local]);
        remember(n, total);
        if (part_ != LoopPart::partials) continue;
        const NestValue base = b_.offset(partials_, number(&node, 0, which++ * plan_.blocks * plan_.row_count * 8));
        const NestValue row = plan_.rows.empty() ? block_ : b_.add(b_.mul(block_, number(&plan_, 1, plan_.row_count)), row_number());
        b_.store(b_.dtype(total), base, row, total);
    }
}

void LoopEmitter::store_rows() {
    const std::uint8_t before = phase_;
    phase_ = plan_.phases;
    store_all([&](const Output& output) { // without reduced dimensions: what body() could not store yet
        if (inner_ != 0) return (f_.dims_of(g_, output.map) & inner_) == 0;
        return plan_.phase[f_.nodes[f_.resolved(output.node)].local] >= plan_.phases;
    });
    phase_ = before;
}

void LoopEmitter::store(std::size_t o) {
    const Output& output = g_.outputs[o];
    const ir::Type& type = f_.function->type(output.target);
    NestValue v = value(output.node);
    if (type.elements() == 1) {
        if (output.accumulate) v = b_.apply(OpCode::add, type.dtype(), scope_.scalar(w_, output.target), v);
        return scope_.set_scalar(w_, output.target, v);
    }
    const NestValue pointer = scope_.pointer(w_, output.target), at = index(plan_.output_access[o]);
    if (output.accumulate) v = b_.apply(OpCode::add, type.dtype(), b_.load(type.dtype(), pointer, at), v);
    b_.store(type.dtype(), pointer, at, v);
}

/// Computes early what the current phase needs and the open loops allow.
void LoopEmitter::hoist() {
    if (fixed_) return;
    ++visit_;
    for (NodeId r : g_.reductions) {
        const Node& node = f_.nodes[r];
        if (plan_.phase[node.local] != phase_ + 1) continue;
        for (std::size_t i = 0; i < node.operand_count; ++i)
            if (part_ == LoopPart::all || (part_ == LoopPart::partials) == (i < node.operand_count / 2)) hoist_from(f_.operand(node, i));
    }
    if (part_ == LoopPart::partials) return;
    for (const Output& o : g_.outputs) {
        if (plan_.phase[f_.nodes[f_.resolved(o.node)].local] > phase_) continue;
        hoist_from(o.node);
        hoist_terms(o.map);
    }
}

void LoopEmitter::hoist_terms(MapId map) {
    if (map == 0) return;
    const auto from_term = [&](const auto& self, std::int32_t id) -> void {
        if (id < 0) return;
        const Term& t = g_.table.terms[static_cast<std::size_t>(id)];
        if (t.node != no_node) hoist_from(t.node);
        self(self, t.inner.term);
        self(self, t.left);
        self(self, t.right);
    };
    for (const AxisIndex& a : g_.table.maps[map].axes) from_term(from_term, a.term);
}

void LoopEmitter::hoist_from(NodeId n) {
    n = f_.resolved(n);
    const Node& node = f_.nodes[n];
    if (visited_[node.local] == visit_ || values_[node.local] != no_nest_value) return;
    visited_[node.local] = visit_;
    if (node.state == Node::State::literal) return;
    const bool one = node.state == Node::State::leaf && f_.function->type(node.value).elements() == 1;
    if (one || ((f_.dims_of(g_, node.map) & ~available_) == 0 && plan_.phase[node.local] <= phase_ && node.state != Node::State::reduce)) {
        value(n);
        return;
    }
    if (node.state == Node::State::reduce) return;
    if (node.map != 0) hoist_terms(node.map);
    if (node.state == Node::State::pad) return hoist_from(f_.operand(node, 1));
    if (node.state == Node::State::concatenate) return;
    for (std::size_t i = 0; i < node.operand_count; ++i) hoist_from(f_.operand(node, i));
}

/// Totals of a block of columns, rows streaming by; then what follows, column by column.
void LoopEmitter::emit_columns() {
    const Merged& columns = plan_.rows.back();
    const std::int64_t pieces = (columns.extent + column_block - 1) / column_block;
    NestValue piece = b_.fixed_int(0);
    const bool partial = part_ == LoopPart::partials;
    if (top_) {
        std::int64_t outer = 1;
        for (std::size_t i = 0; i + 1 < plan_.rows.size(); ++i) outer *= plan_.rows[i].extent;
        units_ = outer * pieces * (partial ? plan_.blocks : 1);
        marks_.push_back({log_.size(), available_});
        NestValue rest = b_.loop(LoopKind::units, b_.range_begin(), b_.range_end());
        piece = next_digit(rest, &pieces, pieces);
        for (std::size_t i = plan_.rows.size() - 1; i-- > 0;) opened(plan_.rows[i], next_digit(rest, &plan_.rows[i], plan_.rows[i].extent));
        if (partial) block_ = rest;
    } else {
        open_outer(plan_.rows.size() - 1, 1);
        const NestValue count = number(&pieces, 0, pieces);
        marks_.push_back({log_.size(), available_});
        piece = b_.loop(LoopKind::serial, b_.fixed_int(0), count);
    }
    hoist();
    const NestValue width = number(&column_block, 0, column_block);
    const NestValue first = b_.mul(piece, width);
    const NestValue last = b_.apply(OpCode::minimum, i64, b_.add(first, width), number(&columns, 0, columns.extent));
    stream_rows(first, last);
    if (partial) return;
    // Columns' results.
    phase_ = 1;
    open(LoopKind::vector, first, last);
    opened(columns, static_cast<NestValue>(b_.nest().code.size() - 1));
    PoolVector<const Output*> homes;
    for (const NodeId r : g_.reductions) {
        const std::size_t o = home_of(r);
        homes.push_back(&g_.outputs[o]);
        remember(r, b_.load(f_.function->type(f_.nodes[r].value).dtype(), scope_.pointer(w_, g_.outputs[o].target),
                            index(plan_.output_access[o])));
    }
    store_all([&](const Output& output) { return std::find(homes.begin(), homes.end(), &output) == homes.end(); });
}

/// The output whose memory holds a reduction's totals while rows stream by.
std::size_t LoopEmitter::home_of(NodeId r) const {
    std::size_t o = 0;
    while (g_.outputs[o].part || f_.resolved(g_.outputs[o].node) != r) ++o;
    return o;
}

void LoopEmitter::stream_rows(NestValue first, NestValue last) {
    const Merged& columns = plan_.rows.back();
    const std::size_t depth = marks_.size();
    open(LoopKind::vector, first, last);
    opened(columns, static_cast<NestValue>(b_.nest().code.size() - 1));
    PoolVector<NestValue> none;
    add_rows(none, first, last);
    close_to(depth);
    // All but the innermost reduced loop, then rows in fours.
    for (std::size_t i = 0; i + 1 < plan_.inner.size(); ++i) {
        if (i == 0 && part_ == LoopPart::partials) {
            const NestValue size = number(&plan_, 0, plan_.block), lower = b_.mul(block_, size);
            const NestValue upper = b_.apply(OpCode::minimum, i64, b_.add(lower, size), number(&plan_.inner[0], 0, plan_.inner[0].extent));
            open(LoopKind::serial, lower, upper);
            opened(plan_.inner[0], static_cast<NestValue>(b_.nest().code.size() - 1));
        } else {
            open_merged(LoopKind::serial, plan_.inner[i]);
        }
    }
    const Merged& rows = plan_.inner.back();
    NestValue lower = b_.fixed_int(0), upper = number(&rows, 0, rows.extent);
    if (part_ == LoopPart::partials && plan_.inner.size() == 1) {
        const NestValue size = number(&plan_, 0, plan_.block);
        lower = b_.mul(block_, size);
        upper = b_.apply(OpCode::minimum, i64, b_.add(lower, size), upper);
    }
    const NestValue several = b_.fixed_int(rows_at_once);
    const NestValue fours = b_.apply(OpCode::divide, i64, b_.apply(OpCode::subtract, i64, upper, lower), several);
    const std::size_t inside = marks_.size();
    open(LoopKind::serial, b_.fixed_int(0), fours);
    const NestValue base = b_.add(lower, b_.mul(static_cast<NestValue>(b_.nest().code.size() - 1), several));
    PoolVector<NestValue> four;
    for (int k = 0; k < rows_at_once; ++k) four.push_back(b_.add(base, b_.fixed_int(k)));
    add_rows(four, first, last);
    close_to(inside);
    open(LoopKind::serial, b_.add(lower, b_.mul(fours, several)), upper);
    add_rows({static_cast<NestValue>(b_.nest().code.size() - 1)}, first, last);
    close_to(depth);
}

/// Adds rows to the totals of columns [first, last); without rows: gives the totals their first value (the loop over columns is open then).
void LoopEmitter::add_rows(const PoolVector<NestValue>& row_counters, NestValue first, NestValue last) {
    const Merged& columns = plan_.rows.back();
    const std::size_t depth = marks_.size();
    if (!row_counters.empty()) {
        open(LoopKind::vector, first, last);
        opened(columns, static_cast<NestValue>(b_.nest().code.size() - 1));
    }
    std::int64_t which = 0;
    for (NodeId r : g_.reductions) {
        const Node& node = f_.nodes[r];
        const DType dtype = f_.function->type(node.value).dtype();
        const OpCode combine = *ops::combiner_of(*op_of(node).regions[0]);
        NestValue pointer, at;
        if (part_ == LoopPart::partials) {
            pointer = b_.offset(partials_, number(&node, 0, which++ * plan_.blocks * plan_.row_count * 8));
            at = b_.add(b_.mul(block_, number(&plan_, 1, plan_.row_count)), row_number());
        } else {
            const std::size_t o = home_of(r);
            pointer = scope_.pointer(w_, g_.outputs[o].target);
            at = index(plan_.output_access[o]);
        }
        NestValue total;
        if (row_counters.empty()) {
            total =
                part_ == LoopPart::partials ? w_.literal(dtype, ops::identity_literal(combine, dtype).bits()) : value(f_.operand(node, 1));
        } else {
            total = b_.load(dtype, pointer, at);
            for (const NestValue row : row_counters) {
                const std::size_t log = log_.size();
                const std::uint64_t before = available_;
                opened(plan_.inner.back(), row);
                total = b_.apply(combine, dtype, total, value(f_.operand(node, 0)));
                available_ = before;
                while (log_.size() > log) { // the next row has other values
                    values_[log_.back()] = no_nest_value;
                    log_.pop_back();
                }
            }
        }
        b_.store(dtype, pointer, at, total);
    }
    close_to(depth);
}

/// Combines the blocks' results, then what follows, row by row.
void LoopEmitter::emit_final() {
    const bool lanes = !plan_.rows.empty();
    hoist();
    if (lanes) {
        for (std::size_t i = 0; i + 1 < plan_.rows.size(); ++i) open_merged(LoopKind::serial, plan_.rows[i]);
        open_merged(LoopKind::vector, plan_.rows.back());
    }
    std::int64_t which = 0;
    PoolVector<NestValue> totals;
    for (NodeId n : g_.nodes) {
        const Node& node = f_.nodes[n];
        if (node.state != Node::State::reduce) continue;
        const DType dtype = f_.function->type(node.value).dtype();
        const OpCode combine = *ops::combiner_of(*op_of(node).regions[0]);
        const NestValue base = b_.offset(partials_, number(&node, 0, which++ * plan_.blocks * plan_.row_count * 8));
        const NestValue total = b_.reduction(combine, dtype, value(f_.operand(node, 1)));
        const NestValue row = row_number();
        const std::size_t depth = marks_.size();
        open(lanes ? LoopKind::serial : LoopKind::vector, b_.fixed_int(0), number(&plan_, 2, plan_.blocks));
        const auto block = static_cast<NestValue>(b_.nest().code.size() - 1);
        const NestValue at = lanes ? b_.add(b_.mul(block, number(&plan_, 1, plan_.row_count)), row) : block;
        b_.accumulate(total, b_.load(dtype, base, at));
        close_to(depth);
        totals.push_back(total);
        remember(n, b_.get(total));
    }
    phase_ = 1;
    store_all([](const Output&) { return true; });
    phase_ = 0;
    close_to(0);
}

Work emit_loops(Writer& w, Scope& scope, GroupId group) {
    const LoopPlan plan = plan_loops(scope.fused, group, scope.has_units());
    internal_check(plan.block == 0, "a reduction in blocks takes two nests");
    if (plan.row_count == 0) return {}; // nothing to store
    return LoopEmitter(w, scope, group, plan, LoopPart::all).run();
}

} // namespace stithy::plan
