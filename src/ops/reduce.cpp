// reduce: any region, several operands. Sums, products, minima and maxima differentiate both ways; other regions forwards.
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"
#include "ops/region_jvp.hpp"

#include <algorithm>

namespace stithy::ops {

namespace {
Types infer_reduce(const InferContext& c) {
    const std::size_t n = c.operands.size() / 2;
    if (n == 0 || c.operands.size() % 2 != 0) refuse(c, "expected as many initial values as inputs");
    expect_tensors(c);
    const Dims& axes = c.get<ir::DimsAttr>().dims;
    expect_axes(c, axes, c.operands[0].rank(), "axis");
    if (c.regions.size() != 1 || c.regions[0]->parameter_count() != 2 * n || c.regions[0]->results().size() != n)
        refuse(c, "the region does not take and give one value per input");
    Dims shape;
    for (std::size_t i = 0; i < c.operands[0].rank(); ++i)
        if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) shape.push_back(c.operands[0].shape()[i]);
    Types types;
    for (std::size_t k = 0; k < n; ++k) {
        const Type &x = c.operands[k], &init = c.operands[n + k];
        if (!(x.shape() == c.operands[0].shape())) refuse(c, "inputs " + text_of(c.operands.slice(0, n)) + ", expected one shape");
        if (init.rank() != 0 || !(init.dtype() == x.dtype()))
            refuse(c, "initial value " + init.str() + " for input " + x.str() + ", expected its dtype and rank 0");
        const Type expected(x.dtype(), Shape{});
        for (const Type& t : {c.regions[0]->type(static_cast<ValueId>(k)), c.regions[0]->type(static_cast<ValueId>(n + k)),
                              c.regions[0]->type(c.regions[0]->results()[k])})
            if (!(t == expected)) refuse(c, "the region works on " + t.str() + ", expected " + expected.str());
        types.push_back(Type(x.dtype(), Shape(shape)));
    }
    return types;
}

/// A reduced value back in the shape of the input.
Value spread(Value reduced, const Shape& shape, const Dims& axes) {
    Dims kept;
    for (std::size_t i = 0; i < shape.rank(); ++i)
        if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) kept.push_back(static_cast<std::int64_t>(i));
    return broadcast_in_dim(reduced, shape, kept);
}

Value spread_scalar(Value scalar_value, const Shape& shape) { return broadcast_in_dim(scalar_value, shape, Dims()); }

/// x with the reduced axes last and flattened: [kept.., n].
Value rows_of(Value x, const Dims& axes) {
    const Shape shape = x.shape();
    Dims order, extents;
    for (std::size_t i = 0; i < shape.rank(); ++i)
        if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) {
            order.push_back(static_cast<std::int64_t>(i));
            extents.push_back(shape[i]);
        }
    std::int64_t n = 1;
    for (std::int64_t axis : axes) {
        order.push_back(axis);
        n *= shape[static_cast<std::size_t>(axis)];
    }
    extents.push_back(n);
    return reshape(transpose(x, order), Shape(extents));
}

/// Part [first, last) of the last axis.
Value columns(Value x, std::int64_t first, std::int64_t last) {
    Dims start(x.rank(), 0), limit = x.shape().dims();
    start[x.rank() - 1] = first;
    limit[x.rank() - 1] = last;
    return slice(x, start, limit);
}

/// The product as a tree of products of halves: every derivative of it is right where elements are zero, at a cost of O(n).
Values jvp_product(const JvpContext& c, const Dims& axes) {
    const Value init = c.operands[1];
    const Shape shape = c.results[0].shape();
    Value p = rows_of(c.operands[0], axes);
    Value t = c.tangents[0] ? rows_of(c.tangents[0], axes) : Value();
    std::int64_t n = p.shape().dims().back();
    if (n == 0) { // the empty product does not depend on x
        if (!c.tangents[1]) return {Value()};
        return {spread_scalar(c.tangents[1], shape)};
    }
    const auto last = static_cast<std::int64_t>(p.rank()) - 1;
    while (n > 1) {
        const std::int64_t half = n / 2;
        const Value a = columns(p, 0, half), b = columns(p, half, 2 * half);
        Value next = a * b, next_t = t ? columns(t, 0, half) * b + a * columns(t, half, 2 * half) : Value();
        if (n % 2 != 0) {
            const Value rest[] = {next, columns(p, n - 1, n)};
            if (t) {
                const Value rest_t[] = {next_t, columns(t, n - 1, n)};
                next_t = concatenate(rest_t, last);
            }
            next = concatenate(rest, last);
        }
        p = next;
        t = next_t;
        n = half + n % 2;
    }
    p = reshape(p, shape);
    Value out;
    if (t) out = spread_scalar(init, shape) * reshape(t, shape);
    if (c.tangents[1]) out = add_any(out, spread_scalar(c.tangents[1], shape) * p);
    return {out};
}

