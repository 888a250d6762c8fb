#include "transform/jvp.hpp"

namespace stithy::transform {

namespace {} // namespace

void jvp_inline(Builder& builder, const Function& f, std::span<const Value> primals, std::span<const Value> tangents, Values& results,
                Values& result_tangents) {
    Values primal(f.value_count()), tangent(f.value_count());
    std::copy(primals.begin(), primals.end(), primal.begin());
    std::copy(tangents.begin(), tangents.end(), tangent.begin());
    Values operands, operand_tangents, op_results, op_tangents;
    for (const Op& op : f.ops()) {
        operands.clear();
        operand_tangents.clear();
        bool active = false;
        for (ValueId v : op.operands) {
            operands.push_back(primal[v]);
            operand_tangents.push_back(tangent[v]);
            active = active || tangent[v];
        }
        active = active && !has_zero_derivative(op.code);
        if (active && is_structured(op.code)) {
            ops::LocationScope scope(op.location);
            jvp_structured(builder, f, op, operands, operand_tangents, op_results, op_tangents);
        } else {
            op_results = copy_op(builder, f, op, operands);
            op_tangents = Values(op.result_count);
            if (active) {
                const ops::Rule& rule = ops::rule(op.code);
                if (op.code == OpCode::custom_call) fail("custom_call", "has no derivative", op.location);
                ops::LocationScope scope(op.location);
                if (rule.jvp != nullptr) op_tangents = rule.jvp({builder, op, operands, op_results, operand_tangents});
            }
        }
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            primal[op.result(r)] = op_results[r];
            tangent[op.result(r)] = op_tangents[r];
        }
    }
    results = lookup(f.results(), primal);
    result_tangents = lookup(f.results(), tangent);
}

JvpFunction jvp(const FunctionPtr& f, const Mask& active) {
    return *f->memo<JvpFunction>(memo_key("jvp", active), [&] {
        Builder builder(f->name() + "_jvp");
        Values primals, tangents(f->parameter_count());
        for (std::size_t i = 0; i < f->parameter_count(); ++i)
            primals.emplace_back(builder, builder.parameter(f->type(static_cast<ValueId>(i))));
        for (std::size_t i = 0; i < f->parameter_count(); ++i)
            if (active[i]) tangents[i] = Value(builder, builder.parameter(f->type(static_cast<ValueId>(i)), true));
        Values results, result_tangents;
        jvp_inline(builder, *f, primals, tangents, results, result_tangents);
        JvpFunction made;
        for (Value t : result_tangents) {
            made.active_results.push_back(static_cast<bool>(t));
            if (t) results.push_back(t);
        }
        made.function = builder.finish(ids_of(results));
        return std::make_shared<const JvpFunction>(std::move(made));
    });
}

} // namespace stithy::transform
