#include "pass/licm.hpp"

#include "pass/rewrite.hpp"

namespace stithy::pass {

namespace {

/// Operations that are folded into whoever reads them: moving them out would only make arrays.
bool is_layout(OpCode code) {
    switch (code) {
    case OpCode::constant:
    case OpCode::iota:
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::reverse:
    case OpCode::convert: return true;
    default: return false;
    }
}

/// Operations that read their operands from memory, into which no layout operation is folded.
bool reads_memory(OpCode code) { return code == OpCode::dot_general || is_structured(code); }

/// Whether an operation may never end, so that it must not run where the loop makes no step.
bool may_not_end(const Op& op) {
    std::vector<const Op*> waiting{&op};
    while (!waiting.empty()) {
        const Op* at = waiting.back();
        waiting.pop_back();
        if (at->code == OpCode::while_) return true;
        for (const FunctionPtr& region : at->regions)
            for (const Op& inner : region->ops())
                if (!inner.regions.empty()) waiting.push_back(&inner);
    }
    return false;
}

/// Which operations of a body can go, given which parameters are invariant. Layout operations go only when something that goes needs them,
/// or something that would make them an array in each step.
Mask movable_ops(const Function& body, const Mask& invariant_parameters, bool runs) {
    Mask invariant(body.value_count(), false), movable(body.ops().size(), false);
    std::copy(invariant_parameters.begin(), invariant_parameters.end(), invariant.begin());
    for (std::size_t i = 0; i < body.ops().size(); ++i) {
        const Op& op = body.ops()[i];
        bool all = op.effect == ir::Effect::pure && (runs || op.regions.empty() || !may_not_end(op));
        for (ValueId v : op.operands) all = all && invariant[v];
        for (std::uint32_t r = 0; r < op.result_count; ++r) all = all && body.type(op.result(r)).is_tensor();
        movable[i] = all;
        for (std::uint32_t r = 0; r < op.result_count; ++r) invariant[op.result(r)] = all;
    }
    Mask needed(body.value_count(), false), wanted(body.value_count(), false); // by what goes; by who reads memory
    for (std::size_t i = body.ops().size(); i-- > 0;) {
        const Op& op = body.ops()[i];
        if (!movable[i]) {
            if (reads_memory(op.code))
                for (ValueId v : op.operands) wanted[v] = true;
            continue;
        }
        bool goes = !is_layout(op.code);
        if (!op.operands.empty()) // constants are better known where they are read
            for (std::uint32_t r = 0; r < op.result_count; ++r) goes = goes || wanted[op.result(r)];
        std::int64_t widest = 0;
        for (ValueId v : op.operands) widest = std::max(widest, body.type(v).bytes());
        if (goes && body.type(op.first_result).bytes() > 4 * std::max<std::int64_t>(widest, 64)) goes = false; // a widening product stays
        for (std::uint32_t r = 0; r < op.result_count; ++r) goes = goes || needed[op.result(r)];
        movable[i] = goes;
        if (goes)
            for (ValueId v : op.operands) needed[v] = true;
    }
    return movable;
}

class HoistInvariants final : public Rewriter {
public:
    /// `only_sure`: only out of loops that are known to make a step.
    explicit HoistInvariants(bool only_sure) : only_sure_(only_sure) {}

private:
    bool handles(const Op& op) const override { return op.code == OpCode::loop || op.code == OpCode::while_; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if ((op.code != OpCode::loop && op.code != OpCode::while_) || op.effect != ir::Effect::pure) return false;
        const bool runs = op.code == OpCode::loop && op.get<LoopAttr>().length > 0;
        return (runs || !only_sure_) && hoist(builder, op, operands, types, results, runs);
    }

