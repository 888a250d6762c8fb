#include "transform/dce.hpp"

#include "transform/flow.hpp"

#include <algorithm>

namespace stithy::transform {

namespace {

bool has_effect(const Op& op) { return op.effect == ir::Effect::ordered; }

Mask results_mask(const Op& op, const Mask& live) {
    Mask mask;
    for (std::uint32_t r = 0; r < op.result_count; ++r) mask.push_back(live[op.result(r)]);
    return mask;
}

/// Parameters of a loop body (or of a while's regions) that the needed results of the operation depend on, at the fixed point over carries.
Mask needed_body_parameters(const Op& op, const Mask& needed_results) {
    const bool is_loop = op.code == OpCode::loop;
    const Function& body = *op.regions[is_loop ? 0 : 1];
    std::size_t first = 0, carried = 0;
    if (is_loop) {
        const LoopLayout layout(op.get<LoopAttr>());
        first = layout.carry(0);
        carried = layout.carries + layout.accumulators;
    } else {
        first = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        carried = op.result_count;
    }
    Mask results = needed_results;
    Mask parameters(body.parameter_count(), false);
    if (!is_loop) parameters = needed_parameters(*op.regions[0], {true});
    const Flow& flow = flow_of(body, false);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < carried; ++i) results[i] = results[i] || parameters[first + i];
        const Mask more = flow.backward(results);
        for (std::size_t p = 0; p < parameters.size(); ++p)
            if (more[p] && !parameters[p]) parameters[p] = changed = true;
    }
    for (std::size_t i = 0; i < carried; ++i) parameters[first + i] = parameters[first + i] || results[i];
    return parameters;
}

/// Operands of `op` that its needed results depend on.
Mask needed_operands(const Op& op, const Mask& needed) {
    switch (op.code) {
    case OpCode::call: return needed_parameters(*op.regions[0], needed);
    case OpCode::case_:
    case OpCode::if_: {
        Mask operands(op.operands.size(), false);
        operands[0] = true;
        for (const FunctionPtr& branch : op.regions) {
            const Mask used = needed_parameters(*branch, needed);
            for (std::size_t i = 0; i < used.size(); ++i) operands[i + 1] = operands[i + 1] || used[i];
        }
        return operands;
    }
    case OpCode::while_: return needed_body_parameters(op, needed);
    case OpCode::loop: {
        const LoopLayout layout(op.get<LoopAttr>());
        const Mask parameters = needed_body_parameters(op, needed);
        Mask operands(layout.trip, true);
        operands.insert(operands.end(), parameters.begin() + 1, parameters.end());
        return operands;
    }
    default: return Mask(op.operands.size(), true);
    }
}

/// Which operations are needed, and of structured ones which operands.
struct Needs {
    Mask used;
    std::vector<Mask> operands;
    bool all_plain = true; ///< nothing is dead, and there are no regions that hold dead code
};

/// Liveness of every value, backwards.
Needs sweep(const Function& f, Mask& live) {
    Needs needs{Mask(f.ops().size(), false), std::vector<Mask>(f.ops().size()), true};
    for (std::size_t i = f.ops().size(); i-- > 0;) {
        const Op& op = f.ops()[i];
        bool used = has_effect(op);
        for (std::uint32_t r = 0; !used && r < op.result_count; ++r) used = live[op.result(r)];
        if (!used) needs.all_plain = false;
        if (!used) continue;
        needs.used[i] = true;
        if (!is_structured(op.code)) {
            for (ValueId v : op.operands) live[v] = true;
            continue;
        }
        needs.all_plain = false;
        needs.operands[i] = has_effect(op) ? Mask(op.operands.size(), true) : needed_operands(op, results_mask(op, live));
        for (std::size_t k = 0; k < op.operands.size(); ++k)
            if (needs.operands[i][k]) live[op.operands[k]] = true;
    }
    return needs;
}

/// A region with only some parameters and some results.
FunctionPtr shrink(const Function& f, const Mask& parameters, const Mask& results);

class Copier {
public:
    Copier(const Function& f, Builder& builder) : f_(f), builder_(builder), table_(f.value_count()) {}
    Values& table() { return table_; }

    void copy(const Op& op, const Mask& live, const Mask& used) {
        switch (op.code) {
        case OpCode::call:
        case OpCode::case_:
        case OpCode::if_: return copy_branches(op, live, used);
        case OpCode::while_: return copy_while(op, live);
        case OpCode::loop: return copy_loop(op, live);
        default: {
            const Values results = copy_op(builder_, f_, op, lookup(op.operands, table_));
            for (std::uint32_t r = 0; r < op.result_count; ++r) table_[op.result(r)] = results[r];
        }
        }
    }

private:
    void put(const Op& op, const Mask& kept, const Values& results) {
        std::size_t at = 0;
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (kept[r]) table_[op.result(r)] = results[at++];
    }

