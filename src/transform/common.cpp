#include "transform/flow.hpp"

#include <algorithm>

namespace stithy::transform {

bool any(const Mask& mask) { return std::find(mask.begin(), mask.end(), true) != mask.end(); }
std::size_t count(const Mask& mask) { return static_cast<std::size_t>(std::count(mask.begin(), mask.end(), true)); }

Mask tail(const Mask& mask, std::size_t from) { return {mask.begin() + static_cast<std::ptrdiff_t>(from), mask.end()}; }

std::string memo_key(std::string_view name, const Mask& a, const Mask& b) {
    std::string key(name);
    key += ':';
    for (bool bit : a) key += bit ? '1' : '0';
    key += ':';
    for (bool bit : b) key += bit ? '1' : '0';
    return key;
}

std::vector<std::uint32_t> count_uses(const Function& function) {
    std::vector<std::uint32_t> uses(function.value_count(), 0);
    for (const Op& op : function.ops())
        for (ValueId v : op.operands) ++uses[v];
    for (ValueId v : function.results()) ++uses[v];
    return uses;
}

ir::Operands ids_of(std::span<const Value> values) {
    ir::Operands ids;
    ids.reserve(values.size());
    for (const Value& v : values) ids.push_back(v.id());
    return ids;
}

Values lookup(std::span<const ValueId> ids, const Values& table) {
    Values values;
    values.reserve(ids.size());
    for (ValueId id : ids) values.push_back(table[id]);
    return values;
}

namespace {
Values results_from(Builder& builder, ValueId first, std::size_t n) {
    Values results;
    results.reserve(n);
    for (std::size_t i = 0; i < n; ++i) results.emplace_back(builder, first + static_cast<ValueId>(i));
    return results;
}
} // namespace

Values copy_op(Builder& builder, const Function& from, const Op& op, std::span<const Value> operands) {
    Op copy = op;
    for (std::size_t i = 0; i < operands.size(); ++i) copy.operands[i] = operands[i].id();
    std::span<const Type> types; // they lie side by side
    if (op.result_count > 0) types = {&from.type(op.first_result), op.result_count};
    return results_from(builder, builder.append(std::move(copy), types), op.result_count);
}

Values append_op(Builder& builder, OpCode code, std::span<const Value> operands, ir::AttrPtr attr, ir::Regions regions,
                 std::span<const Type> result_types, const Location& location) {
    Op op;
    op.code = code;
    op.operands = ids_of(operands);
    op.attr = std::move(attr);
    op.regions = std::move(regions);
    op.location = location;
    return results_from(builder, builder.append(std::move(op), result_types), result_types.size());
}

Value zero_of(Builder& builder, const Type& type) {
    if (type.is_accumulator()) return ops::accumulator_zeros(builder, type.as_tensor());
    return ops::full(builder, type, 0.0);
}

Value instantiate(Builder& builder, Value v, const Type& type) { return v ? v : zero_of(builder, type); }

bool is_structured(OpCode code) {
    return code == OpCode::call || code == OpCode::case_ || code == OpCode::if_ || code == OpCode::while_ || code == OpCode::loop;
}

bool has_zero_derivative(OpCode code) {
    switch (code) {
    case OpCode::ceil:
    case OpCode::floor:
    case OpCode::sign:
    case OpCode::is_finite:
    case OpCode::round_nearest_afz:
    case OpCode::round_nearest_even:
    case OpCode::compare:
    case OpCode::count_leading_zeros:
    case OpCode::popcnt:
    case OpCode::not_:
    case OpCode::bitcast_convert:
    case OpCode::constant:
    case OpCode::iota: return true;
    default: return false;
    }
}

Mask dependent_results(const Function& function, const Mask& parameters, bool differentiable) {
    return flow_of(function, differentiable).forward(parameters);
}

Mask loop_fixpoint(const Op& op, const Mask& operands, bool differentiable) {
    const bool is_loop = op.code == OpCode::loop;
    const Flow& body = flow_of(*op.regions[is_loop ? 0 : 1], differentiable);
    std::size_t first = 0, n = 0; // the carried parameters of the body
    Mask parameters;
    if (is_loop) {
        const LoopLayout layout(op.get<LoopAttr>());
        parameters.push_back(layout.trip != 0 && operands[0] && !differentiable);
        for (std::size_t i = layout.trip; i < operands.size(); ++i) parameters.push_back(operands[i]);
        first = layout.carry(0);
        n = layout.carries + layout.accumulators;
    } else {
        parameters = operands;
        first = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        n = operands.size() - first;
    }
    for (bool changed = true; changed;) {
        changed = false;
        Mask results = body.forward(parameters);
        if (!is_loop && !differentiable && flow_of(*op.regions[0], false).forward(parameters)[0]) results.assign(results.size(), true);
        for (std::size_t i = 0; i < n; ++i)
            if (results[i] && !parameters[first + i]) parameters[first + i] = changed = true;
    }
    return parameters;
}

Mask dependent_results(const Function& function, const Op& op, const Mask& operands, bool differentiable) {
    Mask results = flow_of(op, differentiable).forward(operands);
    if (differentiable)
        for (std::uint32_t r = 0; r < op.result_count; ++r) results[r] = results[r] && ops::is_differentiable(function.type(op.result(r)));
    return results;
}

} // namespace stithy::transform
