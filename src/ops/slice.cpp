// slice, concatenate and pad with fixed places; those with places known at run time are in dynamic.cpp.
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"

namespace stithy::ops {

namespace {
void expect_entries(const InferContext& c, const Dims& dims, std::size_t rank, std::string_view what) {
    if (dims.size() != rank)
        refuse(c, std::string(what) + " " + text_of(dims) + " for the operand " + c.operands[0].str() + ", expected " +
                      std::to_string(rank) + " entries");
}

Types infer_slice(const InferContext& c) {
    expect_operands(c, 1);
    expect_tensors(c);
    const Type& x = c.operands[0];
    const auto& [start, limit, stride] = c.get<ir::SliceAttr>();
    expect_entries(c, start, x.rank(), "start");
    expect_entries(c, limit, x.rank(), "limit");
    expect_entries(c, stride, x.rank(), "stride");
    Shape shape = x.shape();
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (start[i] < 0 || limit[i] < start[i] || limit[i] > x.shape()[i])
            refuse(c, "[" + std::to_string(start[i]) + ", " + std::to_string(limit[i]) + ") of axis " + std::to_string(i) + " of " +
                          x.str() + ", expected 0 <= start <= limit <= " + std::to_string(x.shape()[i]));
        if (stride[i] < 1) refuse(c, "stride " + std::to_string(stride[i]) + " of axis " + std::to_string(i) + ", expected at least 1");
        shape.dims()[i] = limit[i] == start[i] ? 0 : (limit[i] - start[i] - 1) / stride[i] + 1;
    }
    return one(Type(x.dtype(), std::move(shape)));
}

[[noreturn]] void refuse_parts(const InferContext& c, std::int64_t dim) {
    refuse(c, "operands " + text_of(c.operands) + ", expected one dtype, and shapes that are equal but along axis " + std::to_string(dim));
}

Types infer_concatenate(const InferContext& c) {
    if (c.operands.empty()) refuse(c, "no operands given, expected at least one");
    expect_tensors(c);
    const Type& first = c.operands[0];
    const std::int64_t dim = c.get<ir::DimAttr>().dim;
    expect_axis(c, dim, first.rank(), "axis");
    const auto axis = static_cast<std::size_t>(dim);
    Shape shape = first.shape();
    for (std::size_t i = 1; i < c.operands.size(); ++i) {
        const Type& part = c.operands[i];
        if (!(part.dtype() == first.dtype()) || part.rank() != first.rank()) refuse_parts(c, dim);
        for (std::size_t a = 0; a < first.rank(); ++a)
            if (a != axis && part.shape()[a] != first.shape()[a]) refuse_parts(c, dim);
        shape.dims()[axis] += part.shape()[axis];
    }
    return one(Type(first.dtype(), std::move(shape)));
}

Types infer_pad(const InferContext& c) {
    expect_operands(c, 2);
    expect_tensors(c);
    const Type &x = c.operands[0], &value = c.operands[1];
    const auto& [low, high, interior] = c.get<ir::PadAttr>();
    if (value.rank() != 0 || !(value.dtype() == x.dtype()))
        refuse(c, "the padding value is " + value.str() + ", expected " + std::string(x.dtype().name()) + "[]");
    expect_entries(c, low, x.rank(), "low padding");
    expect_entries(c, high, x.rank(), "high padding");
    expect_entries(c, interior, x.rank(), "interior padding");
    Shape shape = x.shape();
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (interior[i] < 0)
            refuse(c, "interior padding " + std::to_string(interior[i]) + " of axis " + std::to_string(i) + ", expected at least 0");
        std::int64_t extent = 0;
        const std::int64_t gaps = std::max<std::int64_t>(x.shape()[i] - 1, 0);
        if (__builtin_mul_overflow(gaps, interior[i], &extent) || __builtin_add_overflow(extent, x.shape()[i], &extent) ||
            __builtin_add_overflow(extent, low[i], &extent) || __builtin_add_overflow(extent, high[i], &extent))
            refuse(c, "the padding of axis " + std::to_string(i) + " is too large");
        if (extent < 0)
            refuse(c, "axis " + std::to_string(i) + " of " + x.str() + " with low " + std::to_string(low[i]) + " and high " +
                          std::to_string(high[i]) + " has " + std::to_string(extent) + " elements, expected at least 0");
        shape.dims()[i] = extent;
    }
    Type result(x.dtype(), std::move(shape));
    expect_extents(c, result);
    return one(std::move(result));
}

Values jvp_slice(const JvpContext& c) { return emit_like(c.builder, c.op, c.tangents); }

/// All operands' tangents, zeros where one is none.
Values jvp_all_operands(const JvpContext& c) {
    SmallVector<Value, 4> tangents;
    for (std::size_t i = 0; i < c.tangents.size(); ++i) tangents.push_back(c.tangents[i] ? c.tangents[i] : zeros_like(c.operands[i]));
    return emit_like(c.builder, c.op, tangents);
}

