#include "pass/induction.hpp"

#include "pass/rewrite.hpp"

#include <optional>

namespace stithy::pass {

namespace {

/// carry + step (or carry - step), the step a constant.
std::optional<ir::Literal> step_of(const Function& body, std::size_t carry_parameter, ValueId result) {
    const std::int32_t d = body.defining_op()[result];
    if (d < 0) return std::nullopt;
    const Op& op = body.ops()[static_cast<std::size_t>(d)];
    if (op.code != OpCode::add && op.code != OpCode::subtract) return std::nullopt;
    const auto constant = [&](ValueId v) -> const ir::Literal* {
        const std::int32_t at = body.defining_op()[v];
        if (at < 0 || body.ops()[static_cast<std::size_t>(at)].code != OpCode::constant) return nullptr;
        return &body.ops()[static_cast<std::size_t>(at)].get<ir::ConstantAttr>().value;
    };
    const ir::Literal* step = nullptr;
    if (op.operands[0] == carry_parameter)
        step = constant(op.operands[1]);
    else if (op.operands[1] == carry_parameter && op.code == OpCode::add)
        step = constant(op.operands[0]);
    if (!step) return std::nullopt;
    const std::int64_t n = step->element_as_int(0);
    return op.code == OpCode::add ? *step : ir::Literal::splat(step->type(), -n);
}

class DeriveCounters final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::loop; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if (op.code != OpCode::loop || op.effect != ir::Effect::pure) return false;
        const auto& attr = op.get<LoopAttr>();
        const LoopLayout layout(attr);
        if (attr.reverse && attr.length < 0) return false;
        const Function& body = *op.regions[0];
        std::vector<std::optional<ir::Literal>> steps(layout.carries);
        Mask derived(layout.carries, false);
        for (std::size_t i = 0; i < layout.carries; ++i) {
            if (!types[i].is_tensor() || types[i].rank() != 0 || !types[i].dtype().is_integer()) continue;
            steps[i] = step_of(body, layout.carry(i), body.results()[i]);
            derived[i] = steps[i].has_value();
        }
        if (!any(derived)) return false;

        LoopAttr fewer = attr;
        fewer.carries -= static_cast<std::int64_t>(count(derived));
        Builder b(body.name());
        Values inside(body.parameter_count()), starts(layout.carries),
            all(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(layout.trip + layout.invariants));
        auto parameter = [&](const Type& t) { return Value(b, b.parameter(t)); };
        for (std::size_t p = 0; p < layout.carry(0); ++p) inside[p] = parameter(body.type(static_cast<ValueId>(p)));
        for (std::size_t i = 0; i < layout.carries; ++i) {
            const Value start = operands[layout.operand_of(layout.carry(i))];
            if (!derived[i] || constant_of(builder, start.id())) continue;
            starts[i] = parameter(start.type()); // the start is one more invariant
            all.push_back(start);
            ++fewer.invariants;
        }
        for (std::size_t p = layout.carry(0); p < body.parameter_count(); ++p) {
            if (layout.is_carry(p) && derived[p - layout.carry(0)]) continue;
            inside[p] = parameter(body.type(static_cast<ValueId>(p)));
            all.push_back(operands[layout.operand_of(p)]);
        }
        Value trip = inside[0]; // steps done so far
        if (attr.reverse) trip = ops::constant(b, ir::Literal::splat(Type(i64, Shape{}), attr.length - 1)) - trip;
        for (std::size_t i = 0; i < layout.carries; ++i) {
            if (!derived[i]) continue;
            const ir::Literal* start = constant_of(builder, operands[layout.operand_of(layout.carry(i))].id());
            inside[layout.carry(i)] = after(start ? ops::constant(b, *start) : starts[i], trip, *steps[i]);
        }
        const Values out = ops::inline_call(b, body, inside);
        std::vector<ValueId> kept;
        std::vector<Type> kept_types;
        for (std::size_t r = 0; r < out.size(); ++r) {
            if (r < layout.carries && derived[r]) continue;
            kept.push_back(out[r].id());
            kept_types.push_back(types[r]);
        }
        const Values made =
            append_op(builder, OpCode::loop, all, ir::make_attr(fewer), {b.finish(std::move(kept))}, kept_types, op.location);
        std::size_t at = 0;
        for (std::size_t r = 0; r < types.size(); ++r) {
            if (r >= layout.carries || !derived[r]) {
                results.push_back(made[at++]);
                continue;
            }
            const Value n = layout.trip ? ops::maximum(operands[0], ops::zeros_like(operands[0]))
                                        : ops::constant(builder, ir::Literal::splat(Type(i64, Shape{}), attr.length));
            results.push_back(after(operands[layout.operand_of(layout.carry(r))], n, *steps[r]));
        }
        return true;
    }

    /// start + steps * step, in the dtype of start (which may wrap, as adding one after the other does).
    static Value after(Value start, Value steps, const ir::Literal& step) {
        const Value n = ops::convert(steps, start.dtype());
        const Value grown = step.element_as_int(0) == 1 ? n : n * ops::constant(n.builder(), step);
        const ir::Literal* from = constant_of(start.builder(), start.id());
        return from && from->element_as_int(0) == 0 ? grown : start + grown;
    }
};

} // namespace

ir::FunctionPtr derive_counters(const ir::FunctionPtr& f) { return DeriveCounters().run(f); }

} // namespace stithy::pass