/// Ties share the tangent evenly.
Values jvp_extremum(const JvpContext& c, const Dims& axes) {
    const Value x = c.operands[0], y = c.results[0];
    const Value hit = compare(x, spread(y, x.shape(), axes), ir::Direction::eq);
    const Value init_hit = compare(spread_scalar(c.operands[1], y.shape()), y, ir::Direction::eq);
    const Value hits = reduce_sum(convert(hit, x.dtype()), axes) + convert(init_hit, x.dtype());
    Value t;
    if (c.tangents[0]) t = reduce_sum(select(hit, c.tangents[0], 0.0), axes); // a product would make NaN of an infinity on the losing side
    if (c.tangents[1]) t = add_any(t, select(init_hit, spread_scalar(c.tangents[1], y.shape()), 0.0));
    return {t / hits};
}

Values jvp_any_region(const JvpContext& c) {
    const std::size_t n = c.operands.size() / 2;
    SmallVector<Value, 8> operands;
    for (std::size_t half = 0; half < 2; ++half) {
        for (std::size_t i = half * n; i < (half + 1) * n; ++i) operands.push_back(c.operands[i]);
        for (std::size_t i = half * n; i < (half + 1) * n; ++i)
            operands.push_back(c.tangents[i] ? c.tangents[i] : zeros_like(c.operands[i]));
    }
    const Values both = emit(c.builder, OpCode::reduce, operands, c.op.attr, {dual_region(*c.op.regions[0])});
    Values out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(is_differentiable(c.results[i].type()) ? both[n + i] : Value());
    return out;
}

Values jvp_reduce(const JvpContext& c) {
    const Dims& axes = c.op.get<ir::DimsAttr>().dims;
    const auto combine = combiner_of(*c.op.regions[0]);
    if (!combine || c.operands.size() != 2) return jvp_any_region(c);
    switch (*combine) {
    case OpCode::add: {
        Value t = c.tangents[0] ? reduce_sum(c.tangents[0], axes) : Value();
        if (c.tangents[1]) t = add_any(t, spread_scalar(c.tangents[1], c.results[0].shape()));
        return {t};
    }
    case OpCode::multiply: return jvp_product(c, axes);
    case OpCode::minimum:
    case OpCode::maximum: return jvp_extremum(c, axes);
    default: return jvp_any_region(c);
    }
}

Values transpose_reduce(const TransposeContext& c) {
    const auto combine = combiner_of(*c.op.regions[0]);
    if (!combine || *combine != OpCode::add || c.operands.size() != 2)
        fail("reduce",
             "a reduction with a region of its own differentiates forwards only (jvp, jacfwd); sums, products, minima and maxima "
             "differentiate in reverse",
             c.op.location);
    const Dims& axes = c.op.get<ir::DimsAttr>().dims;
    const Value ct = c.cotangents[0];
    Values out(2);
    if (c.linear[0]) out[0] = spread(ct, c.types[0].shape(), axes);
    if (c.linear[1]) {
        Dims all;
        for (std::size_t i = 0; i < ct.rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
        out[1] = reduce_sum(ct, all);
    }
    return out;
}

Values batch_reduce(const BatchContext& c) {
    const std::size_t n = c.operands.size() / 2;
    Dims axes = c.op.get<ir::DimsAttr>().dims;
    for (std::int64_t& a : axes) ++a;
    SmallVector<Value, 4> operands;
    bool batched_init = false;
    for (std::size_t i = 0; i < n; ++i) {
        c.out_batched[i] = true;
        operands.push_back(c.batched[i] ? c.operands[i] : broadcast_batch(c.operands[i], c.size));
        batched_init = batched_init || c.batched[n + i];
    }
    if (!batched_init) {
        for (std::size_t i = n; i < 2 * n; ++i) operands.push_back(c.operands[i]);
        return emit(c.builder, OpCode::reduce, operands, ir::make_attr(ir::DimsAttr{axes}), c.op.regions);
    }
    const auto combine = combiner_of(*c.op.regions[0]);
    if (!combine || n != 1)
        fail("reduce", "vmap of a reduction with a region of its own needs initial values that are not batched", c.op.location);
    const Value reduced = reduce(*combine, operands[0], axes);
    return {binary(*combine, broadcast_in_dim(c.operands[1], reduced.shape(), Dims(1, 0)), reduced)};
}
} // namespace

Rule find_reduce(OpCode code) {
    if (code != OpCode::reduce) return {};
    return {infer_reduce, jvp_reduce, transpose_reduce, batch_reduce};
}

} // namespace stithy::ops