/// Puts the rows of a slice back into zeros.
Values transpose_slice(const TransposeContext& c) {
    const Value ct = c.cotangents[0];
    const auto& [start, limit, stride] = c.op.get<ir::SliceAttr>();
    const Shape &whole = c.types[0].shape(), part = ct.shape();
    Dims low = start, high(start.size(), 0), interior(start.size(), 0);
    for (std::size_t i = 0; i < start.size(); ++i) {
        const std::int64_t n = part[i];
        interior[i] = stride[i] - 1;
        if (n == 0) low[i] = 0;
        high[i] = whole[i] - low[i] - (n == 0 ? 0 : (n - 1) * stride[i] + 1);
    }
    return {pad(ct, scalar(c.builder, ct.dtype(), 0), low, high, interior)};
}

Values transpose_concatenate(const TransposeContext& c) {
    const Value ct = c.cotangents[0];
    const auto axis = static_cast<std::size_t>(c.op.get<ir::DimAttr>().dim);
    Dims start(ct.rank(), 0), limit = ct.shape().dims();
    limit[axis] = 0;
    Values out;
    for (std::size_t i = 0; i < c.types.size(); ++i) {
        start[axis] = limit[axis];
        limit[axis] += c.types[i].shape()[axis];
        out.push_back(c.linear[i] ? slice(ct, start, limit) : Value());
    }
    return out;
}

Dims negated(const Dims& dims) {
    Dims out = dims;
    for (std::int64_t& d : out) d = -d;
    return out;
}

/// Whether each place of the result holds an element of the operand, rather than padding.
Value pad_mask(Builder& builder, const Shape& operand, const ir::PadAttr& attr) {
    const Value inside = full(builder, Type(boolean, operand), 1);
    return pad(inside, scalar(builder, boolean, 0), attr.low, attr.high, attr.interior);
}

/// The operand's places are sliced out (elements that negative padding cut off get zero); the value's cotangent sums the others.
Values transpose_pad(const TransposeContext& c) {
    const Value ct = c.cotangents[0];
    const auto& attr = c.op.get<ir::PadAttr>();
    const std::size_t rank = attr.low.size();
    Values out(2);
    if (c.linear[0]) {
        const Dims none(rank, 0);
        const Value window = pad(ct, scalar(c.builder, ct.dtype(), 0), negated(attr.low), negated(attr.high), none);
        Dims stride = attr.interior;
        for (std::int64_t& s : stride) ++s;
        out[0] = window;
        if (!(stride == Dims(rank, 1))) out[0] = slice(window, none, Dims(window.shape().dims()), stride);
    }
    if (c.linear[1]) {
        Dims axes(rank, 0);
        for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
        out[1] = reduce_sum(select(pad_mask(c.builder, c.types[0].shape(), attr), 0.0, ct), axes);
    }
    return out;
}

Dims with_front(const Dims& dims, std::int64_t value) {
    Dims out = dims;
    out.insert(0, value);
    return out;
}

Values batch_slice(const BatchContext& c) {
    c.out_batched[0] = true;
    const auto& [start, limit, stride] = c.op.get<ir::SliceAttr>();
    return {slice(c.operands[0], with_front(start, 0), with_front(limit, c.size), with_front(stride, 1))};
}

Values batch_concatenate(const BatchContext& c) {
    c.out_batched[0] = true;
    SmallVector<Value, 4> parts;
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        parts.push_back(c.batched[i] ? c.operands[i] : broadcast_batch(c.operands[i], c.size));
    return {concatenate(parts, c.op.get<ir::DimAttr>().dim + 1)};
}

/// A batched padding value cannot be an operand of one pad: pads with zeros and selects.
Values batch_pad(const BatchContext& c) {
    c.out_batched[0] = true;
    const auto& attr = c.op.get<ir::PadAttr>();
    const ir::PadAttr wide{with_front(attr.low, 0), with_front(attr.high, 0), with_front(attr.interior, 0)};
    const Value x = c.batched[0] ? c.operands[0] : broadcast_batch(c.operands[0], c.size), value = c.operands[1];
    if (!c.batched[1]) return {pad(x, value, wide.low, wide.high, wide.interior)};
    const Value padded = pad(x, scalar(c.builder, x.dtype(), 0), wide.low, wide.high, wide.interior);
    const Shape shape = padded.shape();
    const Value mask = pad_mask(c.builder, Shape(x.shape()), wide);
    return {select(mask, padded, broadcast_in_dim(value, shape, Dims(1, 0)))};
}
} // namespace

Rule find_slice(OpCode code) {
    switch (code) {
    case OpCode::slice: return {infer_slice, jvp_slice, transpose_slice, batch_slice};
    case OpCode::concatenate: return {infer_concatenate, jvp_all_operands, transpose_concatenate, batch_concatenate};
    case OpCode::pad: return {infer_pad, jvp_all_operands, transpose_pad, batch_pad};
    default: return {};
    }
}

} // namespace stithy::ops
