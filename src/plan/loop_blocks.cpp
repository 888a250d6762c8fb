#include "plan/fuser.hpp"
#include "plan/loop_emitter.hpp"

#include <algorithm>
#include <cmath>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

/// A number that belongs to a part of an access, an index or a loop: one slot, however often it is used. `constant`: of small arrays only,
/// it stands in the code.
NestValue LoopEmitter::number(const void* owner, std::uint32_t part, std::int64_t value, bool constant) {
    if (constant) return b_.fixed_int(value);
    for (const Number& n : numbers_)
        if (n.owner == owner && n.part == part) return b_.param(n.slot);
    numbers_.push_back({owner, part, w_.slot(value)});
    return b_.param(numbers_.back().slot);
}

std::uint64_t LoopEmitter::dims_in(const Merged& merged) const {
    std::uint64_t bits = 0;
    for (std::uint32_t d = merged.first; d <= merged.last; ++d)
        if (g_.reduced[d] == g_.reduced[merged.last]) bits |= std::uint64_t{1} << d;
    return bits;
}

void LoopEmitter::opened(const Merged& merged, NestValue counter) {
    counters_[merged.last] = counter;
    available_ |= dims_in(merged);
}

void LoopEmitter::open(LoopKind kind, NestValue lower, NestValue upper) {
    marks_.push_back({log_.size(), available_});
    b_.loop(kind, lower, upper);
}

void LoopEmitter::open_merged(LoopKind kind, const Merged& merged) {
    const NestValue upper = fixed_ ? b_.fixed_int(merged.extent) : number(&merged, 0, merged.extent);
    marks_.push_back({log_.size(), available_});
    opened(merged, b_.loop(kind, b_.fixed_int(0), upper));
}

void LoopEmitter::close_to(std::size_t depth) {
    while (marks_.size() > depth) {
        b_.end();
        while (log_.size() > marks_.back().log) {
            values_[log_.back()] = no_nest_value;
            log_.pop_back();
        }
        available_ = marks_.back().available;
        marks_.pop_back();
    }
}

/// Opens the first `count` loops over rows; at the top level they are one loop over units. `blocks` > 1: a block's number is the outermost
/// digit of a unit.
void LoopEmitter::open_outer(std::size_t count, std::int64_t blocks) {
    if (!top_) {
        for (std::size_t i = 0; i < count; ++i) open_merged(LoopKind::serial, plan_.rows[i]);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) units_ *= plan_.rows[i].extent;
    units_ *= blocks;
    if (count == 0 && blocks == 1) return;
    marks_.push_back({log_.size(), available_});
    NestValue rest = b_.loop(LoopKind::units, b_.range_begin(), b_.range_end());
    for (std::size_t i = count; i-- > 0;) {
        const bool outermost = i == 0 && blocks == 1;
        if (outermost) {
            opened(plan_.rows[i], rest);
            break;
        }
        const NestValue extent = number(&plan_.rows[i], 0, plan_.rows[i].extent);
        const NestValue quotient = b_.apply(OpCode::divide, i64, rest, extent);
        opened(plan_.rows[i], b_.apply(OpCode::subtract, i64, rest, b_.mul(quotient, extent)));
        rest = quotient;
    }
    if (blocks > 1) block_ = rest;
}

/// Opens the loops over what is reduced; the innermost of kind `kind`. With blocks, the outermost runs over one block only.
void LoopEmitter::open_inner(LoopKind kind) {
    for (std::size_t i = 0; i < plan_.inner.size(); ++i) {
        const LoopKind mine = fixed_ ? LoopKind::unrolled : i + 1 == plan_.inner.size() ? kind : LoopKind::serial;
        if (i == 0 && part_ == LoopPart::partials) {
            const NestValue size = number(&plan_, 0, plan_.block);
            const NestValue lower = b_.mul(block_, size);
            const NestValue upper = b_.apply(OpCode::minimum, i64, b_.add(lower, size), number(&plan_.inner[0], 0, plan_.inner[0].extent));
            marks_.push_back({log_.size(), available_});
            opened(plan_.inner[0], b_.loop(mine, lower, upper));
        } else {
            open_merged(mine, plan_.inner[i]);
        }
    }
}

