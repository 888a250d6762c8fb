#include "transform/transpose.hpp"

#include "ops/windows.hpp"

#include <algorithm>
#include <utility>

namespace stithy::transform {

Cotangents::Cotangents(Builder& builder, const Function& f)
    : builder_(builder), f_(f), sums_(f.value_count()), accumulators_(f.value_count()) {}

Value& Cotangents::accumulator(ValueId v) {
    if (!accumulators_[v]) {
        accumulators_[v] = ops::accumulator_zeros(builder_, f_.type(v).as_tensor());
        if (sums_[v]) accumulators_[v] = ops::accumulator_add(accumulators_[v], sums_[v]);
        sums_[v] = Value();
    }
    return accumulators_[v];
}

void Cotangents::add(ValueId v, Value cotangent) {
    if (!cotangent) return;
    if (accumulators_[v])
        accumulators_[v] = ops::accumulator_add(accumulators_[v], cotangent);
    else
        sums_[v] = sums_[v] ? sums_[v] + cotangent : cotangent;
}

void Cotangents::add_at(ValueId v, Value cotangent, std::span<const Value> starts) {
    accumulators_[v] = ops::accumulator_add_at(accumulator(v), cotangent, starts);
}

void Cotangents::add_scatter(ValueId v, Value indices, Value updates, const ir::ScatterAttr& attr) {
    const Value operands[] = {accumulator(v), indices, updates};
    accumulators_[v] = ops::emit1(builder_, OpCode::accumulator_scatter_add, operands, ir::make_attr(attr));
}

void Cotangents::set_accumulator(ValueId v, Value accumulator) {
    const Value meanwhile = take(v);
    accumulators_[v] = meanwhile ? ops::accumulator_add(accumulator, meanwhile) : accumulator;
    sums_[v] = Value();
}

Value Cotangents::take(ValueId v) {
    if (accumulators_[v]) {
        sums_[v] = ops::freeze(accumulators_[v]);
        accumulators_[v] = Value();
    }
    return sums_[v];
}

Value Cotangents::take_accumulator(ValueId v) { return std::exchange(accumulator(v), Value()); }

Mask linear_values(const Function& f, const Mask& linear_parameters) {
    Mask linear(f.value_count(), false);
    std::copy(linear_parameters.begin(), linear_parameters.end(), linear.begin());
    Mask operands;
    for (const Op& op : f.ops()) {
        if (std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return linear[v]; })) continue;
        if (!is_structured(op.code)) {
            for (std::uint32_t r = 0; r < op.result_count; ++r) linear[op.result(r)] = true;
            continue;
        }
        operands.clear();
        for (ValueId v : op.operands) operands.push_back(linear[v]);
        const Mask results = dependent_results(f, op, operands, false);
        for (std::uint32_t r = 0; r < op.result_count; ++r) linear[op.result(r)] = results[r];
    }
    return linear;
}

