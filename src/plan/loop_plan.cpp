#include "plan/loop_plan.hpp"

#include "ops/build.hpp"
#include "plan/fuser.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

class Planner {
public:
    Planner(const Fused& fused, GroupId id) : f_(fused), g_(fused.groups[id]) {}

    LoopPlan run(bool top) {
        plan_.leaf_access.assign(g_.node_count, none);
        for (NodeId n : g_.nodes) add_leaves(n);
        for (const Output& o : g_.outputs) {
            add_leaf(o.node);
            plan_.output_access.push_back(access(o.map, o.target));
        }
        find_pinned();
        merge();
        find_phases();
        choose(top);
        return std::move(plan_);
    }

    void find_phases() {
        plan_.phase.assign(g_.node_count, 255);
        std::uint8_t last = 0;
        const std::uint64_t inner = reduced_dims(g_);
        for (const Output& o : g_.outputs) {
            const std::uint8_t p = phase(o.node);
            if ((f_.dims_of(g_, o.map) & inner) != 0) last = std::max(last, p);
        }
        for (NodeId r : g_.reductions) last = std::max(last, static_cast<std::uint8_t>(phase(r) - 1));
        plan_.phases = static_cast<std::uint8_t>(last + 1);
    }

    [[nodiscard]] const LoopPlan& plan() const { return plan_; }

    std::uint8_t phase(NodeId n) {
        n = f_.resolved(n);
        const Node& node = f_.nodes[n];
        std::uint8_t& known = plan_.phase[node.local];
        if (known != 255) return known;
        std::uint8_t p = 0;
        if (node.state == Node::State::leaf) {
            for (const AxisIndex& axis : g_.table.maps[node.map].axes) p = std::max(p, phase_of_term(axis.term));
        } else {
            if (node.state == Node::State::iota || node.state == Node::State::pad || node.state == Node::State::concatenate)
                for (const AxisIndex& axis : g_.table.maps[node.map].axes) p = std::max(p, phase_of_term(axis.term));
            for (std::size_t i = 0; i < node.operand_count; ++i) p = std::max(p, phase(f_.operand(node, i)));
            if (node.state == Node::State::reduce) ++p;
        }
        plan_.phase[node.local] = p;
        return p;
    }

private:
    std::uint8_t phase_of_term(std::int32_t term) {
        if (term < 0) return 0;
        const Term& t = g_.table.terms[static_cast<std::size_t>(term)];
        std::uint8_t p = std::max({phase_of_term(t.inner.term), phase_of_term(t.left), phase_of_term(t.right)});
        return t.node == no_node ? p : std::max(p, phase(t.node));
    }

    void add_leaf(NodeId n) {
        n = f_.resolved(n);
        const Node& node = f_.nodes[n];
        if (node.state == Node::State::leaf && plan_.leaf_access[node.local] == none) {
            plan_.leaf_access[node.local] = access(node.map, node.value);
            for (const AxisIndex& axis : g_.table.maps[node.map].axes) add_term_leaves(axis.term);
        }
    }

    void add_leaves(NodeId n) {
        const Node& node = f_.nodes[n];
        for (std::size_t i = 0; i < node.operand_count; ++i) add_leaf(f_.operand(node, i));
        if (node.map != 0)
            for (const AxisIndex& axis : g_.table.maps[node.map].axes) add_term_leaves(axis.term);
    }

    void add_term_leaves(std::int32_t term) {
        if (term < 0) return;
        const Term& t = g_.table.terms[static_cast<std::size_t>(term)];
        if (t.node != no_node) add_leaf(t.node);
        add_term_leaves(t.inner.term);
        add_term_leaves(t.left);
        add_term_leaves(t.right);
    }

    std::uint32_t access(MapId map, ValueId v) {
        const Shape& shape = f_.function->type(v).shape();
        for (std::uint32_t i = 0; i < plan_.accesses.size(); ++i) {
            const Access& a = plan_.accesses[i];
            if (a.map == map && (map == 0 || f_.function->type(a.like).shape() == shape)) return i;
        }
        Access a;
        a.map = map;
        a.like = v;
        a.factors.resize(g_.extents.size());
        for (std::int64_t& x : a.factors) x = 0;
        if (map == 0) {
            std::int64_t stride = 1;
            for (std::size_t d = g_.root_dims; d-- > 0; stride *= g_.extents[d]) a.factors[d] = stride;
        } else {
            std::int64_t stride = 1;
            const IndexMap& m = g_.table.maps[map];
            for (std::size_t i = shape.rank(); i-- > 0; stride *= shape[i]) {
                const AxisIndex& axis = m.axes[i];
                a.offset += stride * axis.offset;
                for (const AxisIndex::Part& p : axis.parts) a.factors[p.dim] += stride * p.factor;
                if (axis.term >= 0) a.terms.push_back({axis.term, stride});
            }
        }
        plan_.accesses.push_back(std::move(a));
        return static_cast<std::uint32_t>(plan_.accesses.size() - 1);
    }

