#include "transform/flow.hpp"

#include <algorithm>

namespace stithy::transform {

Mask Flow::forward(const Mask& marked) const {
    BitRows marks(1, parameters);
    for (std::size_t p = 0; p < marked.size(); ++p)
        if (marked[p]) marks.set(0, p);
    Mask out(results, false);
    for (std::size_t r = 0; r < results; ++r) out[r] = rows.meets(r, marks, 0);
    return out;
}

Mask Flow::backward(const Mask& marked) const {
    BitRows all(1, parameters);
    all.join(0, rows, results);
    for (std::size_t r = 0; r < results; ++r)
        if (marked[r]) all.join(0, rows, r);
    Mask out(parameters, false);
    for (std::size_t p = 0; p < parameters; ++p) out[p] = all.test(0, p);
    return out;
}

namespace {

/// A loop's or while's flow from that of its regions: carried values reach one another over any number of steps.
class Carried {
public:
    Carried(const Op& op, bool differentiable)
        : op_(op), differentiable_(differentiable), is_loop_(op.code == OpCode::loop),
          body_(flow_of(*op.regions[is_loop_ ? 0 : 1], differentiable)), rows_(body_.rows) {
        if (is_loop_) {
            const LoopLayout layout(op.get<LoopAttr>());
            first_ = layout.carry(0);
            carried_ = layout.carries + layout.accumulators;
            trip_ = layout.trip;
        } else {
            first_ = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
            carried_ = op.result_count;
        }
    }

    Flow run() {
        const Function& f = *op_.regions[is_loop_ ? 0 : 1];
        for (std::size_t i = 0; i < carried_; ++i)
            if (!differentiable_ || ops::is_differentiable(f.type(static_cast<ValueId>(first_ + i)))) rows_.set(i, first_ + i);
        close();
        Flow out{op_.operands.size(), op_.result_count, BitRows(op_.result_count + std::size_t{1}, op_.operands.size())};
        for (std::size_t r = 0; r <= out.results; ++r)
            for (std::size_t p = is_loop_ ? 1 : 0; p < body_.parameters; ++p)
                if (rows_.test(r, p)) out.rows.set(r, operand_of(p));
        if (!differentiable_) add_ending(out);
        return out;
    }

private:
    [[nodiscard]] std::size_t operand_of(std::size_t p) const { return is_loop_ ? trip_ + p - 1 : p; }

    /// Puts in the place of each carried parameter all that it stands for.
    void close() {
        for (std::size_t k = 0; k < carried_; ++k)
            for (std::size_t r = 0; r <= body_.results; ++r)
                if (r != k && rows_.test(r, first_ + k)) rows_.join(r, rows_, k);
    }

    /// Everything depends on what says how many steps there are.
    void add_ending(Flow& out) {
        BitRows ending(1, op_.operands.size());
        if (trip_ != 0) ending.set(0, 0);
        if (!is_loop_) {
            const Flow& condition = flow_of(*op_.regions[0], false);
            for (std::size_t row : {std::size_t{0}, condition.results})
                for (std::size_t p = 0; p < condition.parameters; ++p) {
                    if (!condition.rows.test(row, p)) continue;
                    ending.set(0, p);
                    if (p >= first_) ending.join(0, out.rows, p - first_);
                }
        }
        const bool effects = op_.effect == ir::Effect::ordered;
        for (std::size_t r = 0; r < out.results + (effects ? 1 : 0); ++r) out.rows.join(r, ending, 0);
    }

    const Op& op_;
    bool differentiable_, is_loop_;
    const Flow& body_;
    BitRows rows_;
    std::size_t first_ = 0, carried_ = 0, trip_ = 0;
};

Flow branches(const Op& op, bool differentiable) {
    const std::size_t first = op.code == OpCode::call ? 0 : 1;
    Flow out{op.operands.size(), op.result_count, BitRows(op.result_count + std::size_t{1}, op.operands.size())};
    for (const FunctionPtr& region : op.regions) {
        const Flow& inner = flow_of(*region, differentiable);
        for (std::size_t r = 0; r <= out.results; ++r)
            for (std::size_t p = 0; p < inner.parameters; ++p)
                if (inner.rows.test(r, p)) out.rows.set(r, first + p);
    }
    if (first == 1 && !differentiable)
        for (std::size_t r = 0; r < out.results; ++r) out.rows.set(r, 0);
    return out;
}

Flow compute(const Function& f, bool differentiable) {
    const auto carries = [&](ValueId v) { return !differentiable || ops::is_differentiable(f.type(v)); };
    BitRows values(f.value_count() + 1, f.parameter_count()); // the last row: what ordered operations take
    const std::size_t effects = f.value_count();
    for (std::size_t p = 0; p < f.parameter_count(); ++p)
        if (carries(static_cast<ValueId>(p))) values.set(p, p);
    BitRows joined(1, f.parameter_count());
    for (const Op& op : f.ops()) {
        const bool ordered = op.effect == ir::Effect::ordered;
        if (is_structured(op.code)) {
            const Flow flow = flow_of(op, differentiable);
            for (std::size_t i = 0; i < op.operands.size(); ++i) {
                for (std::uint32_t r = 0; r < op.result_count; ++r)
                    if (flow.rows.test(r, i) && carries(op.result(r))) values.join(op.result(r), values, op.operands[i]);
                if (ordered || flow.rows.test(flow.results, i)) values.join(effects, values, op.operands[i]);
            }
            continue;
        }
        if (!ordered && differentiable && has_zero_derivative(op.code)) continue;
        joined.clear(0);
        for (ValueId v : op.operands) joined.join(0, values, v);
        if (ordered) values.join(effects, joined, 0);
        if (differentiable && has_zero_derivative(op.code)) continue;
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (carries(op.result(r))) values.join(op.result(r), joined, 0);
    }
    Flow out{f.parameter_count(), f.results().size(), BitRows(f.results().size() + 1, f.parameter_count())};
    for (std::size_t r = 0; r < out.results; ++r) out.rows.join(r, values, f.results()[r]);
    out.rows.join(out.results, values, effects);
    return out;
}

} // namespace

const Flow& flow_of(const Function& f, bool differentiable) {
    return *f.memo<Flow>(differentiable ? "flow of tangents" : "flow",
                         [&] { return std::make_shared<const Flow>(compute(f, differentiable)); });
}

Flow flow_of(const Op& op, bool differentiable) {
    switch (op.code) {
    case OpCode::call:
    case OpCode::case_:
    case OpCode::if_: return branches(op, differentiable);
    case OpCode::loop:
    case OpCode::while_: return Carried(op, differentiable).run();
    default: internal_error("flow_of: not a structured operation");
    }
}

} // namespace stithy::transform
