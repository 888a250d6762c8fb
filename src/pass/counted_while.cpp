#include "pass/counted_while.hpp"

#include "pass/induction.hpp"
#include "pass/invariant_carries.hpp"
#include "pass/licm.hpp"
#include "pass/products.hpp"
#include "pass/rewrite.hpp"
#include "pass/scan_slices.hpp"

#include <limits>
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

/// counter < limit, counter += step.
struct Counter {
    std::int64_t step = 1;
    std::size_t carry = 0; ///< which carried value
    ValueId limit = 0;     ///< in the condition: an invariant parameter or a constant
    bool inclusive = false;
};

std::optional<Counter> find_counter(const Builder& builder, const Op& op, std::span<const Value> operands) {
    const Function &condition = *op.regions[0], &body = *op.regions[1];
    const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
    const Op* test = defining(condition, condition.results()[0]);
    if (!test || test->code != OpCode::compare) return std::nullopt;
    const ir::Direction d = test->get<ir::CompareAttr>().direction;
    ValueId counter = test->operands[0], limit = test->operands[1];
    if (d == ir::Direction::gt || d == ir::Direction::ge)
        std::swap(counter, limit);
    else if (d != ir::Direction::lt && d != ir::Direction::le)
        return std::nullopt;
    if (counter < invariants || counter >= condition.parameter_count() || condition.type(counter).rank() != 0) return std::nullopt;
    if (!condition.type(counter).dtype().is_integer()) return std::nullopt;
    if (limit >= invariants && !constant_int(condition, limit)) return std::nullopt;
    const std::size_t carry = counter - invariants;
    const Op* step = defining(body, body.results()[carry]);
    if (!step || step->code != OpCode::add) return std::nullopt;
    // A constant of the body, or one from outside that comes in as an invariant.
    const auto step_of = [&](ValueId v) -> std::optional<std::int64_t> {
        if (v >= invariants) return constant_int(body, v);
        const ir::Literal* outside = constant_of(builder, operands[v].id());
        return outside ? std::optional(outside->element_as_int(0)) : std::nullopt;
    };
    const auto by = step->operands[0] == counter   ? step_of(step->operands[1])
                    : step->operands[1] == counter ? step_of(step->operands[0])
                                                   : std::nullopt;
    if (!by || *by < 1) return std::nullopt;
    return Counter{*by, carry, limit, d == ir::Direction::le || d == ir::Direction::ge};
}

std::uint64_t highest_of(DType dtype) { return ~std::uint64_t{0} >> (64 - 8 * dtype.size() + (dtype.is_signed() ? 1 : 0)); }

/// The number of steps from `first` to `last`; none when the counter would wrap on the way, and when an i64 does not hold the number.
std::optional<std::int64_t> count_steps(const ir::Literal& first, const ir::Literal& last, const Counter& counter) {
    const DType dtype = first.type().dtype();
    const std::int64_t a = first.element_as_int(0), b = last.element_as_int(0);
    const auto from = static_cast<std::uint64_t>(a), to = static_cast<std::uint64_t>(b), step = static_cast<std::uint64_t>(counter.step);
    if ((dtype.is_signed() ? b < a : to < from) || (a == b && !counter.inclusive)) return 0;
    const std::uint64_t distance = to - from; // right modulo 2^64, whatever the sign
    const std::uint64_t steps = counter.inclusive ? distance / step + 1 : (distance - 1) / step + 1;
    const std::uint64_t room = highest_of(dtype) - from;
    std::uint64_t covered = 0;
    if (steps == 0 || __builtin_mul_overflow(steps, step, &covered) || covered > room) return std::nullopt;
    return steps > highest_of(i64) ? std::nullopt : std::optional(static_cast<std::int64_t>(steps));
}

