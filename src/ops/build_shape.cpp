#include "ops/build.hpp"

#include <algorithm>
#include <cmath>

namespace stithy::ops {

namespace {
/// The bits of a number in a dtype; infinities stay what they are in floating types, integers must hold the number.
std::uint64_t number_bits(DType dtype, double value) {
    internal_check(dtype.is_floating() || (std::isfinite(value) && value == std::trunc(value)),
                   "a constant that its integer dtype cannot hold");
    if (dtype.is_unsigned() && value < 0) return ir::bits_of(dtype, static_cast<std::int64_t>(value)); // wraps
    return ir::bits_of(dtype, value);
}

/// The operation that defines a value; null for parameters. Results are numbered in the order of the operations.
const Op* defining_op(Value x) {
    const std::span<const Op> ops = x.builder().ops();
    const auto after = std::upper_bound(ops.begin(), ops.end(), x.id(), [](ValueId v, const Op& op) { return v < op.first_result; });
    for (auto op = after; op != ops.begin();) {
        --op;
        if (op->result_count > 0) return x.id() < op->first_result + op->result_count ? &*op : nullptr;
    }
    return nullptr;
}

/// The same splat among the latest operations, if it is there: derivative rules ask for 0, 1 and 1/2 again and again.
Value recent_splat(Builder& builder, const Type& type, std::uint64_t bits) {
    constexpr std::size_t reach = 16;
    const std::span<const Op> ops = builder.ops();
    for (std::size_t i = ops.size(); i-- > 0 && i + reach >= ops.size();) {
        if (ops[i].code != OpCode::constant) continue;
        const ir::Literal& literal = ops[i].get<ir::ConstantAttr>().value;
        if (literal.is_splat() && literal.bits() == bits && literal.type() == type) return {builder, ops[i].first_result};
    }
    return {};
}

Value splat(Builder& builder, const Type& type, std::uint64_t bits) {
    if (const Value known = recent_splat(builder, type, bits)) return known;
    return constant(builder, ir::Literal::splat_bits(type, bits));
}
} // namespace

Value constant(Builder& builder, ir::Literal literal) {
    return emit1(builder, OpCode::constant, {}, ir::make_attr(ir::ConstantAttr{std::move(literal)}));
}
Value scalar(Builder& builder, DType dtype, double value) { return full(builder, Type(dtype, Shape()), value); }
Value full(Builder& builder, const Type& type, double value) { return splat(builder, type, number_bits(type.dtype(), value)); }
Value full_like(Value like, double value) { return full(like.builder(), like.type(), value); }
Value zeros_like(Value like) { return zeros(like.builder(), like.type()); }
Value zeros(Builder& builder, const Type& type) {
    if (type.is_accumulator()) return accumulator_zeros(builder, type.as_tensor());
    internal_check(type.is_tensor(), "zeros of a type that is no tensor");
    return splat(builder, type, 0);
}

Value broadcast_accumulator(Value accumulator, std::int64_t size) {
    Builder& builder = accumulator.builder();
    const Type type = accumulator.type().as_tensor();
    Dims dims = type.shape().dims();
    dims.insert(0, size);
    const Op* op = defining_op(accumulator);
    const bool is_empty = op != nullptr && op->code == OpCode::accumulator_zeros;
    const Value wide = accumulator_zeros(builder, Type(type.dtype(), Shape(std::move(dims))));
    return is_empty ? wide : accumulator_add(wide, broadcast_batch(freeze(accumulator), size));
}

std::optional<double> splat_of(Value x) {
    while (const Op* op = defining_op(x)) {
        if (op->code == OpCode::broadcast_in_dim || op->code == OpCode::reshape) {
            x = Value(x.builder(), op->operands[0]);
            continue;
        }
        if (op->code != OpCode::constant) return std::nullopt;
        const ir::Literal& literal = op->get<ir::ConstantAttr>().value;
        if (!literal.is_splat() || literal.type().elements() == 0) return std::nullopt;
        return literal.element_as_double(0);
    }
    return std::nullopt;
}

Value iota(Builder& builder, const Type& type, std::int64_t dim) {
    return emit_as(type, builder, OpCode::iota, {}, ir::make_attr(ir::DimAttr{dim}));
}

Value broadcast_in_dim(Value x, const Shape& shape, const Dims& dims) {
    return emit_as(Type(x.dtype(), shape), x.builder(), OpCode::broadcast_in_dim, {x}, ir::make_attr(ir::DimsAttr{dims}));
}

Value broadcast_to(Value x, const Shape& shape) {
    if (x.shape() == shape) return x;
    const std::size_t rank = x.rank();
    internal_check(rank <= shape.rank(), "broadcast_to of a lower rank");
    Dims dims(rank, 0);
    for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(shape.rank() - rank + i);
    return broadcast_in_dim(x, shape, dims);
}

Value broadcast_batch(Value x, std::int64_t size) {
    Shape shape = x.shape();
    Dims dims(shape.rank(), 0);
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<std::int64_t>(i) + 1;
    shape.dims().insert(0, size);
    return broadcast_in_dim(x, shape, dims);
}

Value reshape(Value x, const Shape& shape) {
    if (x.shape() == shape) return x;
    return emit_as(Type(x.dtype(), shape), x.builder(), OpCode::reshape, {x});
}

Value transpose(Value x, const Dims& permutation) {
    return emit1(x.builder(), OpCode::transpose, {x}, ir::make_attr(ir::DimsAttr{permutation}));
}

Value slice(Value x, const Dims& start, const Dims& limit, const Dims& stride) {
    return emit1(x.builder(), OpCode::slice, {x},
                 ir::make_attr(ir::SliceAttr{start, limit, stride.empty() ? Dims(start.size(), 1) : stride}));
}

Value dynamic_slice(Value x, std::span<const Value> starts, const Dims& sizes) {
    SmallVector<Value, 8> operands{x};
    operands.append(starts.begin(), starts.end());
    return emit1(x.builder(), OpCode::dynamic_slice, operands, ir::make_attr(ir::DimsAttr{sizes}));
}

Value dynamic_update_slice(Value x, Value update, std::span<const Value> starts) {
    SmallVector<Value, 8> operands{x, update};
    operands.append(starts.begin(), starts.end());
    return emit1(x.builder(), OpCode::dynamic_update_slice, operands);
}

Value concatenate(std::span<const Value> parts, std::int64_t dim) {
    internal_check(!parts.empty(), "concatenate of nothing");
    return emit1(parts[0].builder(), OpCode::concatenate, parts, ir::make_attr(ir::DimAttr{dim}));
}

Value pad(Value x, Value value, const Dims& low, const Dims& high, const Dims& interior) {
    return emit1(x.builder(), OpCode::pad, {x, value}, ir::make_attr(ir::PadAttr{low, high, interior}));
}

Value reverse(Value x, const Dims& dims) { return emit1(x.builder(), OpCode::reverse, {x}, ir::make_attr(ir::DimsAttr{dims})); }

Value convert(Value x, DType dtype) {
    if (x.dtype() == dtype) return x;
    return emit_as(Type(dtype, x.shape()), x.builder(), OpCode::convert, {x});
}

Value bitcast_convert(Value x, DType dtype) { return emit_as(Type(dtype, Shape()), x.builder(), OpCode::bitcast_convert, {x}); }

Value expand_dims(Value x, std::int64_t axis) {
    Shape shape = x.shape();
    shape.dims().insert(static_cast<std::size_t>(axis), 1);
    return reshape(x, shape);
}

Value move_axis(Value x, std::int64_t from, std::int64_t to) {
    if (from == to) return x;
    Dims permutation;
    for (std::size_t i = 0; i < x.rank(); ++i)
        if (static_cast<std::int64_t>(i) != from) permutation.push_back(static_cast<std::int64_t>(i));
    permutation.insert(static_cast<std::size_t>(to), from);
    return transpose(x, permutation);
}

} // namespace stithy::ops
