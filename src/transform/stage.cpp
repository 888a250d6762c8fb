#include "transform/stage.hpp"

#include "transform/residuals.hpp"

#include <algorithm>

namespace stithy::transform {

std::vector<std::int32_t> defining_ops(const Builder& builder) {
    std::vector<std::int32_t> definition(builder.value_count(), -1);
    for (std::size_t i = 0; i < builder.ops().size(); ++i) {
        const Op& op = builder.ops()[i];
        for (std::uint32_t r = 0; r < op.result_count; ++r) definition[op.result(r)] = static_cast<std::int32_t>(i);
    }
    return definition;
}

Stage::Stage(const Function& function, const Mask& unknown_parameters)
    : f(function), builder(function.name()), known(function.value_count()), unknown(function.value_count(), false) {
    for (std::size_t p = 0; p < f.parameter_count(); ++p) {
        const auto id = static_cast<ValueId>(p);
        unknown[p] = unknown_parameters[p];
        if (unknown[p]) continue;
        known[p] = Value(builder, builder.parameter(f.type(id)));
        known_parameters.push_back(id);
    }
    for (const Op& op : f.ops()) add(op);
}

void Stage::add(const Op& op) {
    Mask mask;
    for (ValueId v : op.operands) mask.push_back(unknown[v]);
    if (!any(mask)) {
        const Values results = copy_op(builder, f, op, lookup(op.operands, known));
        for (std::uint32_t r = 0; r < op.result_count; ++r) bind_known(op, r, results[r]);
        return;
    }
    switch (op.code) {
    case OpCode::call: return split_call(op, mask);
    case OpCode::case_:
    case OpCode::if_:
        if (!mask[0]) return split_case(op, mask);
        break;
    case OpCode::loop: return split_loop(op, mask);
    case OpCode::while_:
        fail("while_loop",
             "reverse mode through a loop of unknown length is not implemented yet; use fori_loop or scan, or differentiate forwards (jvp)",
             op.location);
    default: break;
    }
    std::vector<Ref> operands;
    for (ValueId v : op.operands) operands.push_back(ref(v));
    wait(op, std::move(operands));
}

void Stage::wait(const Op& op, std::vector<Ref> operands) {
    Pending p;
    p.op = op;
    p.operands = std::move(operands);
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        p.types.push_back(f.type(op.result(r)));
        p.results.push_back(op.result(r));
        unknown[op.result(r)] = true;
    }
    pending.push_back(std::move(p));
}

void Stage::drop_dead(const std::vector<ValueId>& needed) {
    Mask live(f.value_count(), false);
    for (ValueId v : needed) live[v] = true;
    std::vector<Pending> kept;
    for (std::size_t i = pending.size(); i-- > 0;) {
        Pending& p = pending[i];
        const bool used = std::any_of(p.results.begin(), p.results.end(), [&](ValueId v) { return v != ir::no_value && live[v]; });
        if (!used && p.op.effect == ir::Effect::pure) continue;
        for (const Ref& r : p.operands)
            if (!r.known) live[r.id] = true;
        kept.push_back(std::move(p));
    }
    std::reverse(kept.begin(), kept.end());
    pending = std::move(kept);
}

void Stage::emit_pending(Builder& target, const std::function<Value(ValueId)>& provided, Values& values) const {
    for (const Pending& p : pending) {
        Op op = p.op;
        op.operands.clear();
        for (const Ref& r : p.operands) op.operands.push_back((r.known ? provided(r.id) : values[r.id]).id());
        const ValueId first = target.append(std::move(op), p.types);
        for (std::size_t r = 0; r < p.results.size(); ++r)
            if (p.results[r] != ir::no_value) values[p.results[r]] = Value(target, first + static_cast<ValueId>(r));
    }
}

