#include "ops/build.hpp"

namespace stithy::ops {

Value accumulator_zeros(Builder& builder, const Type& tensor) {
    return emit_as(Type::accumulator(tensor.dtype(), tensor.shape()), builder, OpCode::accumulator_zeros, {});
}

Value accumulator_add(Value accumulator, Value x) { return emit1(x.builder(), OpCode::accumulator_add, {accumulator, x}); }

Value accumulator_add_at(Value accumulator, Value update, std::span<const Value> starts) {
    SmallVector<Value, 8> operands{accumulator, update};
    operands.append(starts.begin(), starts.end());
    return emit1(accumulator.builder(), OpCode::accumulator_add_at, operands);
}

Value accumulator_scatter_add(Value accumulator, Value indices, Value updates, ir::ScatterAttr dims) {
    return emit1(accumulator.builder(), OpCode::accumulator_scatter_add, {accumulator, indices, updates}, ir::make_attr(std::move(dims)));
}

Value freeze(Value accumulator) { return emit1(accumulator.builder(), OpCode::freeze, {accumulator}); }

} // namespace stithy::ops
