#include "transform/jvp.hpp"

namespace stithy::transform {

namespace {

Mask mask_of(std::span<const Value> values) {
    Mask mask;
    for (const Value& v : values) mask.push_back(static_cast<bool>(v));
    return mask;
}

/// A region in which some parameters are followed, group by group, by their tangents.
struct Doubled {
    Builder builder;
    Values primals, tangents;
};

/// Adds parameters first..last of `f` to `d`, then a tangent for each that is active.
void add_group(Doubled& d, const Function& f, const Mask& active, std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) d.primals.emplace_back(d.builder, d.builder.parameter(f.type(static_cast<ValueId>(p))));
    for (std::size_t p = first; p < last; ++p)
        d.tangents.push_back(active[p] ? Value(d.builder, d.builder.parameter(f.type(static_cast<ValueId>(p)), true)) : Value());
}

/// Appends values first..last, then the tangents of the active ones (zeros where a rule gave none).
void put_group(Builder& b, Values& out, const Values& primals, const Values& tangents, const Mask& active, std::size_t first,
               std::size_t last) {
    for (std::size_t i = first; i < last; ++i) out.push_back(primals[i]);
    for (std::size_t i = first; i < last; ++i)
        if (active[i]) out.push_back(instantiate(b, tangents[i], primals[i].type()));
}

/// Reads a group that put_group wrote.
void get_group(const Values& all, std::size_t& at, const Mask& active, std::size_t first, std::size_t last, Values& primals,
               Values& tangents) {
    for (std::size_t i = first; i < last; ++i) primals.push_back(all[at++]);
    for (std::size_t i = first; i < last; ++i) tangents.push_back(active[i] ? all[at++] : Value());
}

void jvp_call(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Value> tangents, Values& results,
              Values& result_tangents) {
    const JvpFunction derivative = jvp(op.regions[0], mask_of(tangents));
    Values all(operands.begin(), operands.end());
    for (Value t : tangents)
        if (t) all.push_back(t);
    const Values out =
        append_op(builder, OpCode::call, all, op.attr, {derivative.function}, derivative.function->result_types(), op.location);
    std::size_t at = 0;
    get_group(out, at, derivative.active_results, 0, op.result_count, results, result_tangents);
}

void jvp_case(Builder& builder, const Function& f, const Op& op, std::span<const Value> operands, std::span<const Value> tangents,
              Values& results, Values& result_tangents) {
    const Mask active = dependent_results(f, op, mask_of(tangents), true);
    const Mask captures_active = mask_of(tangents.subspan(1));
    Values all{operands[0]};
    for (Value v : operands.subspan(1)) all.push_back(v);
    for (Value t : tangents.subspan(1))
        if (t) all.push_back(t);
    std::vector<FunctionPtr> branches;
    for (const FunctionPtr& branch : op.regions) {
        Doubled d;
        add_group(d, *branch, captures_active, 0, branch->parameter_count());
        Values primal_out, tangent_out, out;
        jvp_inline(d.builder, *branch, d.primals, d.tangents, primal_out, tangent_out);
        put_group(d.builder, out, primal_out, tangent_out, active, 0, op.result_count);
        branches.push_back(d.builder.finish(ids_of(out)));
    }
    const std::vector<Type> types = branches[0]->result_types();
    const Values out = append_op(builder, op.code, all, op.attr, std::move(branches), types, op.location);
    std::size_t at = 0;
    get_group(out, at, active, 0, op.result_count, results, result_tangents);
}

void jvp_while(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Value> tangents, Values& results,
               Values& result_tangents) {
    const Mask active = loop_fixpoint(op, mask_of(tangents), true);
    const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
    const std::size_t n = operands.size();
    Values all;
    Values instantiated(tangents.begin(), tangents.end());
    put_group(builder, all, Values(operands.begin(), operands.end()), instantiated, active, 0, invariants);
    WhileAttr attr{static_cast<std::int64_t>(all.size())};
    put_group(builder, all, Values(operands.begin(), operands.end()), instantiated, active, invariants, n);

    ir::Regions regions;
    for (std::size_t k = 0; k < 2; ++k) {
        const Function& region = *op.regions[k];
        Doubled d;
        add_group(d, region, active, 0, invariants);
        add_group(d, region, active, invariants, n);
        Values primal_out, tangent_out, out;
        if (k == 0) {
            out = ops::inline_call(d.builder, region, d.primals);
        } else {
            jvp_inline(d.builder, region, d.primals, d.tangents, primal_out, tangent_out);
            put_group(d.builder, out, primal_out, tangent_out, {active.begin() + static_cast<std::ptrdiff_t>(invariants), active.end()}, 0,
                      n - invariants);
        }
        regions.push_back(d.builder.finish(ids_of(out)));
    }
    const std::vector<Type> types = regions[1]->result_types();
    const Values out = append_op(builder, OpCode::while_, all, ir::make_attr(attr), std::move(regions), types, op.location);
    std::size_t at = 0;
    get_group(out, at, {active.begin() + static_cast<std::ptrdiff_t>(invariants), active.end()}, 0, n - invariants, results,
              result_tangents);
}

void jvp_loop(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Value> tangents, Values& results,
              Values& result_tangents) {
    const auto& attr = op.get<LoopAttr>();
    const LoopLayout layout(attr);
    const Function& body = *op.regions[0];
    const Mask active = loop_fixpoint(op, mask_of(tangents), true); // of body parameters
    Mask active_results = dependent_results(body, active, true);
    for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i) active_results[i] = active[layout.carry(i)];

