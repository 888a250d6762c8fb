#include "pass/counted_while.hpp"

#include "pass/rewrite.hpp"

#include <optional>

namespace stithy::pass {

namespace {

const Op* defining(const Function& f, ValueId v) {
    const std::int32_t d = f.defining_op()[v];
    return d < 0 ? nullptr : &f.ops()[static_cast<std::size_t>(d)];
}

std::optional<std::int64_t> constant_int(const Function& f, ValueId v) {
    const Op* op = defining(f, v);
    if (!op || op->code != OpCode::constant || f.type(v).rank() != 0 || !f.type(v).dtype().is_integer()) return std::nullopt;
    return op->get<ir::ConstantAttr>().value.element_as_int(0);
}

/// counter < limit, counter += 1.
struct Counter {
    std::size_t carry = 0; ///< which carried value
    ValueId limit = 0;     ///< in the condition: an invariant parameter or a constant
    bool inclusive = false;
};

std::optional<Counter> find_counter(const Op& op) {
    const Function &condition = *op.regions[0], &body = *op.regions[1];
    const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
    const Op* test = defining(condition, condition.results()[0]);
    if (!test || test->code != OpCode::compare) return std::nullopt;
    const ir::Direction d = test->get<ir::CompareAttr>().direction;
    ValueId counter = test->operands[0], limit = test->operands[1];
    if (d == ir::Direction::gt || d == ir::Direction::ge) std::swap(counter, limit);
    else if (d != ir::Direction::lt && d != ir::Direction::le) return std::nullopt;
    if (counter < invariants || counter >= condition.parameter_count() || condition.type(counter).rank() != 0) return std::nullopt;
    if (!condition.type(counter).dtype().is_integer()) return std::nullopt;
    if (limit >= invariants && !constant_int(condition, limit)) return std::nullopt;
    const std::size_t carry = counter - invariants;
    const Op* step = defining(body, body.results()[carry]);
    if (!step || step->code != OpCode::add) return std::nullopt;
    const bool left = step->operands[0] == counter && constant_int(body, step->operands[1]) == 1;
    const bool right = step->operands[1] == counter && constant_int(body, step->operands[0]) == 1;
    if (!left && !right) return std::nullopt;
    return Counter{carry, limit, d == ir::Direction::le || d == ir::Direction::ge};
}

class CountWhiles final : public Rewriter {
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type>, Values& results) override {
        if (op.code != OpCode::while_ || op.effect != ir::Effect::pure) return false;
        const auto counter = find_counter(op);
        if (!counter) return false;
        const Function& condition = *op.regions[0];
        const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        const Value start = operands[invariants + counter->carry];
        const Type type = start.type();
        // the limit, outside
        Value limit;
        if (counter->limit < invariants) limit = operands[counter->limit];
        else limit = ops::constant(builder, ir::Literal::splat(type, *constant_int(condition, counter->limit)));
        const ir::Literal *first = constant_of(builder, start.id()), *last = constant_of(builder, limit.id());
        LoopAttr attr;
        Values all;
        Value steps;
        if (first && last) {
            const std::int64_t n = last->element_as_int(0) - first->element_as_int(0) + (counter->inclusive ? 1 : 0);
            attr.length = std::max<std::int64_t>(n, 0);
        } else {
            if (type.dtype().is_unsigned()) return false; // limit - start may wrap
            steps = ops::convert(limit, i64) - ops::convert(start, i64);
            if (counter->inclusive) steps = steps + 1.0;
            steps = ops::maximum(steps, ops::zeros_like(steps));
            all.push_back(steps);
        }
        all.push_back(start); // the first counter is an invariant
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (i != invariants + counter->carry) all.push_back(operands[i]);
        attr.invariants = static_cast<std::int64_t>(invariants) + 1;
        attr.carries = static_cast<std::int64_t>(operands.size() - invariants) - 1;
        const FunctionPtr body = loop_body(op, *counter);
        const Values out = append_op(builder, OpCode::loop, all, ir::make_attr(attr), {body}, ir::loop_result_types(attr, *body), op.location);
        std::size_t at = 0;
        for (std::size_t i = 0; i + invariants < operands.size(); ++i) {
            if (i != counter->carry) {
                results.push_back(out[at++]);
                continue;
            }
            const Value n = attr.length >= 0 ? ops::constant(builder, ir::Literal::splat(Type(type.dtype(), Shape{}), attr.length)) : ops::convert(steps, type.dtype());
            results.push_back(start + n); // what the counter has become
        }
        return true;
    }

    /// The while's body as a loop's: the carried counter is first + step.
    static FunctionPtr loop_body(const Op& op, const Counter& counter) {
        const Function& body = *op.regions[1];
        const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        Builder b(body.name());
        const Value step(b, b.parameter(Type(i64, Shape{})));
        const Type type = body.type(static_cast<ValueId>(invariants + counter.carry));
        const Value first(b, b.parameter(type));
        Values inside(body.parameter_count());
        for (std::size_t p = 0; p < body.parameter_count(); ++p)
            if (p != invariants + counter.carry) inside[p] = Value(b, b.parameter(body.type(static_cast<ValueId>(p))));
        inside[invariants + counter.carry] = first + ops::convert(step, type.dtype());
        const Values out = ops::inline_call(b, body, inside);
        std::vector<ValueId> results;
        for (std::size_t r = 0; r < out.size(); ++r)
            if (r != counter.carry) results.push_back(out[r].id());
        return b.finish(std::move(results));
    }
};

} // namespace

ir::FunctionPtr count_whiles(const ir::FunctionPtr& f) { return CountWhiles().run(f); }

} // namespace stithy::pass