/// The row, counted over all rows, from the open loops.
NestValue LoopEmitter::row_number() {
    NestValue sum = no_nest_value;
    std::int64_t stride = 1;
    for (std::size_t i = plan_.rows.size(); i-- > 0; stride *= plan_.rows[i].extent) {
        const NestValue counter = counters_[plan_.rows[i].last];
        sum = add(sum, stride == 1 ? counter : b_.mul(counter, number(&plan_.rows[i], 1, stride)));
    }
    return sum == no_nest_value ? b_.fixed_int(0) : sum;
}

/// While costly functions are computed memory would rest: in a second phase with some, the next row's part of what the first reads and of
/// what is stored is asked for. Long rows are left alone, they would push each other out of the cache.
void LoopEmitter::prefetch_next_row() {
    constexpr std::int64_t shortest = 64, longest = 8192;
    if (!top_ || plan_.inner.size() != 1 || plan_.rows.empty() || plan_.inner_count < shortest || plan_.inner_count > longest) return;
    const bool costly = std::any_of(g_.nodes.begin(), g_.nodes.end(), [&](NodeId n) {
        const Node& node = f_.nodes[n];
        return node.state == Node::State::apply && plan_.phase[node.local] == 1 && (f_.dims_of(g_, node.map) & inner_) != 0 &&
               weight(op_of(node).code) > 4;
    });
    if (!costly) return;
    const auto ask = [&](ValueId v, std::uint32_t access, bool writes) {
        const Access& a = plan_.accesses[access];
        const std::int64_t step = a.factors[plan_.rows.back().last];
        if (f_.function->type(v).elements() == 1 || step == 0 || a.factors[plan_.inner.back().last] != 1 || !a.terms.empty()) return;
        b_.prefetch_hint(f_.function->type(v).dtype(), scope_.pointer(w_, v), b_.add(index(access), number(&a, 3000, step)), writes);
    };
    PoolVector<NodeId> asked;
    for (NodeId n : g_.nodes)
        for (std::size_t i = 0; i < f_.nodes[n].operand_count; ++i) {
            const NodeId leaf = f_.resolved(f_.operand(f_.nodes[n], i));
            if (f_.nodes[leaf].state != Node::State::leaf || plan_.phase[f_.nodes[leaf].local] != 0) continue;
            if (std::find(asked.begin(), asked.end(), leaf) != asked.end()) continue;
            asked.push_back(leaf);
            ask(f_.nodes[leaf].value, plan_.leaf_access[f_.nodes[leaf].local], false);
        }
    for (std::size_t o = 0; o < g_.outputs.size(); ++o) ask(g_.outputs[o].target, plan_.output_access[o], true);
}

Work LoopEmitter::work() const {
    constexpr double least_ns = 12500; // of what is worth several threads
    const double elements =
        static_cast<double>(plan_.row_count) * static_cast<double>(part_ == LoopPart::final ? plan_.blocks : plan_.inner_count);
    const double ns = elements * (part_ == LoopPart::final ? 0.1 : plan_.element_ns) + 20;
    Work work;
    work.units = units_;
    work.estimate_us = ns / 1000;
    const double per_unit = ns / static_cast<double>(std::max<std::int64_t>(units_, 1));
    // Short chunks where there are few, so that no thread waits long for another one's last.
    const double chunk_ns = ns < least_ns ? least_ns : std::clamp(ns / 16, least_ns / 3, least_ns);
    auto grain = static_cast<std::int64_t>(std::ceil(chunk_ns / per_unit));
    grain = std::max<std::int64_t>(1, grain);
    if (grain > 512) grain = (grain + 63) / 64 * 64; // whole vectors
    work.grain = std::min(grain, std::max<std::int64_t>(units_, 1));
    return work;
}

} // namespace stithy::plan