    const std::size_t ends[] = {1, layout.carry(0), layout.accumulator(0), layout.x(0), layout.parameters()};
    Doubled d;
    d.primals.emplace_back(d.builder, d.builder.parameter(body.type(0)));
    d.tangents.emplace_back();
    Values all;
    if (layout.trip) all.push_back(operands[0]);
    Values outer(1), outer_tangents(1); // by body parameter
    for (std::size_t i = layout.trip; i < operands.size(); ++i) {
        outer.push_back(operands[i]);
        outer_tangents.push_back(tangents[i]);
    }
    std::int64_t counts[4];
    for (int g = 0; g < 4; ++g) {
        const std::size_t before = all.size();
        add_group(d, body, active, ends[g], ends[g + 1]);
        put_group(builder, all, outer, outer_tangents, active, ends[g], ends[g + 1]);
        counts[g] = static_cast<std::int64_t>(all.size() - before);
    }
    Values primal_out, tangent_out, out;
    jvp_inline(d.builder, body, d.primals, d.tangents, primal_out, tangent_out);
    const std::size_t result_ends[] = {0, layout.carries, layout.carries + layout.accumulators, layout.results()};
    for (int g = 0; g < 3; ++g) put_group(d.builder, out, primal_out, tangent_out, active_results, result_ends[g], result_ends[g + 1]);
    LoopAttr doubled = attr;
    doubled.invariants = counts[0];
    doubled.carries = counts[1];
    doubled.accumulators = counts[2];
    doubled.xs = counts[3];
    doubled.ys = static_cast<std::int64_t>(out.size()) - counts[1] - counts[2];
    const FunctionPtr new_body = d.builder.finish(ids_of(out));
    const Values all_results =
        append_op(builder, OpCode::loop, all, ir::make_attr(doubled), {new_body}, ir::loop_result_types(doubled, *new_body), op.location);
    std::size_t at = 0;
    for (int g = 0; g < 3; ++g) get_group(all_results, at, active_results, result_ends[g], result_ends[g + 1], results, result_tangents);
}

} // namespace

void jvp_structured(Builder& builder, const Function& f, const Op& op, std::span<const Value> operands, std::span<const Value> tangents,
                    Values& results, Values& result_tangents) {
    results.clear();
    result_tangents.clear();
    switch (op.code) {
    case OpCode::call: return jvp_call(builder, op, operands, tangents, results, result_tangents);
    case OpCode::case_:
    case OpCode::if_: return jvp_case(builder, f, op, operands, tangents, results, result_tangents);
    case OpCode::while_: return jvp_while(builder, op, operands, tangents, results, result_tangents);
    case OpCode::loop: return jvp_loop(builder, op, operands, tangents, results, result_tangents);
    default: internal_error("jvp_structured: not a structured operation");
    }
}

} // namespace stithy::transform
