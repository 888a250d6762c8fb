#include "transform/vmap.hpp"

namespace stithy::transform {

namespace {

Values batch_op(Builder& builder, const Function& f, const Op& op, const Values& operands, const Mask& batched, std::int64_t size,
                Mask& out) {
    const ops::Rule& rule = ops::rule(op.code);
    if (rule.batch == nullptr) fail(ir::name(op.code), "cannot be batched by vmap", op.location);
    std::vector<char> flags(batched.begin(), batched.end());
    std::vector<Type> types;
    for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(f.type(op.result(r)));
    return rule.batch({builder, op, operands, {reinterpret_cast<const bool*>(flags.data()), flags.size()}, size, out, types});
}

} // namespace

Values vmap_inline(Builder& builder, const Function& f, std::span<const Value> arguments, const Mask& batched, std::int64_t size,
                   Mask& batched_results) {
    Values table(f.value_count());
    Mask batch(f.value_count(), false);
    std::copy(arguments.begin(), arguments.end(), table.begin());
    std::copy(batched.begin(), batched.end(), batch.begin());
    Values operands, results;
    Mask flags, out;
    for (const Op& op : f.ops()) {
        operands.clear();
        flags.clear();
        for (ValueId v : op.operands) {
            operands.push_back(table[v]);
            flags.push_back(batch[v]);
        }
        out.assign(op.result_count, false);
        ops::LocationScope scope(op.location);
        if (!any(flags))
            results = copy_op(builder, f, op, operands);
        else if (is_structured(op.code))
            results = vmap_structured(builder, f, op, operands, flags, size, out);
        else
            results = batch_op(builder, f, op, operands, flags, size, out);
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            table[op.result(r)] = results[r];
            batch[op.result(r)] = out[r];
        }
    }
    batched_results.clear();
    for (ValueId v : f.results()) batched_results.push_back(batch[v]);
    return lookup(f.results(), table);
}

BatchedFunction vmap(const FunctionPtr& f, const Mask& batched, std::int64_t size, const Mask& forced) {
    return *f->memo<BatchedFunction>(memo_key("vmap" + std::to_string(size), batched, forced), [&] {
        Builder builder(f->name() + "_batched");
        Values arguments;
        for (std::size_t p = 0; p < f->parameter_count(); ++p) {
            const Type& t = f->type(static_cast<ValueId>(p));
            Type wide = t.is_accumulator() ? Type::accumulator(t.dtype(), ir::stacked(t.as_tensor(), size).shape())
                        : batched[p]       ? ir::stacked(t, size)
                                           : t;
            arguments.emplace_back(builder, builder.parameter(batched[p] ? wide : t, f->is_linear(p)));
        }
        BatchedFunction made;
        Values results = vmap_inline(builder, *f, arguments, batched, size, made.batched_results);
        for (std::size_t r = 0; r < results.size(); ++r)
            if (!forced.empty() && forced[r] && !made.batched_results[r]) {
                results[r] = ops::broadcast_batch(results[r], size);
                made.batched_results[r] = true;
            }
        made.function = builder.finish(ids_of(results));
        return std::make_shared<const BatchedFunction>(std::move(made));
    });
}

} // namespace stithy::transform
