// broadcast_in_dim, reshape, transpose, reverse and bitcast_convert: elements keep their values, or their bits, and get new places.
#include "ops/axes.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace stithy::ops {

namespace {
const Type& tensor_operand(const InferContext& c) {
    expect_operands(c, 1);
    expect_tensors(c);
    return c.operands[0];
}

Types infer_broadcast_in_dim(const InferContext& c) {
    const Type &x = tensor_operand(c), &result = declared_tensor(c);
    const Dims& dims = c.get<ir::DimsAttr>().dims;
    if (dims.size() != x.rank()) refuse(c, "axes " + text_of(dims) + " for the operand " + x.str() + ", expected one for each of its axes");
    expect_axes(c, dims, result.rank(), "result axis");
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t extent = result.shape()[static_cast<std::size_t>(dims[i])];
        if (x.shape()[i] != 1 && x.shape()[i] != extent)
            refuse(c, "axis " + std::to_string(i) + " of the operand " + x.str() + " goes to axis " + std::to_string(dims[i]) +
                          " of the result " + result.str() + ", expected extent 1 or " + std::to_string(extent));
    }
    return one(Type(x.dtype(), result.shape()));
}

Types infer_reshape(const InferContext& c) {
    const Type &x = tensor_operand(c), &result = declared_tensor(c);
    if (x.elements() != result.elements())
        refuse(c, x.str() + " has " + std::to_string(x.elements()) + " elements and the result shape " + result.shape().str() + " has " +
                      std::to_string(result.elements()) + ", expected equal numbers");
    return one(Type(x.dtype(), result.shape()));
}

Types infer_transpose(const InferContext& c) {
    const Type& x = tensor_operand(c);
    const Dims& permutation = c.get<ir::DimsAttr>().dims;
    if (permutation.size() != x.rank())
        refuse(c, "permutation " + text_of(permutation) + " for the operand " + x.str() + ", expected one entry an axis");
    expect_axes(c, permutation, x.rank(), "axis");
    Shape shape = x.shape();
    for (std::size_t i = 0; i < permutation.size(); ++i) shape.dims()[i] = x.shape()[static_cast<std::size_t>(permutation[i])];
    return one(Type(x.dtype(), std::move(shape)));
}

Types infer_reverse(const InferContext& c) {
    const Type& x = tensor_operand(c);
    expect_axes(c, c.get<ir::DimsAttr>().dims, x.rank(), "axis");
    return one(x);
}

/// Equal widths keep the shape; a narrower result gets a trailing axis of the parts; a wider one takes the operand's last axis in.
Types infer_bitcast_convert(const InferContext& c) {
    const Type& x = tensor_operand(c);
    internal_check(c.declared.size() == 1 && c.declared[0].is_tensor(), "bitcast_convert without its result type");
    const DType from = x.dtype(), to = c.declared[0].dtype();
    if (from.is_bool() != to.is_bool()) refuse(c, "bool has other bits than numbers (" + x.str() + " to " + std::string(to.name()) + ")");
    Shape shape = x.shape();
    if (to.size() < from.size()) shape.dims().push_back(static_cast<std::int64_t>(from.size() / to.size()));
    if (to.size() > from.size()) {
        const auto parts = static_cast<std::int64_t>(to.size() / from.size());
        if (shape.rank() == 0 || shape.dims().back() != parts)
            refuse(c, x.str() + " to " + std::string(to.name()) + ": expected a last axis of extent " + std::to_string(parts));
        shape.dims().erase(shape.rank() - 1);
    }
    return one(Type(to, std::move(shape)));
}

/// The operation itself on the tangent: all but bitcast_convert are linear.
Values jvp_same(const JvpContext& c) {
    const Type result = c.results[0].type();
    return emit_like(c.builder, c.op, c.tangents, {&result, 1});
}

/// Sums what each element was copied to.
Values transpose_broadcast_in_dim(const TransposeContext& c) {
    Value ct = c.cotangents[0];
    const Shape& shape = c.types[0].shape();
    const Dims& dims = c.op.get<ir::DimsAttr>().dims;
    const Shape wide = ct.shape();
    Dims summed, kept; // kept: result axes that stay, ascending
    for (std::size_t r = 0; r < wide.rank(); ++r) {
        const auto* place = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(r));
        const bool stretched = place != dims.end() && shape[static_cast<std::size_t>(place - dims.begin())] == 1 && wide[r] != 1;
        if (place == dims.end() || stretched)
            summed.push_back(static_cast<std::int64_t>(r));
        else
            kept.push_back(static_cast<std::int64_t>(r));
    }
    ct = reduce_sum(ct, summed);
    Dims permutation; // the kept axes in the operand's order
    for (std::int64_t d : dims)
        if (const auto* place = std::find(kept.begin(), kept.end(), d); place != kept.end()) permutation.push_back(place - kept.begin());
    if (!std::is_sorted(permutation.begin(), permutation.end())) ct = transpose(ct, permutation);
    return {reshape(ct, shape)};
}

Values transpose_reshape(const TransposeContext& c) { return {reshape(c.cotangents[0], c.types[0].shape())}; }

Values transpose_transpose(const TransposeContext& c) {
    const Dims& permutation = c.op.get<ir::DimsAttr>().dims;
    Dims inverse(permutation.size(), 0);
    for (std::size_t i = 0; i < permutation.size(); ++i) inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
    return {transpose(c.cotangents[0], inverse)};
}

Values transpose_reverse(const TransposeContext& c) { return {reverse(c.cotangents[0], c.op.get<ir::DimsAttr>().dims)}; }

Shape batched_shape(const BatchContext& c) {
    Shape shape = c.result_types[0].shape();
    shape.dims().insert(0, c.size);
    return shape;
}

Values batch_broadcast_in_dim(const BatchContext& c) {
    c.out_batched[0] = true;
    Dims dims = shifted(c.op.get<ir::DimsAttr>().dims, 1);
    dims.insert(0, 0);
    return {broadcast_in_dim(c.operands[0], batched_shape(c), dims)};
}

Values batch_reshape(const BatchContext& c) {
    c.out_batched[0] = true;
    return {reshape(c.operands[0], batched_shape(c))};
}

Values batch_transpose(const BatchContext& c) {
    c.out_batched[0] = true;
    Dims permutation = shifted(c.op.get<ir::DimsAttr>().dims, 1);
    permutation.insert(0, 0);
    return {transpose(c.operands[0], permutation)};
}

Values batch_reverse(const BatchContext& c) {
    c.out_batched[0] = true;
    return {reverse(c.operands[0], shifted(c.op.get<ir::DimsAttr>().dims, 1))};
}

Values batch_bitcast_convert(const BatchContext& c) {
    c.out_batched[0] = true;
    return {bitcast_convert(c.operands[0], c.result_types[0].dtype())};
}
} // namespace

Rule find_reshape(OpCode code) {
    switch (code) {
    case OpCode::broadcast_in_dim: return {infer_broadcast_in_dim, jvp_same, transpose_broadcast_in_dim, batch_broadcast_in_dim};
    case OpCode::reshape: return {infer_reshape, jvp_same, transpose_reshape, batch_reshape};
    case OpCode::transpose: return {infer_transpose, jvp_same, transpose_transpose, batch_transpose};
    case OpCode::reverse: return {infer_reverse, jvp_same, transpose_reverse, batch_reverse};
    case OpCode::bitcast_convert: return {infer_bitcast_convert, nullptr, nullptr, batch_bitcast_convert};
    default: return {};
    }
}

} // namespace stithy::ops