namespace {

/// A pending operation whose results are the unknown results of `op`.
Stage::Pending pending_like(const Op& op, const Mask& unknown_results) {
    Stage::Pending p;
    p.op.code = op.code;
    p.op.effect = op.effect;
    p.op.location = op.location;
    p.op.attr = op.attr;
    for (std::uint32_t r = 0; r < op.result_count; ++r)
        if (unknown_results[r]) p.results.push_back(op.result(r));
    return p;
}

/// The known values that pending operations (and the forced results) take, each once, in order.
std::vector<ValueId> needed_known(const Stage& stage, const Mask& forced) {
    std::vector<ValueId> needed;
    Mask seen(stage.builder.value_count(), false);
    auto need = [&](ValueId id) {
        if (!seen[id]) needed.push_back(id);
        seen[id] = true;
    };
    for (const Stage::Pending& p : stage.pending)
        for (const Stage::Ref& r : p.operands)
            if (r.known) need(r.id);
    for (std::size_t r = 0; r < stage.f.results().size(); ++r) {
        const ValueId v = stage.f.results()[r];
        if (!forced.empty() && forced[r] && !stage.unknown[v]) need(stage.known[v].id());
    }
    return needed;
}

Mask unknown_results_of(const Stage& stage, const Mask& forced) {
    Mask mask;
    for (std::size_t r = 0; r < stage.f.results().size(); ++r)
        mask.push_back(stage.unknown[stage.f.results()[r]] || (!forced.empty() && forced[r]));
    return mask;
}

void drop_dead_for(Stage& stage, const Mask& unknown_results) {
    std::vector<ValueId> roots;
    for (std::size_t r = 0; r < unknown_results.size(); ++r)
        if (unknown_results[r] && stage.unknown[stage.f.results()[r]]) roots.push_back(stage.f.results()[r]);
    stage.drop_dead(roots);
}

/// Copies of the operations behind `ids` (ids of `from`), in order, through a table of what is there already.
void copy_values(const Builder& from, const std::vector<std::int32_t>& definition, const std::vector<ValueId>& ids, Builder& to,
                 Values& table) {
    for (ValueId v : ids) {
        if (table[v]) continue;
        const Op& op = from.ops()[static_cast<std::size_t>(definition[v])];
        Op copy = op;
        for (ValueId& o : copy.operands) o = table[o].id();
        std::vector<Type> types;
        for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(from.type(op.result(r)));
        const ValueId first = to.append(std::move(copy), types);
        for (std::uint32_t r = 0; r < op.result_count; ++r) table[op.result(r)] = Value(to, first + r);
    }
}

/// `ids` and everything behind them up to values that `table` holds, in order.
std::vector<ValueId> closure(const Builder& from, const std::vector<std::int32_t>& definition, const std::vector<ValueId>& ids,
                             const Values& table) {
    Mask need(from.value_count(), false);
    for (ValueId v : ids) need[v] = true;
    std::vector<ValueId> order;
    for (std::size_t v = need.size(); v-- > 0;) {
        if (!need[v] || table[v]) continue;
        order.push_back(static_cast<ValueId>(v));
        if (definition[v] >= 0)
            for (ValueId o : from.ops()[static_cast<std::size_t>(definition[v])].operands) need[o] = true;
    }
    std::reverse(order.begin(), order.end());
    return order;
}

} // namespace

Split split(const Function& f, const Mask& unknown_parameters, const Mask& forced) {
    Stage stage(f, unknown_parameters);
    Split out;
    out.unknown_results = unknown_results_of(stage, forced);
    drop_dead_for(stage, out.unknown_results);
    const std::vector<std::int32_t> definition = defining_ops(stage.builder);

    std::vector<ValueId> known_results;
    for (std::size_t r = 0; r < f.results().size(); ++r)
        if (!out.unknown_results[r]) known_results.push_back(stage.known[f.results()[r]].id());
    out.known_results = known_results.size();

    Builder unknown(f.name() + "_unknown");
    Values table(stage.builder.value_count()); // known values in the unknown half
    std::vector<ValueId> again;
    std::vector<ValueId> extras;
    for (ValueId id : needed_known(stage, forced)) {
        const std::int32_t d = definition[id];
        if (d >= 0 && is_nullary(stage.builder.ops()[static_cast<std::size_t>(d)])) {
            again.push_back(id);
            continue;
        }
        if (d < 0) {
            out.residuals.push_back({ResidualSource::parameter, stage.known_parameters[id]});
        } else if (auto at = std::find(known_results.begin(), known_results.end(), id); at != known_results.end()) {
            out.residuals.push_back({ResidualSource::result, static_cast<std::size_t>(at - known_results.begin())});
        } else {
            out.residuals.push_back({ResidualSource::extra, extras.size()});
            extras.push_back(id);
        }
        table[id] = Value(unknown, unknown.parameter(stage.builder.type(id)));
    }
    Values values(f.value_count());
    for (std::size_t p = 0; p < f.parameter_count(); ++p)
        if (unknown_parameters[p]) values[p] = Value(unknown, unknown.parameter(f.type(static_cast<ValueId>(p)), true));
    copy_values(stage.builder, definition, again, unknown, table);
    stage.emit_pending(unknown, [&](ValueId id) { return table[id]; }, values);

    std::vector<ValueId> unknown_results;
    for (std::size_t r = 0; r < f.results().size(); ++r) {
        const ValueId v = f.results()[r];
        if (out.unknown_results[r]) unknown_results.push_back((stage.unknown[v] ? values[v] : table[stage.known[v].id()]).id());
    }
    out.unknown = unknown.finish(std::move(unknown_results));
    out.extras = extras.size();
    known_results.insert(known_results.end(), extras.begin(), extras.end());
    out.known = stage.builder.finish(std::move(known_results));
    return out;
}

