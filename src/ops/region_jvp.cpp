#include "ops/region_jvp.hpp"

#include "ops/build.hpp"

namespace stithy::ops {

FunctionPtr dual_region(const ir::Function& region) {
    Builder builder(region.name() + "_jvp");
    const std::size_t n = region.parameter_count() / 2;
    std::vector<Value> primal(region.value_count()), tangent(region.value_count());
    for (std::size_t half = 0; half < 2; ++half) {
        for (std::size_t i = half * n; i < (half + 1) * n; ++i)
            primal[i] = Value(builder, builder.parameter(region.type(static_cast<ValueId>(i))));
        for (std::size_t i = half * n; i < (half + 1) * n; ++i) {
            const Type& t = region.type(static_cast<ValueId>(i));
            const Value v(builder, builder.parameter(t));
            if (is_differentiable(t)) tangent[i] = v;
        }
    }
    for (const Op& op : region.ops()) {
        SmallVector<Value, 4> operands, tangents;
        bool active = false;
        for (ValueId v : op.operands) {
            operands.push_back(primal[v]);
            tangents.push_back(tangent[v]);
            active = active || tangent[v];
        }
        const Values results = emit_like(builder, op, operands, {&region.type(op.first_result), op.result_count});
        const JvpRule jvp = rule(op.code).jvp;
        const Values derivatives = active && jvp ? jvp({builder, op, operands, results, tangents}) : Values(op.result_count);
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            primal[op.result(r)] = results[r];
            tangent[op.result(r)] = derivatives[r];
        }
    }
    std::vector<ValueId> results;
    for (ValueId v : region.results()) results.push_back(primal[v].id());
    for (ValueId v : region.results()) results.push_back((tangent[v] ? tangent[v] : zeros(builder, region.type(v))).id());
    return builder.finish(std::move(results));
}

} // namespace stithy::ops
