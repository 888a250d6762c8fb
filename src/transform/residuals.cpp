#include "transform/residuals.hpp"

#include "ops/elementwise.hpp"
#include "transform/min_cut.hpp"

#include <algorithm>

namespace stithy::transform {

namespace {

/// Cheaper to do again than to store and load: no transcendental functions, no contractions.
bool is_cheap(const Op& op) {
    if (op.effect != ir::Effect::pure) return false;
    if (ops::is_transcendental(op.code)) return false;
    switch (op.code) {
    case OpCode::remainder: return false;
    case OpCode::constant:
    case OpCode::iota:
    case OpCode::bitcast_convert:
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::dynamic_slice:
    case OpCode::gather:
    case OpCode::concatenate:
    case OpCode::pad:
    case OpCode::reverse:
    case OpCode::accumulator_zeros: return true;
    default: return ir::is_elementwise(op.code);
    }
}

class Chooser {
public:
    Chooser(const Stage& body, const LoopLayout& layout, const Mask& stacked_results)
        : body_(body), builder_(body.builder), layout_(layout), definition_(defining_ops(body.builder)) {
        const std::size_t n = builder_.value_count();
        invariant_.resize(n);
        stacked_result_.assign(n, none);
        for (std::size_t p = 0; p < body.known_parameters.size(); ++p) invariant_[p] = layout.is_invariant(body.known_parameters[p]);
        for (const Op& op : builder_.ops()) {
            bool all = op.effect == ir::Effect::pure;
            for (ValueId v : op.operands) all = all && invariant_[v];
            for (std::uint32_t r = 0; r < op.result_count; ++r) invariant_[op.result(r)] = all;
        }
        for (std::size_t r = 0; r < stacked_results.size(); ++r)
            if (stacked_results[r]) stacked_result_[body.known[body.f.results()[r]].id()] = r;
    }

    LoopResiduals choose(const std::vector<ValueId>& needed) {
        Mask again = recomputable();
        Mask reached(builder_.value_count(), false); // needed, or needed to compute what is
        for (ValueId v : needed) reached[v] = true;
        for (std::size_t v = reached.size(); v-- > 0;)
            if (reached[v] && again[v] && definition_[v] >= 0)
                for (ValueId o : definition(static_cast<ValueId>(v)).operands) reached[o] = true;
        cut(needed, reached, again);
        Mask use(builder_.value_count(), false);
        for (ValueId v : needed) use[v] = true;
        for (std::size_t v = use.size(); v-- > 0;)
            if (use[v]) settle(static_cast<ValueId>(v), again[v], use);
        std::reverse(out_.recomputed.begin(), out_.recomputed.end());
        std::reverse(out_.stacked.begin(), out_.stacked.end());
        return std::move(out_);
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    [[nodiscard]] const Op& definition(ValueId v) const { return builder_.ops()[static_cast<std::size_t>(definition_[v])]; }
    [[nodiscard]] std::int64_t bytes(ValueId v) const { return std::max<std::int64_t>(builder_.type(v).bytes(), 1); }
    /// There without being stored step by step.
    [[nodiscard]] bool is_free(ValueId v) const {
        if (invariant_[v] || stacked_result_[v] != none) return true;
        if (definition_[v] >= 0) return is_nullary(definition(v));
        const std::size_t p = body_.known_parameters[v];
        return p == 0 || layout_.is_x(p);
    }
    /// Which values may be computed again.
    [[nodiscard]] Mask recomputable() const {
        Mask again(builder_.value_count(), false);
        for (const Op& op : builder_.ops())
            for (std::uint32_t r = 0; r < op.result_count; ++r)
                again[op.result(r)] = is_cheap(op) && (is_nullary(op) || !is_free(op.result(r)));
        return again;
    }

    /// Clears `again` for the values that are stacked: a minimum cut between what is there and what is needed.
    void cut(const std::vector<ValueId>& needed, const Mask& reached, Mask& again) const {
        std::vector<std::uint32_t> node(reached.size(), 0);
        std::size_t n = 0;
        for (std::size_t v = 0; v < reached.size(); ++v)
            if (reached[v]) node[v] = static_cast<std::uint32_t>(2 * n++);
        MinCut graph(2 * n);
        for (std::size_t i = 0; i < reached.size(); ++i) {
            if (!reached[i]) continue;
            const auto v = static_cast<ValueId>(i);
            graph.connect(node[v], node[v] + 1, is_free(v) ? 0 : bytes(v));
            if (!again[v])
                graph.connect(graph.source(), node[v], MinCut::unlimited);
            else
                for (ValueId o : definition(v).operands) graph.connect(node[o] + 1, node[v], MinCut::unlimited);
        }
        for (ValueId v : needed) graph.connect(node[v] + 1, graph.sink(), MinCut::unlimited);
        Mask sink_side;
        if (!graph.run(sink_side)) return; // then what is cheap is computed again
        for (std::size_t v = 0; v < reached.size(); ++v)
            if (reached[v] && sink_side[node[v] + 1] && !sink_side[node[v]] && !is_nullary_value(static_cast<ValueId>(v))) again[v] = false;
    }
    [[nodiscard]] bool is_nullary_value(ValueId v) const { return definition_[v] >= 0 && is_nullary(definition(v)); }

    /// Notes how a value that is used reaches the unknown body; what it is computed from is used too.
    void settle(ValueId v, bool again, Mask& use) {
        if (again) return recompute(v, use);
        if (invariant_[v]) {
            if (definition_[v] >= 0 && is_widening(definition(v), v)) return recompute(v, use);
            out_.hoisted.push_back(v);
        } else if (stacked_result_[v] != none) {
            out_.forwarded.push_back({v, stacked_result_[v]});
        } else if (definition_[v] < 0 && layout_.is_x(body_.known_parameters[v])) {
            out_.xs.push_back(v);
        } else if (definition_[v] >= 0 || body_.known_parameters[v] != 0) { // the counter is there
            out_.stacked.push_back(v);
        }
    }

    /// A broadcast is not worth an array of its own.
    [[nodiscard]] bool is_widening(const Op& op, ValueId v) const {
        std::int64_t widest = 0;
        for (ValueId o : op.operands) widest = std::max(widest, builder_.type(o).bytes());
        return is_nullary(op) || (is_cheap(op) && widest < bytes(v) && bytes(v) > 64);
    }

    void recompute(ValueId v, Mask& use) {
        const Op& op = definition(v);
        out_.recomputed.push_back(v);
        for (ValueId o : op.operands) use[o] = true;
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (op.result(r) < v) use[op.result(r)] = false; // the same operation gives its other results
    }

    const Stage& body_;
    const Builder& builder_;
    const LoopLayout& layout_;
    std::vector<std::int32_t> definition_;
    Mask invariant_;
    std::vector<std::size_t> stacked_result_; ///< the body's result that stacks the value
    LoopResiduals out_;
};

} // namespace

LoopResiduals choose_loop_residuals(const Stage& body, const LoopLayout& layout, const std::vector<ValueId>& needed,
                                    const Mask& stacked_results) {
    return Chooser(body, layout, stacked_results).choose(needed);
}

} // namespace stithy::transform