/// The number of steps of one from `start` to `limit`, values of any integer dtype but u64. What does not fit an i64 is as good as its
/// highest number, as is what never ends: a counter that may be equal to the highest number of its dtype.
Value steps_of_one(Value start, Value limit, bool inclusive) {
    Builder& b = start.builder();
    const DType dtype = start.dtype();
    const Value from = ops::convert(start, i64), to = ops::convert(limit, i64);
    const Value distance = inclusive ? to - from + 1.0 : to - from;
    const Value none = ops::zeros_like(distance);
    const auto number = [&](std::uint64_t n) {
        return ops::constant(b, ir::Literal::splat(Type(i64, Shape{}), static_cast<std::int64_t>(n)));
    };
    const Value endless = number(highest_of(i64));
    Value steps = ops::maximum(distance, none);
    if (dtype.size() == 8) {
        const Value wrapped = ops::compare(distance, inclusive ? 1.0 : 0.0, ir::Direction::lt);
        const Value any = ops::compare(from, to, inclusive ? ir::Direction::le : ir::Direction::lt);
        steps = ops::select(any, ops::select(wrapped, endless, distance), none);
    }
    if (!inclusive) return steps;
    return ops::select(ops::compare(to, number(highest_of(dtype)), ir::Direction::eq), endless, steps);
}

class CountWhiles final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::loop || op.code == OpCode::while_; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if (op.effect != ir::Effect::pure) return false;
        if (op.code == OpCode::loop) return fix_length(builder, op, operands, types, results);
        if (op.code != OpCode::while_) return false;
        const auto counter = find_counter(builder, op, operands);
        if (!counter) return false;
        const Function& condition = *op.regions[0];
        const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        const Value start = operands[invariants + counter->carry];
        const Type type = start.type();
        // the limit, outside
        Value limit;
        if (counter->limit < invariants)
            limit = operands[counter->limit];
        else
            limit = ops::constant(builder, ir::Literal::splat(type, *constant_int(condition, counter->limit)));
        const ir::Literal *first = constant_of(builder, start.id()), *last = constant_of(builder, limit.id());
        LoopAttr attr;
        Values all;
        if (first && last) {
            const auto steps = count_steps(*first, *last, *counter);
            if (!steps) return false;
            attr.length = *steps;
        } else {
            // others may pass the end of their dtype and begin anew
            if (type.dtype() == u64 || counter->step != 1) return false;
            all.push_back(steps_of_one(start, limit, counter->inclusive));
        }
        for (const Value& v : operands) all.push_back(v);
        attr.invariants = static_cast<std::int64_t>(invariants);
        attr.carries = static_cast<std::int64_t>(operands.size() - invariants);
        results = append_op(builder, OpCode::loop, all, ir::make_attr(attr), {loop_body(*op.regions[1])}, types, op.location);
        return true;
    }

    /// A number of steps that turns out to be a constant.
    static bool fix_length(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) {
        LoopAttr attr = op.get<LoopAttr>();
        const ir::Literal* steps = attr.length < 0 ? constant_of(builder, operands[0].id()) : nullptr;
        if (!steps) return false;
        attr.length = std::max<std::int64_t>(steps->element_as_int(0), 0);
        results = append_op(builder, op.code, operands.subspan(1), ir::make_attr(attr), op.regions, types, op.location);
        return true;
    }

    /// The while's body as a loop's: a counter more.
    static FunctionPtr loop_body(const Function& body) {
        Builder b(body.name());
        b.parameter(Type(i64, Shape{}));
        Values inside;
        for (const Type& t : body.parameter_types()) inside.emplace_back(b, b.parameter(t));
        return b.finish(ids_of(ops::inline_call(b, body, inside)));
    }
};

} // namespace

ir::FunctionPtr count_whiles(const ir::FunctionPtr& f) { return CountWhiles().run(f); }

ir::FunctionPtr settle_loops(const ir::FunctionPtr& f) {
    return hoist_before_derivative(fold_transposes(slices_of_scans(derive_counters(count_whiles(settle_invariants(f))))));
}

} // namespace stithy::pass