    void copy_branches(const Op& op, const Mask& live, const Mask& used) {
        const std::size_t first = op.code == OpCode::call ? 0 : 1;
        const Mask needed = has_effect(op) ? Mask(op.result_count, true) : results_mask(op, live);
        Values operands;
        for (std::size_t i = 0; i < op.operands.size(); ++i)
            if (i < first || used[i]) operands.push_back(table_[op.operands[i]]);
        ir::Regions regions;
        regions.reserve(op.regions.size());
        const Mask captured(used.begin() + static_cast<std::ptrdiff_t>(first), used.end());
        for (const FunctionPtr& region : op.regions) regions.push_back(shrink(*region, captured, needed));
        const std::vector<Type> types = regions[0]->result_types();
        put(op, needed, append(op, operands, op.attr, std::move(regions), types));
    }

    void copy_while(const Op& op, const Mask& live) {
        const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        const Mask parameters = has_effect(op) ? Mask(op.operands.size(), true) : needed_body_parameters(op, results_mask(op, live));
        Values operands;
        WhileAttr attr;
        for (std::size_t i = 0; i < op.operands.size(); ++i) {
            if (!parameters[i]) continue;
            operands.push_back(table_[op.operands[i]]);
            if (i < invariants) ++attr.invariants;
        }
        const Mask carries(parameters.begin() + static_cast<std::ptrdiff_t>(invariants), parameters.end());
        ir::Regions regions{shrink(*op.regions[0], parameters, {true}), shrink(*op.regions[1], parameters, carries)};
        const std::vector<Type> types = regions[1]->result_types();
        put(op, carries, append(op, operands, ir::make_attr(attr), std::move(regions), types));
    }

    void copy_loop(const Op& op, const Mask& live) {
        const auto& old = op.get<LoopAttr>();
        const LoopLayout layout(old);
        Mask needed = has_effect(op) ? Mask(op.result_count, true) : results_mask(op, live);
        Mask parameters = has_effect(op) ? Mask(layout.parameters(), true) : needed_body_parameters(op, needed);
        parameters[0] = true;
        for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i) needed[i] = parameters[layout.carry(i)];
        LoopAttr attr = old;
        attr.invariants = attr.carries = attr.accumulators = attr.xs = attr.ys = 0;
        Values operands;
        if (layout.trip) operands.push_back(table_[op.operands[0]]);
        for (std::size_t p = 1; p < layout.parameters(); ++p) {
            if (!parameters[p]) continue;
            operands.push_back(table_[op.operands[layout.operand_of(p)]]);
            ++(layout.is_invariant(p)     ? attr.invariants
               : layout.is_carry(p)       ? attr.carries
               : layout.is_accumulator(p) ? attr.accumulators
                                          : attr.xs);
        }
        for (std::size_t i = 0; i < layout.ys; ++i) attr.ys += needed[layout.y_result(i)] ? 1 : 0;
        const FunctionPtr body = shrink(*op.regions[0], parameters, needed);
        put(op, needed, append(op, operands, ir::make_attr(attr), {body}, ir::loop_result_types(attr, *body)));
    }

    Values append(const Op& op, const Values& operands, ir::AttrPtr attr, ir::Regions regions, std::span<const Type> types) {
        Op copy;
        copy.code = op.code;
        copy.effect = op.effect;
        for (const Value& v : operands) copy.operands.push_back(v.id());
        copy.attr = std::move(attr);
        copy.regions = std::move(regions);
        copy.location = op.location;
        const ValueId first = builder_.append(std::move(copy), types);
        Values results;
        for (std::size_t i = 0; i < types.size(); ++i) results.emplace_back(builder_, first + static_cast<ValueId>(i));
        return results;
    }

    const Function& f_;
    Builder& builder_;
    Values table_;
};

FunctionPtr shrink(const Function& f, const Mask& parameters, const Mask& results) {
    Builder builder(f.name());
    Copier copier(f, builder);
    for (std::size_t p = 0; p < f.parameter_count(); ++p)
        if (parameters[p]) copier.table()[p] = Value(builder, builder.parameter(f.type(static_cast<ValueId>(p)), f.is_linear(p)));
    Mask live(f.value_count(), false);
    for (std::size_t r = 0; r < results.size(); ++r)
        if (results[r]) live[f.results()[r]] = true;
    const Needs needs = sweep(f, live);
    for (std::size_t i = 0; i < f.ops().size(); ++i)
        if (needs.used[i]) copier.copy(f.ops()[i], live, needs.operands[i]);
    std::vector<ValueId> out;
    for (std::size_t r = 0; r < results.size(); ++r)
        if (results[r]) out.push_back(copier.table()[f.results()[r]].id());
    return builder.finish(std::move(out));
}

} // namespace

Mask needed_parameters(const Function& f, const Mask& needed_results) { return flow_of(f, false).backward(needed_results); }

FunctionPtr eliminate_dead(const FunctionPtr& f, const Mask& needed) {
    if (std::find(needed.begin(), needed.end(), false) == needed.end()) {
        Mask live(f->value_count(), false);
        for (ValueId v : f->results()) live[v] = true;
        if (sweep(*f, live).all_plain) return f;
    }
    return shrink(*f, Mask(f->parameter_count(), true), needed);
}
FunctionPtr eliminate_dead(const FunctionPtr& f) { return eliminate_dead(f, Mask(f->results().size(), true)); }

} // namespace stithy::transform
