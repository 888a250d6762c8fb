// dot_general: products over contracted axes, with batching axes.
#include "ops/axes.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace stithy::ops {

namespace {

/// Axes that are neither batching nor contracted, in order.
Dims free_axes(std::size_t rank, const Dims& batch, const Dims& contract) {
    Dims axes;
    for (std::size_t i = 0; i < rank; ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        if (!contains(batch, axis) && !contains(contract, axis)) axes.push_back(axis);
    }
    return axes;
}

Types infer_dot(const InferContext& c) {
    expect_operands(c, 2);
    expect_tensors(c);
    const Type &a = c.operands[0], &b = c.operands[1];
    const auto& d = c.get<ir::DotAttr>();
    if (!(a.dtype() == b.dtype()) && c.declared.empty()) refuse(c, "operands " + text_of(c.operands) + ", expected one dtype");
    const auto side = [&](const Type& x, const Dims& batch, const Dims& contract, std::string_view what) {
        expect_axes(c, batch, x.rank(), what);
        expect_axes(c, contract, x.rank(), what);
        for (std::int64_t axis : batch)
            if (contains(contract, axis)) refuse(c, "axis " + std::to_string(axis) + " of " + x.str() + " is both batching and contracted");
    };
    side(a, d.lhs_batch, d.lhs_contract, "axis of the left operand");
    side(b, d.rhs_batch, d.rhs_contract, "axis of the right operand");
    const auto pairs = [&](const Dims& left, const Dims& right) {
        bool equal = left.size() == right.size();
        for (std::size_t i = 0; equal && i < left.size(); ++i)
            equal = a.shape()[static_cast<std::size_t>(left[i])] == b.shape()[static_cast<std::size_t>(right[i])];
        if (!equal)
            refuse(c, "axes " + text_of(left) + " of " + a.str() + " and " + text_of(right) + " of " + b.str() +
                          " differ in extent, expected equal ones");
    };
    pairs(d.lhs_batch, d.rhs_batch);
    pairs(d.lhs_contract, d.rhs_contract);
    Dims shape;
    for (std::int64_t axis : d.lhs_batch) shape.push_back(a.shape()[static_cast<std::size_t>(axis)]);
    for (std::int64_t axis : free_axes(a.rank(), d.lhs_batch, d.lhs_contract)) shape.push_back(a.shape()[static_cast<std::size_t>(axis)]);
    for (std::int64_t axis : free_axes(b.rank(), d.rhs_batch, d.rhs_contract)) shape.push_back(b.shape()[static_cast<std::size_t>(axis)]);
    const DType dtype = c.declared.empty() ? a.dtype() : c.declared[0].dtype();
    Type result(dtype, Shape(std::move(shape)));
    expect_extents(c, result);
    return {std::move(result)};
}

Value product(const Op& op, Builder& builder, Value a, Value b, const Type& result) {
    const Value operands[] = {a, b};
    return emit1(builder, OpCode::dot_general, operands, op.attr, {}, {&result, 1});
}

Values jvp_dot(const JvpContext& c) {
    const Type result = c.results[0].type();
    Value t;
    if (c.tangents[0]) t = product(c.op, c.builder, c.tangents[0], c.operands[1], result);
    if (c.tangents[1]) t = add_any(t, product(c.op, c.builder, c.operands[0], c.tangents[1], result));
    return {t};
}

Dims range_of(std::size_t first, std::size_t count) {
    Dims dims;
    for (std::size_t i = 0; i < count; ++i) dims.push_back(static_cast<std::int64_t>(first + i));
    return dims;
}

/// Whether reading axes `where[i]` of a product gives it as it is.
bool is_in_order(const Dims& where) { return where == range_of(0, where.size()); }

/// Cotangent of one side. `known` is the other side's value; its free axes are contracted with the cotangent's.
Value transpose_side(Value ct, Value known, const Type& side, const Dims& batch, const Dims& contract, const Dims& known_batch,
                     const Dims& known_contract, std::size_t ct_free_first) {
    const Dims known_free = free_axes(known.rank(), known_batch, known_contract), free = free_axes(side.rank(), batch, contract);
    const Dims ct_batch = range_of(0, batch.size()), ct_contract = range_of(ct_free_first, known_free.size());
    known = convert(known, ct.dtype());
    Dims sorted = known_contract; // the known side's contracted axes stand in a product in the order of its axes
    std::sort(sorted.begin(), sorted.end());
    // where each axis of the side stands in the product: batch, then the cotangent's and the known side's axes, or the other way round
    const auto places = [&](bool ct_first) {
        Dims where(side.rank(), 0);
        std::int64_t at = 0;
        for (std::int64_t axis : batch) where[static_cast<std::size_t>(axis)] = at++;
        const auto put_free = [&] {
            for (std::int64_t axis : free) where[static_cast<std::size_t>(axis)] = at++;
        };
        if (ct_first) put_free();
        for (std::int64_t k : sorted) {
            const auto i = static_cast<std::size_t>(std::find(known_contract.begin(), known_contract.end(), k) - known_contract.begin());
            where[static_cast<std::size_t>(contract[i])] = at++;
        }
        if (!ct_first) put_free();
        return where;
    };
    const bool ct_first = is_in_order(places(true)) || !is_in_order(places(false)); // no transposition where one order needs none
    ir::DotAttr d;
    if (ct_first)
        d = {ct_batch, known_batch, ct_contract, known_free};
    else
        d = {known_batch, ct_batch, known_free, ct_contract};
    const Value raw = ct_first ? dot_general(ct, known, d) : dot_general(known, ct, d);
    const Dims where = places(ct_first);
    return convert(is_in_order(where) ? raw : transpose(raw, where), side.dtype());
}

Values transpose_dot(const TransposeContext& c) {
    const auto& d = c.op.get<ir::DotAttr>();
    const Value ct = c.cotangents[0];
    Values out(2);
    const std::size_t batch = d.lhs_batch.size();
    const std::size_t lhs_free = c.types[0].rank() - batch - d.lhs_contract.size();
    if (c.linear[0])
        out[0] = transpose_side(ct, c.operands[1], c.types[0], d.lhs_batch, d.lhs_contract, d.rhs_batch, d.rhs_contract, batch + lhs_free);
    if (c.linear[1])
        out[1] = transpose_side(ct, c.operands[0], c.types[1], d.rhs_batch, d.rhs_contract, d.lhs_batch, d.lhs_contract, batch);
    return out;
}

Values batch_dot(const BatchContext& c) {
    c.out_batched[0] = true;
    ir::DotAttr d = c.op.get<ir::DotAttr>();
    const std::int64_t left = c.batched[0] ? 1 : 0, right = c.batched[1] ? 1 : 0;
    d.lhs_batch = shifted(d.lhs_batch, left);
    d.lhs_contract = shifted(d.lhs_contract, left);
    d.rhs_batch = shifted(d.rhs_batch, right);
    d.rhs_contract = shifted(d.rhs_contract, right);
    const std::size_t batches = d.lhs_batch.size();
    std::size_t where = 0; // the batch's axis in the product
    if (left && right) {
        d.lhs_batch.insert(0, 0);
        d.rhs_batch.insert(0, 0);
    } else {
        where = left ? batches : batches + (c.operands[0].rank() - batches - d.lhs_contract.size());
    }
    const Type declared = c.result_types[0];
    const Value out = emit1(c.builder, OpCode::dot_general, c.operands, ir::make_attr(d), {}, {&declared, 1});
    return {move_axis(out, static_cast<std::int64_t>(where), 0)};
}
} // namespace

Rule find_dot(OpCode code) {
    if (code != OpCode::dot_general) return {};
    return {infer_dot, jvp_dot, transpose_dot, batch_dot};
}

} // namespace stithy::ops
