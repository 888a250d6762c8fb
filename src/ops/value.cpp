#include "ops/value.hpp"

#include "ops/rules.hpp"

namespace stithy::ops {

namespace {
/// The user's line for the operations that this thread emits.
thread_local Location current_location;

ValueId append(Builder& builder, Op&& op, std::span<const Type> declared, std::size_t& count) {
    SmallVector<const Type*, 8> refs;
    refs.reserve(op.operands.size());
    for (ValueId v : op.operands) refs.push_back(&builder.type(v));
    const Types types = infer({op.code, TypeRefs({refs.data(), refs.size()}), op.attr, op.regions, op.location, declared});
    count = types.size();
    return builder.append(std::move(op), {types.data(), types.size()});
}

void bind(Op& op, Builder& builder, std::span<const Value> operands) {
    op.operands.reserve(operands.size());
    for (const Value& v : operands) {
        internal_check(v && &v.builder() == &builder, "an operand of another function, or none");
        op.operands.push_back(v.id());
    }
}

Op make_op(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr&& attr, ir::Regions&& regions) {
    Op op;
    op.code = code;
    bind(op, builder, operands);
    op.attr = std::move(attr);
    op.regions = std::move(regions);
    op.location = current_location;
    return op;
}

Values results_of(Builder& builder, ValueId first, std::size_t count) {
    Values results;
    results.reserve(count);
    for (std::size_t i = 0; i < count; ++i) results.emplace_back(builder, first + static_cast<ValueId>(i));
    return results;
}
} // namespace

LocationScope::LocationScope(const Location& location) : previous_(current_location) { current_location = location; }
LocationScope::~LocationScope() { current_location = previous_; }
const Location& LocationScope::current() { return current_location; }

Values emit(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr, ir::Regions regions,
            std::span<const Type> declared) {
    std::size_t count = 0;
    const ValueId first = append(builder, make_op(builder, code, operands, std::move(attr), std::move(regions)), declared, count);
    return results_of(builder, first, count);
}

Value emit1(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr, ir::Regions regions,
            std::span<const Type> declared) {
    std::size_t count = 0;
    const ValueId first = append(builder, make_op(builder, code, operands, std::move(attr), std::move(regions)), declared, count);
    internal_check(count == 1, "emit1 of an operation with another number of results");
    return {builder, first};
}

Value emit_as(const Type& result, Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr) {
    return emit1(builder, code, operands, std::move(attr), {}, {&result, 1});
}

Values emit_op(Builder& builder, Op op, std::span<const Type> declared) {
    std::size_t count = 0;
    const ValueId first = append(builder, std::move(op), declared, count);
    return results_of(builder, first, count);
}

Values emit_like(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> declared) {
    Op copy;
    copy.code = op.code;
    copy.effect = op.effect;
    bind(copy, builder, operands);
    copy.attr = op.attr;
    copy.regions = op.regions;
    copy.location = op.location;
    return emit_op(builder, std::move(copy), declared);
}

Values inline_call(Builder& builder, const ir::Function& function, std::span<const Value> arguments) {
    internal_check(arguments.size() == function.parameter_count(), "inline_call: wrong number of arguments");
    std::vector<ValueId> map(function.value_count(), ir::no_value);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        internal_check(arguments[i].type() == function.type(static_cast<ValueId>(i)), "inline_call: an argument of another type");
        map[i] = arguments[i].id();
    }
    for (const Op& op : function.ops()) {
        Op copy = op;
        for (ValueId& v : copy.operands) v = map[v];
        std::span<const Type> types; // results lie side by side
        if (op.result_count > 0) types = {&function.type(op.first_result), op.result_count};
        const ValueId first = builder.append(std::move(copy), types);
        for (std::uint32_t r = 0; r < op.result_count; ++r) map[op.result(r)] = first + r;
    }
    Values results;
    results.reserve(function.results().size());
    for (ValueId v : function.results()) results.emplace_back(builder, map[v]);
    return results;
}

} // namespace stithy::ops