void Stage::split_call(const Op& op, const Mask& mask) {
    const Split s = split(*op.regions[0], mask);
    Values operands;
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (!mask[i]) operands.push_back(known[op.operands[i]]);
    const Values out = append_op(builder, OpCode::call, operands, op.attr, {s.known}, s.known->result_types(), op.location);
    std::size_t at = 0;
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        if (s.unknown_results[r])
            unknown[op.result(r)] = true;
        else
            bind_known(op, r, out[at++]);
    }
    if (!any(s.unknown_results)) return;
    Pending p = pending_like(op, s.unknown_results);
    p.op.regions = {s.unknown};
    p.types = s.unknown->result_types();
    for (const ResidualSource& source : s.residuals) {
        if (source.kind == ResidualSource::parameter)
            p.operands.push_back(ref(op.operands[source.index]));
        else
            p.operands.push_back({true, out[source.kind == ResidualSource::result ? source.index : s.known_results + source.index].id()});
    }
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (mask[i]) p.operands.push_back({false, op.operands[i]});
    pending.push_back(std::move(p));
}

void Stage::split_case(const Op& op, const Mask& mask) {
    const Mask captures = tail(mask, 1);
    Mask forced = dependent_results(f, op, mask, false);
    std::vector<Split> splits;
    for (const FunctionPtr& branch : op.regions) splits.push_back(split(*branch, captures, forced));
    const std::size_t known_results = splits[0].known_results;

    // slots: each branch fills those that it needs, the others hold zeros
    std::vector<Type> slots;
    std::vector<std::vector<std::size_t>> slot_of(splits.size());
    for (std::size_t k = 0; k < splits.size(); ++k) {
        Mask taken(slots.size(), false);
        for (std::size_t e = 0; e < splits[k].extras; ++e) {
            const Type& type = splits[k].known->type(splits[k].known->results()[known_results + e]);
            std::size_t s = 0;
            while (s < slots.size() && (taken[s] || !(slots[s] == type))) ++s;
            if (s == slots.size()) {
                slots.push_back(type);
                taken.push_back(false);
            }
            taken[s] = true;
            slot_of[k].push_back(s);
        }
    }
    std::vector<FunctionPtr> known_regions;
    for (std::size_t k = 0; k < splits.size(); ++k) {
        const Function& half = *splits[k].known;
        Builder b(half.name());
        Values parameters;
        for (const Type& t : half.parameter_types()) parameters.emplace_back(b, b.parameter(t));
        const Values out = ops::inline_call(b, half, parameters);
        Values results(known_results + slots.size());
        for (std::size_t r = 0; r < known_results; ++r) results[r] = out[r];
        for (std::size_t e = 0; e < slot_of[k].size(); ++e) results[known_results + slot_of[k][e]] = out[known_results + e];
        for (std::size_t s = 0; s < slots.size(); ++s) results[known_results + s] = instantiate(b, results[known_results + s], slots[s]);
        known_regions.push_back(b.finish(ids_of(results)));
    }
    Values operands{known[op.operands[0]]};
    std::vector<ValueId> known_captures; // operands of op
    for (std::size_t i = 0; i < captures.size(); ++i)
        if (!captures[i]) {
            operands.push_back(known[op.operands[i + 1]]);
            known_captures.push_back(op.operands[i + 1]);
        }
    const std::vector<Type> types = known_regions[0]->result_types();
    const Values out = append_op(builder, op.code, operands, op.attr, std::move(known_regions), types, op.location);
    std::size_t at = 0;
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        if (forced[r])
            unknown[op.result(r)] = true;
        else
            bind_known(op, r, out[at++]);
    }
    if (!any(forced)) return;

    // unknown half: captures are all known captures, known results, slots, unknown captures; dead ones go later
    Pending p = pending_like(op, forced);
    p.operands.push_back(ref(op.operands[0]));
    for (ValueId v : known_captures) p.operands.push_back(ref(v));
    for (const Value& v : out) p.operands.push_back({true, v.id()});
    for (std::size_t i = 0; i < captures.size(); ++i)
        if (captures[i]) p.operands.push_back({false, op.operands[i + 1]});
    for (std::size_t k = 0; k < splits.size(); ++k) {
        Builder b(splits[k].unknown->name());
        Values by_capture(captures.size()), from_known, arguments;
        for (std::size_t i = 0; i < captures.size(); ++i)
            if (!captures[i]) by_capture[i] = Value(b, b.parameter(f.type(op.operands[i + 1])));
        for (const Value& v : out) from_known.emplace_back(b, b.parameter(v.type()));
        for (std::size_t i = 0; i < captures.size(); ++i)
            if (captures[i]) by_capture[i] = Value(b, b.parameter(f.type(op.operands[i + 1]), true));
        for (const ResidualSource& source : splits[k].residuals) {
            if (source.kind == ResidualSource::parameter)
                arguments.push_back(by_capture[source.index]);
            else
                arguments.push_back(
                    from_known[source.kind == ResidualSource::result ? source.index : known_results + slot_of[k][source.index]]);
        }
        for (std::size_t i = 0; i < captures.size(); ++i)
            if (captures[i]) arguments.push_back(by_capture[i]);
        const Values results = ops::inline_call(b, *splits[k].unknown, arguments);
        p.op.regions.push_back(b.finish(ids_of(results)));
    }
    p.types = p.op.regions[0]->result_types();
    pending.push_back(std::move(p));
}

