#include "transform/vmap.hpp"

namespace stithy::transform {

namespace {

using Operands = std::span<const Value>;

Values vmap_call(Builder& builder, const Op& op, Operands operands, const Mask& batched, std::int64_t size, Mask& out) {
    const BatchedFunction callee = vmap(op.regions[0], batched, size);
    out = callee.batched_results;
    return append_op(builder, OpCode::call, operands, op.attr, {callee.function}, callee.function->result_types(), op.location);
}

/// All branches run; each example takes the results of its own.
Values select_branches(Builder& builder, const Op& op, Operands operands, const Mask& batched, std::int64_t size, Mask& out) {
    const Mask captures = tail(batched, 1);
    std::vector<Values> results;
    const Mask all(op.result_count, true);
    for (const FunctionPtr& branch : op.regions) {
        const BatchedFunction b = vmap(branch, captures, size, all);
        results.push_back(ops::inline_call(builder, *b.function, operands.subspan(1)));
    }
    out.assign(op.result_count, true);
    Values chosen = results.back(); // serves an index out of range (case), or false (if)
    const Value index = operands[0];
    for (std::size_t k = results.size() - 1; k-- > 0;) {
        const Value here = op.code == OpCode::if_ ? index : ops::compare(index, static_cast<double>(k), ir::Direction::eq);
        for (std::size_t r = 0; r < chosen.size(); ++r)
            chosen[r] = ops::select(ops::broadcast_in_dim(here, chosen[r].shape(), Dims(1, 0)), results[k][r], chosen[r]);
    }
    return chosen;
}

Values vmap_case(Builder& builder, const Function& f, const Op& op, Operands operands, const Mask& batched, std::int64_t size, Mask& out) {
    if (batched[0]) return select_branches(builder, op, operands, batched, size, out);
    out = dependent_results(f, op, batched, false);
    std::vector<FunctionPtr> branches;
    for (const FunctionPtr& branch : op.regions) branches.push_back(vmap(branch, tail(batched, 1), size, out).function);
    const std::vector<Type> types = branches[0]->result_types();
    return append_op(builder, op.code, operands, op.attr, std::move(branches), types, op.location);
}

/// Carried operands whose body parameter is batched get the batch when they lack it.
void widen(Values& operands, const Mask& from, const Mask& to, std::int64_t size) {
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (to[i] && !from[i]) operands[i] = ops::broadcast_batch(operands[i], size);
}

Values vmap_while(Builder& builder, const Op& op, Operands given, const Mask& batched, std::int64_t size, Mask& out) {
    const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
    Mask parameters = loop_fixpoint(op, batched, false); // a batched predicate batches every carry
    const bool batched_predicate = dependent_results(*op.regions[0], parameters, false)[0];
    Values operands(given.begin(), given.end());
    widen(operands, batched, parameters, size);
    out = tail(parameters, invariants);
    FunctionPtr condition = vmap(op.regions[0], parameters, size).function, body = vmap(op.regions[1], parameters, size, out).function;
    if (batched_predicate) {
        Builder c("condition"), b("body");
        Values cp, bp;
        for (const Value& v : operands) {
            cp.emplace_back(c, c.parameter(v.type()));
            bp.emplace_back(b, b.parameter(v.type()));
        }
        const Value going = ops::inline_call(c, *condition, cp)[0];
        const FunctionPtr any_going = c.finish({ops::reduce(OpCode::or_, going, Dims(1, 0)).id()});
        const Value mine = ops::inline_call(b, *condition, bp)[0];
        Values next = ops::inline_call(b, *body, bp);
        for (std::size_t i = 0; i < next.size(); ++i)
            next[i] = ops::select(ops::broadcast_in_dim(mine, next[i].shape(), Dims(1, 0)), next[i], bp[invariants + i]);
        condition = any_going;
        body = b.finish(ids_of(next));
    }
    const std::vector<Type> types = body->result_types();
    return append_op(builder, OpCode::while_, operands, op.attr, {condition, body}, types, op.location);
}

Values vmap_loop(Builder& builder, const Op& op, Operands given, const Mask& batched, std::int64_t size, Mask& out) {
    const auto& attr = op.get<LoopAttr>();
    const LoopLayout layout(attr);
    if (layout.trip && batched[0]) fail("loop", "the number of steps depends on the batched argument of vmap; use while_loop", op.location);
    const Mask parameters = loop_fixpoint(op, batched, false);
    Mask forced(layout.results(), false);
    for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i) forced[i] = parameters[layout.carry(i)];
    const BatchedFunction body = vmap(op.regions[0], parameters, size, forced);
    out = body.batched_results;
    Values operands(given.begin(), given.end());
    for (std::size_t p = 1; p < layout.parameters(); ++p) {
        const std::size_t o = layout.operand_of(p);
        if (!parameters[p]) continue;
        if (layout.is_accumulator(p) && !batched[o]) {
            operands[o] = ops::broadcast_accumulator(operands[o], size);
        } else if (!batched[o]) {
            operands[o] = ops::broadcast_batch(operands[o], size);
        } else if (layout.is_x(p)) {
            operands[o] = ops::move_axis(operands[o], 0, 1); // the loop's axis leads
        }
    }
    Values results =
        append_op(builder, OpCode::loop, operands, op.attr, {body.function}, ir::loop_result_types(attr, *body.function), op.location);
    for (std::size_t i = 0; i < layout.ys; ++i)
        if (out[layout.y_result(i)]) results[layout.y_result(i)] = ops::move_axis(results[layout.y_result(i)], 1, 0);
    return results;
}

} // namespace

Values vmap_structured(Builder& builder, const Function& f, const Op& op, std::span<const Value> operands, const Mask& batched,
                       std::int64_t size, Mask& batched_results) {
    switch (op.code) {
    case OpCode::call: return vmap_call(builder, op, operands, batched, size, batched_results);
    case OpCode::case_:
    case OpCode::if_: return vmap_case(builder, f, op, operands, batched, size, batched_results);
    case OpCode::while_: return vmap_while(builder, op, operands, batched, size, batched_results);
    case OpCode::loop: return vmap_loop(builder, op, operands, batched, size, batched_results);
    default: internal_error("vmap_structured: not a structured operation");
    }
}

} // namespace stithy::transform
