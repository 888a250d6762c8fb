#pragma once
#include "array/bind.hpp"

/// Shape operations on checked arguments, bound as single operations; each gives x itself where there is nothing to do.
namespace stithy::detail {

/// Error unless an array of this dtype and shape can be: no negative extent, and not so many bytes that nothing could address them.
void check_extents(const char* name, DType dtype, const Shape& shape, const Location& location);

Array reshaped(const Array& x, const Shape& shape, const Location& location);
Array permuted(const Array& x, const Dims& permutation, const Location& location);
Array moved(const Array& x, std::int64_t from, std::int64_t to, const Location& location);
/// start, limit and stride for every axis, stride > 0.
Array sliced(const Array& x, const Dims& start, const Dims& limit, const Dims& stride, const Location& location);
/// [start, limit) of one axis.
Array sliced(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t limit, const Location& location);
Array padded(const Array& x, const Array& value, const Dims& low, const Dims& high, const Dims& interior, const Location& location);
/// Parts of one dtype, joined along an axis.
Array joined(std::span<const Array> parts, std::int64_t axis, const Location& location);
/// 0, 1, ... along an axis.
Array counter(DType dtype, const Shape& shape, std::int64_t axis, const Location& location);
/// A rank-0 constant of an integer dtype.
Array scalar(DType dtype, std::int64_t value, const Location& location);
/// x reduced over axes (checked) by the operation, from its identity.
Array reduced(ir::OpCode combine, const Array& x, const Dims& axes, bool keep, const Location& location);

} // namespace stithy::detail
