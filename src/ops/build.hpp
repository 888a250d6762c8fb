#pragma once
#include "ops/value.hpp"

#include <optional>

/// The operations as functions over Value: the public functions' spelling for rules and passes. Elementwise operands must have equal shape
/// and dtype (use `broadcast_to`, `full_like`), except where a double stands for a constant of the other operand's type.
namespace stithy::ops {

// constants and shapes; a splat that is among the latest operations already may be given out again
Value constant(Builder& builder, ir::Literal literal);
Value scalar(Builder& builder, DType dtype, double value);    ///< rank 0
Value full(Builder& builder, const Type& type, double value); ///< splat constant
Value full_like(Value like, double value);
Value zeros_like(Value like);
Value zeros(Builder& builder, const Type& type);
Value iota(Builder& builder, const Type& type, std::int64_t dim);
/// The number at every place of x when it is seen to be a splat constant, broadcast or reshaped or not; else nothing. Costs a search by
/// bisection.
std::optional<double> splat_of(Value x);
Value broadcast_in_dim(Value x, const Shape& shape, const Dims& dims);
Value broadcast_to(Value x, const Shape& shape); ///< NumPy's rule: trailing axes, extents 1 stretch
Value reshape(Value x, const Shape& shape);
Value transpose(Value x, const Dims& permutation);
Value slice(Value x, const Dims& start, const Dims& limit, const Dims& stride = {}); ///< no stride: all 1
Value dynamic_slice(Value x, std::span<const Value> starts, const Dims& sizes);
Value dynamic_update_slice(Value x, Value update, std::span<const Value> starts);
Value concatenate(std::span<const Value> parts, std::int64_t dim);
Value pad(Value x, Value value, const Dims& low, const Dims& high, const Dims& interior);
Value reverse(Value x, const Dims& dims);
Value convert(Value x, DType dtype); ///< x itself when it has the dtype
Value bitcast_convert(Value x, DType dtype);
Value expand_dims(Value x, std::int64_t axis); ///< a new axis of extent 1 at `axis` of the result
Value move_axis(Value x, std::int64_t from, std::int64_t to);
/// x with a new leading axis of `size` equal rows: how a batching rule joins an operand without a batch to one with.
Value broadcast_batch(Value x, std::int64_t size);

// elementwise
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator+(double a, Value b);
Value operator-(Value a, double b);
Value operator-(double a, Value b);
Value operator*(Value a, double b);
Value operator*(double a, Value b);
Value operator/(Value a, double b);
Value operator/(double a, Value b);
Value unary(OpCode code, Value x);
Value binary(OpCode code, Value a, Value b);
Value abs(Value x);
Value exp(Value x);
Value log(Value x);
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value tanh(Value x);
Value sqrt(Value x);
Value rsqrt(Value x);
Value cbrt(Value x);
Value logistic(Value x);
Value sign(Value x);
Value floor(Value x);
Value round_nearest_even(Value x);
Value not_(Value x);
Value and_(Value a, Value b);
Value or_(Value a, Value b);
Value maximum(Value a, Value b);
Value minimum(Value a, Value b);
Value power(Value a, Value b);
Value atan2(Value a, Value b);
Value remainder(Value a, Value b);
Value compare(Value a, Value b, ir::Direction direction);
Value compare(Value a, double b, ir::Direction direction);
Value select(Value predicate, Value a, Value b);
Value select(Value predicate, Value a, double b);
Value select(Value predicate, double a, Value b);
Value clamp(Value low, Value x, Value high);
/// a + b where a value that is none counts as zero; none when both are.
Value add_any(Value a, Value b);

// contraction
/// Sum, product, min, max (of add, multiply, minimum, maximum, and, or) over axes; removes them.
Value reduce(OpCode combine, Value x, const Dims& axes);
Value reduce_sum(Value x, const Dims& axes);
Value dot_general(Value a, Value b, ir::DotAttr dims);

// linear types
Value accumulator_zeros(Builder& builder, const Type& tensor);
Value accumulator_add(Value accumulator, Value x);
Value accumulator_add_at(Value accumulator, Value update, std::span<const Value> starts);
Value accumulator_scatter_add(Value accumulator, Value indices, Value updates, ir::ScatterAttr dims);
Value freeze(Value accumulator);
/// An accumulator of a batch whose every row holds what `accumulator` holds.
Value broadcast_accumulator(Value accumulator, std::int64_t size);

/// The identity element of a combining operation (add, multiply, minimum, maximum, and, or, xor) for a dtype (0, 1, highest, lowest, ...),
/// as a literal of rank 0.
ir::Literal identity_literal(OpCode combine, DType dtype);
/// The reducer (or scatter update) region of a binary operation on rank-0 values of a dtype; memoised.
FunctionPtr combiner_region(OpCode combine, DType dtype);
/// The operation when a region is just `combine(a, b)` of its two parameters (in either order when it commutes), else nothing.
std::optional<OpCode> combiner_of(const ir::Function& region);
/// "second": a region that returns the update (scatter's set); memoised.
FunctionPtr second_region(DType dtype);

} // namespace stithy::ops