namespace {

/// dynamic_slice and gather read windows of a linear operand: their cotangents are added in place.
bool transpose_window(Builder& builder, const Op& op, const Mask& linear, const Values& known, Cotangents& cotangents) {
    if (op.code != OpCode::dynamic_slice && op.code != OpCode::gather && op.code != OpCode::slice) return false;
    const ValueId source = op.operands[0];
    if (!linear[source]) return false;
    const Value cotangent = cotangents.take(op.result());
    if (op.code == OpCode::dynamic_slice) {
        Values starts;
        for (std::size_t i = 1; i < op.operands.size(); ++i) starts.push_back(known[op.operands[i]]);
        cotangents.add_at(source, cotangent, starts);
        return true;
    }
    if (op.code == OpCode::slice) {
        const auto& attr = op.get<ir::SliceAttr>();
        for (std::int64_t s : attr.stride)
            if (s != 1) return false;
        Values starts;
        for (std::int64_t s : attr.start) starts.push_back(ops::constant(builder, ir::Literal::splat(Type(i64, Shape{}), s)));
        cotangents.add_at(source, cotangent, starts);
        return true;
    }
    const auto& g = op.get<ir::GatherAttr>();
    // a gather clamps its windows into the operand, a scatter drops those that stick out: the same clamped indices serve both
    const Value indices = ops::clamped_gather_indices(known[op.operands[1]], g, cotangents.type(source));
    cotangents.add_scatter(source, indices, cotangent, ops::scatter_of(g));
    return true;
}

void transpose_op(Builder& builder, const Function& f, const Op& op, const Mask& linear, const Values& known, Cotangents& cotangents) {
    ops::LocationScope scope(op.location);
    if (is_structured(op.code) && op.code != OpCode::while_) return transpose_structured(builder, f, op, linear, known, cotangents);
    if (transpose_window(builder, op, linear, known, cotangents)) return;
    const ops::Rule& rule = ops::rule(op.code);
    if (rule.transpose == nullptr)
        fail(ir::name(op.code), "is not linear in what is differentiated, or has no reverse derivative", op.location);
    Values operands, cts;
    SmallVector<Type, 3> types;
    SmallVector<bool, 8> flags;
    for (ValueId v : op.operands) {
        operands.push_back(linear[v] ? Value() : known[v]);
        types.push_back(f.type(v));
        flags.push_back(linear[v]);
    }
    for (std::uint32_t r = 0; r < op.result_count; ++r) cts.push_back(cotangents.take(op.result(r)));
    const Values out = rule.transpose({builder, op, operands, {types.data(), types.size()}, {flags.data(), flags.size()}, cts});
    for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (linear[op.operands[i]]) cotangents.add(op.operands[i], out[i]);
}

} // namespace

void transpose_inline(Builder& builder, const Function& f, const Mask& linear, const Values& known, Cotangents& cotangents) {
    for (std::size_t i = f.ops().size(); i-- > 0;) {
        const Op& op = f.ops()[i];
        bool is_linear = false, reached = false;
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            is_linear = is_linear || linear[op.result(r)];
            reached = reached || (linear[op.result(r)] && !cotangents.is_zero(op.result(r)));
        }
        if (is_linear && reached) transpose_op(builder, f, op, linear, known, cotangents);
    }
}

FunctionPtr transpose(const FunctionPtr& f, const Mask& linear, const Mask& with_cotangent) {
    struct Made {
        FunctionPtr function;
    };
    return f
        ->memo<Made>(memo_key("transpose", linear, with_cotangent),
                     [&] {
                         Builder builder(f->name() + "_transposed");
                         builder.reserve(3 * f->value_count() + 8, 3 * f->ops().size() + 8);
                         Values known(f->value_count());
                         for (std::size_t p = 0; p < f->parameter_count(); ++p)
                             if (!linear[p]) known[p] = Value(builder, builder.parameter(f->type(static_cast<ValueId>(p))));
                         Values given;
                         for (std::size_t r = 0; r < f->results().size(); ++r)
                             given.push_back(with_cotangent[r]
                                                 ? Value(builder, builder.parameter(f->type(f->results()[r]).as_tensor(), true))
                                                 : Value());
                         const Mask linear_at = linear_values(*f, linear);
                         for (const Op& op : f->ops()) {
                             bool is_known = true;
                             for (std::uint32_t r = 0; r < op.result_count; ++r) is_known = is_known && !linear_at[op.result(r)];
                             if (!is_known) continue;
                             const Values results = copy_op(builder, *f, op, lookup(op.operands, known));
                             for (std::uint32_t r = 0; r < op.result_count; ++r) known[op.result(r)] = results[r];
                         }
                         Cotangents cotangents(builder, *f);
                         for (std::size_t r = 0; r < given.size(); ++r)
                             if (linear_at[f->results()[r]]) cotangents.add(f->results()[r], given[r]);
                         transpose_inline(builder, *f, linear_at, known, cotangents);
                         std::vector<ValueId> results;
                         for (std::size_t p = 0; p < f->parameter_count(); ++p)
                             if (linear[p])
                                 results.push_back(instantiate(builder, cotangents.take(static_cast<ValueId>(p)),
                                                               f->type(static_cast<ValueId>(p)).as_tensor())
                                                       .id());
                         return std::make_shared<const Made>(Made{builder.finish(std::move(results))});
                     })
        ->function;
}

} // namespace stithy::transform