    static bool hoist(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results,
                      bool runs) {
        const bool is_loop = op.code == OpCode::loop;
        const Function& body = *op.regions.back();
        const std::size_t first = is_loop ? 1 : 0; // first invariant parameter
        const auto n = static_cast<std::size_t>(is_loop ? op.get<LoopAttr>().invariants : op.get<WhileAttr>().invariants);
        const std::size_t shift = is_loop ? LoopLayout(op.get<LoopAttr>()).trip : 0; // operands before the invariants
        Mask invariant(body.parameter_count(), false);
        for (std::size_t i = 0; i < n; ++i) invariant[first + i] = true;
        const Mask movable = movable_ops(body, invariant, runs);
        if (!any(movable)) return false;

        // the moved operations, outside
        Values outside(body.value_count());
        for (std::size_t i = 0; i < n; ++i) outside[first + i] = operands[shift + i];
        Mask crosses(body.value_count(), false); // moved values that stay-behind operations (or results) read
        for (std::size_t i = 0; i < body.ops().size(); ++i) {
            const Op& inner = body.ops()[i];
            if (movable[i]) {
                const Values made = copy_op(builder, body, inner, lookup(inner.operands, outside));
                for (std::uint32_t r = 0; r < inner.result_count; ++r) outside[inner.result(r)] = made[r];
            } else {
                for (ValueId v : inner.operands) crosses[v] = true;
            }
        }
        for (ValueId v : body.results()) crosses[v] = true;

        // the new body: new invariants after the old ones
        std::vector<ValueId> new_invariants;
        for (std::size_t v = body.parameter_count(); v < body.value_count(); ++v)
            if (outside[v] && crosses[v]) new_invariants.push_back(static_cast<ValueId>(v));
        Values all(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(shift + n));
        for (ValueId v : new_invariants) all.push_back(outside[v]);
        for (std::size_t i = shift + n; i < operands.size(); ++i) all.push_back(operands[i]);
        ir::Regions regions;
        for (std::size_t k = 0; k < op.regions.size(); ++k) {
            const Function& region = *op.regions[k];
            Builder b(region.name());
            Values inside(region.value_count());
            auto parameter = [&](std::size_t p) {
                inside[p] = Value(b, b.parameter(region.type(static_cast<ValueId>(p)), region.is_linear(p)));
            };
            for (std::size_t p = 0; p < first + n; ++p) parameter(p);
            Values extra;
            for (ValueId v : new_invariants) extra.emplace_back(b, b.parameter(body.type(v)));
            for (std::size_t p = first + n; p < region.parameter_count(); ++p) parameter(p);
            const bool is_body = k + 1 == op.regions.size();
            if (is_body)
                for (std::size_t e = 0; e < new_invariants.size(); ++e) inside[new_invariants[e]] = extra[e];
            for (std::size_t i = 0; i < region.ops().size(); ++i) {
                if (is_body && movable[i]) continue;
                const Op& inner = region.ops()[i];
                const Values made = copy_op(b, region, inner, lookup(inner.operands, inside));
                for (std::uint32_t r = 0; r < inner.result_count; ++r) inside[inner.result(r)] = made[r];
            }
            std::vector<ValueId> ids;
            for (ValueId v : region.results()) ids.push_back(inside[v].id());
            regions.push_back(b.finish(std::move(ids)));
        }
        ir::AttrPtr attr;
        const auto more = static_cast<std::int64_t>(new_invariants.size());
        if (is_loop) {
            LoopAttr a = op.get<LoopAttr>();
            a.invariants += more;
            attr = ir::make_attr(a);
        } else {
            attr = ir::make_attr(WhileAttr{op.get<WhileAttr>().invariants + more});
        }
        results = append_op(builder, op.code, all, std::move(attr), std::move(regions), types, op.location);
        return true;
    }

    bool only_sure_;
};

} // namespace

ir::FunctionPtr hoist_invariants(const ir::FunctionPtr& f) { return HoistInvariants(false).run(f); }
ir::FunctionPtr hoist_before_derivative(const ir::FunctionPtr& f) { return HoistInvariants(true).run(f); }

} // namespace stithy::pass