    /// Dimensions whose own counters are needed, so that they cannot be merged.
    void find_pinned() {
        pinned_.assign(g_.extents.size(), false);
        const auto pin = [&](const AxisIndex& axis) {
            for (const AxisIndex::Part& p : axis.parts) pinned_[p.dim] = true;
        };
        for (const Term& t : g_.table.terms) pin(t.inner);
        for (NodeId n : g_.nodes) {
            const Node& node = f_.nodes[n];
            if (node.state != Node::State::iota && node.state != Node::State::pad && node.state != Node::State::concatenate) continue;
            const ir::Op& op = f_.function->ops()[static_cast<std::size_t>(f_.function->defining_op()[node.value])];
            const IndexMap& m = g_.table.maps[node.map];
            if (node.state == Node::State::pad) {
                const auto& attr = op.get<ir::PadAttr>();
                for (std::size_t i = 0; i < m.axes.size(); ++i)
                    if (attr.low[i] > 0 || attr.high[i] > 0 || attr.interior[i] > 0) pin(m.axes[i]);
            } else if (!m.axes.empty()) {
                pin(m.axes[static_cast<std::size_t>(op.get<ir::DimAttr>().dim)]);
            }
        }
    }

    [[nodiscard]] bool mergeable(std::uint32_t a, std::uint32_t b) const {
        if (pinned_[a] || pinned_[b]) return false;
        return std::all_of(plan_.accesses.begin(), plan_.accesses.end(),
                           [&](const Access& x) { return x.factors[a] == x.factors[b] * g_.extents[b]; });
    }

    void merge() {
        for (std::uint32_t d = 0; d < g_.extents.size(); ++d) {
            PoolVector<Merged>& list = g_.reduced[d] ? plan_.inner : plan_.rows;
            (g_.reduced[d] ? plan_.inner_count : plan_.row_count) *= g_.extents[d];
            if (!list.empty() && mergeable(list.back().last, d)) {
                list.back().last = d;
                list.back().extent *= g_.extents[d];
            } else {
                list.push_back({d, d, g_.extents[d]});
            }
        }
    }

    [[nodiscard]] std::int64_t factor(const Access& a, const Merged& m) const { return a.factors[m.last]; }

    void choose(bool top) {
        bool element_outputs = false, general = false;
        const std::uint64_t inner = reduced_dims(g_);
        find_cost(inner);
        std::int64_t total = plan_.row_count * plan_.inner_count;
        if (!top && total <= 64 && total > 0 && std::all_of(g_.extents.begin(), g_.extents.end(), [](std::int64_t e) { return e <= 8; })) {
            plan_.form = LoopForm::small;
            return;
        }
        if (inner == 0) {
            plan_.form = g_.reductions.empty() ? LoopForm::elements : plan_.rows.empty() ? LoopForm::rows : LoopForm::lanes;
            if (plan_.form == LoopForm::elements && finds_tiles()) plan_.form = LoopForm::tiles;
            return;
        }
        for (const Output& o : g_.outputs) element_outputs = element_outputs || (f_.dims_of(g_, o.map) & inner) != 0;
        for (NodeId r : g_.reductions) general = general || !simple(r);
        plan_.form = form(general, element_outputs);
        if (top && !general && !element_outputs && plan_.phases == 1 && !g_.reductions.empty()) split(total);
    }

    /// Whether something is read across memory: a step along the innermost dimension leads to another cache line, and one along another
    /// dimension does not.
    bool finds_tiles() {
        constexpr std::int64_t least = 16; // iterations for which it is worth the longer code
        if (plan_.rows.size() < 2 || plan_.rows.back().extent < least) return false;
        for (std::uint32_t i = 0; i + 1 < plan_.rows.size(); ++i) {
            if (plan_.rows[i].extent < least) continue;
            for (const Access& a : plan_.accesses) {
                if (factor(a, plan_.rows[i]) != 1 || std::abs(factor(a, plan_.rows.back())) < least) continue;
                plan_.along = i;
                return true;
            }
        }
        return false;
    }

