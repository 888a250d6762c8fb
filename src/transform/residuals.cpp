#include "transform/residuals.hpp"

#include <algorithm>

namespace stithy::transform {

namespace {

/// Cheaper to do again than to store and load: no transcendental functions, no contractions.
bool is_cheap(const Op& op) {
    if (op.effect != ir::Effect::pure) return false;
    switch (op.code) {
    case OpCode::cbrt:
    case OpCode::cosine:
    case OpCode::exponential:
    case OpCode::exponential_minus_one:
    case OpCode::log:
    case OpCode::log_plus_one:
    case OpCode::logistic:
    case OpCode::sine:
    case OpCode::tan:
    case OpCode::tanh:
    case OpCode::atan2:
    case OpCode::power:
    case OpCode::remainder: return false;
    case OpCode::constant:
    case OpCode::iota:
    case OpCode::bitcast_convert:
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::dynamic_slice:
    case OpCode::concatenate:
    case OpCode::pad:
    case OpCode::reverse:
    case OpCode::accumulator_zeros: return true;
    default: return ir::is_elementwise(op.code);
    }
}

class Chooser {
public:
    Chooser(const Stage& body, const LoopLayout& layout) : body_(body), layout_(layout), definition_(defining_ops(body.builder)) {
        const std::size_t n = body.builder.value_count();
        invariant_.resize(n);
        free_.resize(n);
        for (std::size_t p = 0; p < body.known_parameters.size(); ++p) {
            const std::size_t original = body.known_parameters[p];
            invariant_[p] = layout.is_invariant(original);
            free_[p] = original == 0 || layout.is_invariant(original) || layout.is_x(original);
        }
        for (const Op& op : body.builder.ops()) {
            bool all_invariant = op.effect == ir::Effect::pure, all_free = is_cheap(op);
            for (ValueId v : op.operands) {
                all_invariant = all_invariant && invariant_[v];
                all_free = all_free && free_[v];
            }
            for (std::uint32_t r = 0; r < op.result_count; ++r) {
                invariant_[op.result(r)] = all_invariant;
                free_[op.result(r)] = all_free || all_invariant;
            }
        }
    }

    LoopResiduals choose(const std::vector<ValueId>& needed) {
        needed_.assign(body_.builder.value_count(), false);
        for (ValueId v : needed) needed_[v] = true;
        for (std::size_t v = needed_.size(); v-- > 0;)
            if (needed_[v]) decide(static_cast<ValueId>(v));
        std::reverse(out_.recomputed.begin(), out_.recomputed.end());
        std::reverse(out_.stacked.begin(), out_.stacked.end());
        return out_;
    }

private:
    [[nodiscard]] std::int64_t bytes(ValueId v) const { return body_.builder.type(v).bytes(); }

    void decide(ValueId v) {
        const std::int32_t d = definition_[v];
        if (d < 0) return decide_parameter(v);
        const Op& op = body_.builder.ops()[static_cast<std::size_t>(d)];
        if (is_nullary(op)) return recompute(v, op);
        std::int64_t cost = 0; // bytes that would be kept newly for the operands
        for (ValueId o : op.operands)
            if (!free_[o] && !needed_[o]) cost += bytes(o);
        std::int64_t widest = 0;
        for (ValueId o : op.operands) widest = std::max(widest, bytes(o));
        if (invariant_[v]) {
            if (is_cheap(op) && widest < bytes(v) && bytes(v) > 64) return recompute(v, op); // a broadcast is not worth an array
            out_.hoisted.push_back(v);
            return;
        }
        if (free_[v] || (is_cheap(op) && cost < bytes(v))) return recompute(v, op);
        out_.stacked.push_back(v);
    }

    void decide_parameter(ValueId v) {
        const std::size_t p = body_.known_parameters[v];
        if (p == 0) out_.counter = true;
        else if (layout_.is_invariant(p)) out_.hoisted.push_back(v);
        else if (layout_.is_x(p)) out_.xs.push_back(v);
        else out_.stacked.push_back(v);
    }

    void recompute(ValueId v, const Op& op) {
        out_.recomputed.push_back(v);
        for (ValueId o : op.operands) needed_[o] = true;
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (op.result(r) < v) needed_[op.result(r)] = false; // the same operation gives its other results
    }

    const Stage& body_;
    const LoopLayout& layout_;
    std::vector<std::int32_t> definition_;
    Mask invariant_, free_, needed_;
    LoopResiduals out_;
};

} // namespace

LoopResiduals choose_loop_residuals(const Stage& body, const LoopLayout& layout, const std::vector<ValueId>& needed) {
    return Chooser(body, layout).choose(needed);
}

} // namespace stithy::transform