namespace {
/// Which groups a body's parameters are in, as counts of a LoopAttr.
std::int64_t& group_count(LoopAttr& attr, const LoopLayout& layout, std::size_t p) {
    return layout.is_invariant(p)     ? attr.invariants
           : layout.is_carry(p)       ? attr.carries
           : layout.is_accumulator(p) ? attr.accumulators
                                      : attr.xs;
}
LoopAttr empty_groups(const LoopAttr& attr) {
    LoopAttr out = attr;
    out.invariants = out.carries = out.accumulators = out.xs = out.ys = 0;
    return out;
}
} // namespace

void Stage::split_loop(const Op& op, const Mask& mask) {
    const auto& attr = op.get<LoopAttr>();
    const LoopLayout layout(attr);
    if (layout.trip && mask[0]) fail("loop", "the number of steps depends on a value that is differentiated", op.location);
    const Mask unknown_parameters = loop_fixpoint(op, mask, false);
    Stage body(*op.regions[0], unknown_parameters);
    Mask forced(layout.results(), false);
    for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i) forced[i] = unknown_parameters[layout.carry(i)];
    const Mask unknown_results = unknown_results_of(body, forced);
    drop_dead_for(body, unknown_results);
    const std::vector<std::int32_t> definition = defining_ops(body.builder);
    Mask stacked_results(layout.results(), false);
    for (std::size_t r = layout.y_result(0); r < layout.results(); ++r) stacked_results[r] = !unknown_results[r];
    const LoopResiduals residuals = choose_loop_residuals(body, layout, needed_known(body, forced), stacked_results);
    if (attr.length < 0 && !residuals.stacked.empty())
        fail("loop",
             "reverse mode through a loop whose number of steps is a traced value is not implemented yet; give the bounds as C++ integers",
             op.location);

    // values that depend on invariants only, computed here once
    Values outer(body.builder.value_count());
    for (std::size_t p = 0; p < body.known_parameters.size(); ++p)
        if (layout.is_invariant(body.known_parameters[p])) outer[p] = known[op.operands[layout.operand_of(body.known_parameters[p])]];
    copy_values(body.builder, definition, closure(body.builder, definition, residuals.hoisted, outer), builder, outer);

    // the known loop, with stacked residuals as further ys
    LoopAttr known_attr = empty_groups(attr);
    Values operands;
    if (layout.trip) operands.push_back(known[op.operands[0]]);
    for (std::size_t p = 1; p < layout.parameters(); ++p) {
        if (unknown_parameters[p]) continue;
        operands.push_back(known[op.operands[layout.operand_of(p)]]);
        ++group_count(known_attr, layout, p);
    }
    std::vector<ValueId> known_results;
    std::vector<std::size_t> known_place(layout.results(), 0);
    for (std::size_t r = 0; r < layout.results(); ++r) {
        if (unknown_results[r]) continue;
        known_place[r] = known_results.size();
        known_results.push_back(body.known[body.f.results()[r]].id());
    }
    const std::size_t first_stacked = known_results.size();
    known_attr.ys = static_cast<std::int64_t>(first_stacked + residuals.stacked.size()) - known_attr.carries - known_attr.accumulators;
    known_results.insert(known_results.end(), residuals.stacked.begin(), residuals.stacked.end());

    // the unknown body: counter, residual invariants, unknown invariants, carries, accumulators, residual xs, unknown xs
    LoopAttr unknown_attr = empty_groups(attr);
    Pending p = pending_like(op, unknown_results);
    if (layout.trip) p.operands.push_back(ref(op.operands[0]));
    Builder b(body.f.name() + "_unknown");
    Values table(body.builder.value_count()), values(body.f.value_count());
    const Value counter(b, b.parameter(body.f.type(0)));
    if (!body.known_parameters.empty() && body.known_parameters[0] == 0) table[0] = counter;
    auto unknown_group = [&](std::size_t from, std::size_t to, std::int64_t& n) {
        for (std::size_t q = from; q < to; ++q) {
            if (!unknown_parameters[q]) continue;
            values[q] = Value(b, b.parameter(body.f.type(static_cast<ValueId>(q)), true));
            p.operands.push_back(ref(op.operands[layout.operand_of(q)]));
            ++n;
        }
    };
    for (ValueId v : residuals.hoisted) {
        table[v] = Value(b, b.parameter(body.builder.type(v)));
        p.operands.push_back({true, outer[v].id()});
        ++unknown_attr.invariants;
    }
    unknown_group(1, layout.carry(0), unknown_attr.invariants);
    unknown_group(layout.carry(0), layout.accumulator(0), unknown_attr.carries);
    unknown_group(layout.accumulator(0), layout.x(0), unknown_attr.accumulators);
    for (ValueId v : residuals.xs) {
        table[v] = Value(b, b.parameter(body.builder.type(v)));
        p.operands.push_back(ref(op.operands[layout.operand_of(body.known_parameters[v])]));
        ++unknown_attr.xs;
    }
    const std::size_t stacked_operands = p.operands.size();
    std::vector<std::size_t> stacked_places; // among the known loop's results
    auto stacked_group = [&](ValueId v, std::size_t place) {
        table[v] = Value(b, b.parameter(body.builder.type(v)));
        p.operands.push_back({true, ir::no_value}); // filled in below
        stacked_places.push_back(place);
        ++unknown_attr.xs;
    };
    for (const LoopResiduals::Forwarded& r : residuals.forwarded) stacked_group(r.value, known_place[r.result]);
    for (std::size_t s = 0; s < residuals.stacked.size(); ++s) stacked_group(residuals.stacked[s], first_stacked + s);
    unknown_group(layout.x(0), layout.parameters(), unknown_attr.xs);
    copy_values(body.builder, definition, residuals.recomputed, b, table);
    body.emit_pending(b, [&](ValueId id) { return table[id]; }, values);
    std::vector<ValueId> results;
    for (std::size_t r = 0; r < layout.results(); ++r) {
        const ValueId v = body.f.results()[r];
        if (unknown_results[r]) results.push_back((body.unknown[v] ? values[v] : table[body.known[v].id()]).id());
    }
    unknown_attr.ys = static_cast<std::int64_t>(results.size()) - unknown_attr.carries - unknown_attr.accumulators;
    const FunctionPtr unknown_body = b.finish(std::move(results));
    const FunctionPtr known_body = body.builder.finish(std::move(known_results));

    Values out;
    if (!known_body->results().empty())
        out = append_op(builder, OpCode::loop, operands, ir::make_attr(known_attr), {known_body},
                        ir::loop_result_types(known_attr, *known_body), op.location);
    std::size_t at = 0;
    for (std::uint32_t r = 0; r < op.result_count; ++r) {
        if (unknown_results[r])
            unknown[op.result(r)] = true;
        else
            bind_known(op, r, out[at++]);
    }
    if (!any(unknown_results)) return;
    for (std::size_t s = 0; s < stacked_places.size(); ++s) p.operands[stacked_operands + s].id = out[stacked_places[s]].id();
    p.op.attr = ir::make_attr(unknown_attr);
    p.op.regions = {unknown_body};
    p.types = ir::loop_result_types(unknown_attr, *unknown_body);
    pending.push_back(std::move(p));
}

} // namespace stithy::transform