    /// Arithmetic in vectors, and the memory that is passed through.
    void find_cost(std::uint64_t inner) {
        constexpr double ns_per_addition = 0.005, ns_per_byte = 0.015; // per byte of an element's width, too
        const auto rows = static_cast<double>(std::max<std::int64_t>(plan_.inner_count, 1));
        const auto share = [&](MapId map) { return inner == 0 || (f_.dims_of(g_, map) & inner) != 0 ? 1.0 : 1.0 / rows; };
        double ns = 0;
        for (NodeId n : g_.nodes) {
            const Node& node = f_.nodes[n];
            if (node.state != Node::State::apply && node.state != Node::State::reduce) continue;
            const ir::Op& op = f_.function->ops()[static_cast<std::size_t>(f_.function->defining_op()[node.value])];
            const bool reduce = node.state == Node::State::reduce;
            const auto width = static_cast<double>(f_.function->type(node.value).dtype().size());
            ns += (reduce ? 1.0 : weight(op.code) * share(node.map)) * width * ns_per_addition;
            for (std::size_t i = 0; i < node.operand_count; ++i) ns += leaf_cost(f_.operand(node, i), share) * ns_per_byte;
        }
        for (const Output& o : g_.outputs) {
            ns += static_cast<double>(f_.function->type(o.target).dtype().size()) * ns_per_byte * share(o.map);
            ns += leaf_cost(o.node, share) * ns_per_byte;
        }
        plan_.element_ns = ns + 0.01;
    }

    template <class Share>
    double leaf_cost(NodeId n, Share share) const {
        n = f_.resolved(n);
        const Node& node = f_.nodes[n];
        if (node.state != Node::State::leaf || f_.function->type(node.value).elements() == 1) return 0;
        const double bytes = static_cast<double>(f_.function->type(node.value).dtype().size()) * share(node.map);
        for (const auto& [term, factor] : plan_.accesses[plan_.leaf_access[node.local]].terms) {
            const Term& t = g_.table.terms[static_cast<std::size_t>(term)];
            if (t.node != no_node && f_.dims_of(g_, f_.nodes[t.node].map) != 0) return bytes + 60; // gathered: perhaps a cache line each
        }
        return bytes;
    }

    [[nodiscard]] bool simple(NodeId r) const {
        const Node& node = f_.nodes[r];
        if (node.operand_count != 2) return false;
        const ir::Op& op = f_.function->ops()[static_cast<std::size_t>(f_.function->defining_op()[node.value])];
        return ops::combiner_of(*op.regions[0]).has_value();
    }

    [[nodiscard]] LoopForm form(bool general, bool element_outputs) const {
        if (plan_.rows.empty()) return LoopForm::rows;
        if (general) return LoopForm::lanes;
        int unit_inner = 0, unit_row = 0;
        if (plan_.inner.empty()) return LoopForm::lanes;
        for (const Access& a : plan_.accesses) {
            if (factor(a, plan_.inner.back()) == 1)
                ++unit_inner;
            else if (factor(a, plan_.rows.back()) == 1 && factor(a, plan_.inner.back()) != 0)
                ++unit_row;
        }
        if (plan_.inner_count <= 16 && plan_.row_count >= 8) return LoopForm::lanes;
        if (unit_row > unit_inner) {
            const bool streamed = plan_.phases == 1 && !element_outputs && plan_.inner_count > 16 && !g_.reductions.empty();
            return streamed ? LoopForm::columns : LoopForm::lanes;
        }
        return LoopForm::rows;
    }

    /// Long reductions with few results: blocks of a fixed size first.
    void split(std::int64_t total) {
        if (total < 65536 || plan_.inner.empty()) return;
        const std::int64_t outermost = plan_.inner[0].extent, per_step = total / outermost;
        if (plan_.form == LoopForm::rows && plan_.row_count >= 16) return;
        if (plan_.form == LoopForm::columns && plan_.row_count >= 2048) return;
        if (plan_.form == LoopForm::lanes) return;
        // Each block of columns writes a row of totals that the second nest reads again: fewer, longer ones.
        const std::int64_t elements = plan_.form == LoopForm::columns ? 65536 : 16384;
        const std::int64_t block = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, per_step));
        const std::int64_t blocks = (outermost + block - 1) / block;
        if (blocks < 2) return;
        plan_.block = block;
        plan_.blocks = blocks;
    }

    const Fused& f_;
    const Group& g_;
    LoopPlan plan_;
    PoolVector<bool> pinned_;
};

/// Finds what is computed again in a later phase.
class Spills {
public:
    Spills(Fused& fused, GroupId id, const LoopPlan& plan) : f_(fused), g_(fused.groups[id]), plan_(plan), seen_(g_.node_count, -1) {}

    void run() {
        const std::uint64_t inner = reduced_dims(g_);
        const std::size_t outputs = g_.outputs.size();
        for (int p = 0; p < plan_.phases; ++p) {
            for (NodeId r : g_.reductions)
                if (plan_.phase[f_.nodes[r].local] == p + 1)
                    for (std::size_t i = 0; i < f_.nodes[r].operand_count / 2; ++i) visit(f_.operand(f_.nodes[r], i), p);
            for (std::size_t o = 0; o < outputs; ++o) {
                const NodeId n = f_.resolved(g_.outputs[o].node);
                if ((f_.dims_of(g_, g_.outputs[o].map) & inner) && plan_.phase[f_.nodes[n].local] == p) visit(n, p);
            }
        }
    }

private:
    bool whole(const Node& node) const {
        if (f_.dims_of(g_, node.map) != all_dims(g_)) return false;
        std::int64_t total = 1;
        for (std::int64_t e : g_.extents) total *= e;
        if (total != f_.function->type(node.value).elements()) return false;
        return std::all_of(g_.table.maps[node.map].axes.begin(), g_.table.maps[node.map].axes.end(), [](const AxisIndex& axis) {
            return axis.term < 0 && axis.offset == 0 && axis.parts.size() <= 1 && (axis.parts.empty() || axis.parts[0].factor == 1);
        });
    }

    int cost(NodeId n) const {
        n = f_.resolved(n);
        const Node& node = f_.nodes[n];
        if (node.state != Node::State::apply || !(f_.dims_of(g_, node.map) & reduced_dims(g_))) return 0;
        int sum = weight(f_.function->ops()[static_cast<std::size_t>(f_.function->defining_op()[node.value])].code);
        for (std::size_t i = 0; i < node.operand_count && sum < 100; ++i) sum += cost(f_.operand(node, i));
        return sum;
    }

    void visit(NodeId n, int p) {
        n = f_.resolved(n);
        const Node node = f_.nodes[n];
        if (node.state == Node::State::leaf || !(f_.dims_of(g_, node.map) & reduced_dims(g_))) return;
        int& seen = seen_[node.local];
        if (seen >= p) return;
        const bool again = seen >= 0;
        for (const Output& o : g_.outputs)
            if (f_.resolved(o.node) == n && again && !o.accumulate) return; // read back
        seen = p;
        if (again && node.state == Node::State::apply && whole(node) && cost(n) >= 10) {
            g_.outputs.push_back({n, node.value, node.map, false, false});
            f_.stored[node.value] = true;
            return;
        }
        if (node.state == Node::State::reduce) return;
        for (std::size_t i = 0; i < node.operand_count; ++i) visit(f_.operand(node, i), p);
    }

    Fused& f_;
    Group& g_;
    const LoopPlan& plan_;
    PoolVector<int> seen_;
};

} // namespace

LoopPlan plan_loops(const Fused& fused, GroupId group, bool top) { return Planner(fused, group).run(top); }

const LoopPlan& top_loops(const Fused& fused, GroupId group) {
    if (fused.loops.size() <= group) fused.loops.resize(fused.groups.size());
    std::shared_ptr<const LoopPlan>& known = fused.loops[group];
    if (!known) known = std::allocate_shared<const LoopPlan>(runtime::PoolAllocator<LoopPlan>(), plan_loops(fused, group, true));
    return *known;
}

void add_spills(Fused& fused, GroupId id) {
    Group& g = fused.groups[id];
    if (g.kind != Group::Kind::loops || g.reductions.empty()) return;
    const LoopPlan& plan = top_loops(fused, id);
    const std::size_t outputs = g.outputs.size();
    if (plan.phases > 1) Spills(fused, id, plan).run();
    if (plan.form == LoopForm::columns)
        for (NodeId r : g.reductions) {
            const bool known = std::any_of(g.outputs.begin(), g.outputs.end(), [&](const Output& o) { return o.node == r && !o.part; });
            if (known) continue;
            g.outputs.push_back({r, fused.nodes[r].value, fused.nodes[r].map, false, false});
            fused.stored[fused.nodes[r].value] = true;
        }
    if (g.outputs.size() != outputs) fused.loops[id] = nullptr; // they pass through more now
}

} // namespace stithy::plan
