// scatter: updates windows of inputs at places that an array of indices gives, in the order of the updates; elements that would lie outside
// are dropped.
#include "ops/axes.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"
#include "ops/region_jvp.hpp"
#include "ops/windows.hpp"

#include <algorithm>

namespace stithy::ops {

namespace {

void expect_dimensions(const InferContext& c, const Type& x, const Type& indices, const Type& updates) {
    const auto& s = c.get<ir::ScatterAttr>();
    if (!indices.dtype().is_integer()) refuse(c, "indices " + indices.str() + ", expected integers");
    if (s.index_vector_dim < 0 || s.index_vector_dim > static_cast<std::int64_t>(indices.rank()))
        refuse(c, "index_vector_dim " + std::to_string(s.index_vector_dim) + " for indices " + indices.str());
    const bool scalar = static_cast<std::size_t>(s.index_vector_dim) == indices.rank();
    const std::int64_t components = scalar ? 1 : indices.shape()[static_cast<std::size_t>(s.index_vector_dim)];
    if (static_cast<std::int64_t>(s.scatter_dims_to_operand_dims.size()) != components)
        refuse(c, "scatter_dims_to_operand_dims " + text_of(s.scatter_dims_to_operand_dims) + ", expected " + std::to_string(components) +
                      " entries");
    expect_axes(c, s.scatter_dims_to_operand_dims, x.rank(), "scatter_dims_to_operand_dims");
    expect_axes(c, s.inserted_window_dims, x.rank(), "inserted_window_dims");
    expect_axes(c, s.input_batching_dims, x.rank(), "input_batching_dims");
    expect_axes(c, s.scatter_indices_batching_dims, indices.rank(), "scatter_indices_batching_dims");
    expect_axes(c, s.update_window_dims, updates.rank(), "update_window_dims");
    if (s.input_batching_dims.size() != s.scatter_indices_batching_dims.size())
        refuse(c, "input_batching_dims " + text_of(s.input_batching_dims) + " and scatter_indices_batching_dims " +
                      text_of(s.scatter_indices_batching_dims));
    for (std::size_t i = 0; i < s.input_batching_dims.size(); ++i)
        if (x.shape()[static_cast<std::size_t>(s.input_batching_dims[i])] !=
            indices.shape()[static_cast<std::size_t>(s.scatter_indices_batching_dims[i])])
            refuse(c, "batching dimensions of input " + x.str() + " and indices " + indices.str() + " differ");
    if (x.rank() != s.update_window_dims.size() + s.inserted_window_dims.size() + s.input_batching_dims.size())
        refuse(c, "update_window_dims " + text_of(s.update_window_dims) + " and inserted_window_dims " + text_of(s.inserted_window_dims) +
                      " do not make up the rank of " + x.str());
    if (updates.rank() != indices.rank() - (scalar ? 0 : 1) + s.update_window_dims.size())
        refuse(c,
               "updates " + updates.str() + " for indices " + indices.str() + " and update_window_dims " + text_of(s.update_window_dims));
    const Dims window = scatter_window(s, x, updates);
    for (std::size_t i = 0; i < x.rank(); ++i)
        if (window[i] > x.shape()[i] && window[i] > 1)
            refuse(c, "windows of updates " + updates.str() + " do not fit into input " + x.str());
    std::size_t next = 0;
    for (std::size_t i = 0; i < updates.rank(); ++i) {
        if (contains(s.update_window_dims, static_cast<std::int64_t>(i))) continue;
        if (next == static_cast<std::size_t>(s.index_vector_dim)) ++next;
        if (updates.shape()[i] != indices.shape()[next++]) refuse(c, "updates " + updates.str() + " do not match indices " + indices.str());
    }
}

Types infer_scatter(const InferContext& c) {
    expect_tensors(c);
    const std::size_t n = c.operands.size() / 2;
    if (c.operands.size() < 3 || c.operands.size() % 2 != 1) refuse(c, "expected inputs, indices and as many updates as inputs");
    if (c.regions.size() != 1 || c.regions[0]->parameter_count() != 2 * n || c.regions[0]->results().size() != n)
        refuse(c, "the region does not take and give one value per input");
    Types types;
    for (std::size_t k = 0; k < n; ++k) {
        const Type &x = c.operands[k], &updates = c.operands[n + 1 + k];
        if (!(x.shape() == c.operands[0].shape()) || !(updates.shape() == c.operands[n + 1].shape()) || !(x.dtype() == updates.dtype()))
            refuse(c, "inputs and updates " + text_of(c.operands) + ", expected one shape each and equal dtypes");
        const Type expected(x.dtype(), Shape{});
        for (const Type& t : {c.regions[0]->type(static_cast<ValueId>(k)), c.regions[0]->type(static_cast<ValueId>(n + k)),
                              c.regions[0]->type(c.regions[0]->results()[k])})
            if (!(t == expected)) refuse(c, "the region works on " + t.str() + ", expected " + expected.str());
        types.push_back(x);
    }
    expect_dimensions(c, c.operands[0], c.operands[n], c.operands[n + 1]);
    return types;
}

/// What the rules below see of a scatter with one input.
struct One {
    const ir::ScatterAttr& s;
    Value x, indices, updates;
    Builder& builder;
    const Op& op;

    [[nodiscard]] Value scatter(OpCode combine, Value into, Value values) const {
        return emit1(builder, OpCode::scatter, {into, indices, values}, op.attr, {combiner_region(combine, into.dtype())});
    }
    [[nodiscard]] Value set(Value into, Value values) const {
        return emit1(builder, OpCode::scatter, {into, indices, values}, op.attr, {second_region(into.dtype())});
    }
    /// What the input's places that updates go to hold (anything where an update is dropped).
    [[nodiscard]] Value read(Value from) const { return read_windows(from, indices, s, updates.type()); }
    [[nodiscard]] Value inside() const { return updates_inside(indices, s, x.type(), updates.type()); }
};

bool is_set(const ir::Function& region) { return region.parameter_count() == 2 && region.ops().empty() && region.results()[0] == 1; }

Value either(Value tangent, Value primal) { return tangent ? tangent : zeros_like(primal); }

/// The product of the updates that are zero at each place, from how many there are and the sums of their powers (Newton's identities): its
/// value and its derivatives are right up to the third, which is as many zeros as it tells apart.
struct ZeroProduct {
    Value value, tangent;
};

ZeroProduct product_of_zeros(const One& o, Value is_zero, Value tu) {
    const Value none = zeros_like(o.x);
    const auto sum = [&](Value values) { return o.scatter(OpCode::add, none, values); };
    const Value n = sum(convert(is_zero, o.x.dtype()));
    const Value z = select(is_zero, o.updates, 0.0), dz = select(is_zero, tu, 0.0);
    const Value p1 = sum(z), p2 = sum(z * z), p3 = sum(z * z * z);
    const Value d1 = sum(dz), d2 = 2.0 * sum(dz * z), d3 = 3.0 * sum(dz * (z * z));
    const auto by_count = [&](Value zero, Value one, Value two, Value three) {
        const auto at = [&](double count, Value here, Value other) { return select(compare(n, count, ir::Direction::eq), here, other); };
        return at(0, zero, at(1, one, at(2, two, at(3, three, none))));
    };
    return {by_count(full_like(none, 1), p1, (p1 * p1 - p2) * 0.5, (p1 * p1 * p1 - 3.0 * (p1 * p2) + 2.0 * p3) * (1.0 / 6.0)),
            by_count(none, d1, d1 * p1 - d2 * 0.5, (d1 * (p1 * p1 - p2) - d2 * p1) * 0.5 + d3 * (1.0 / 3.0))};
}

/// Product: each update's coefficient is the product of what else went to its place. Zeros are a factor of their own, so that nothing is
/// divided by zero and a product of several zeros has its second derivative.
Value jvp_multiply(const One& o, Value tx, Value tu) {
    const Value ones = full_like(o.x, 1);
    Value t;
    if (tx) t = tx * o.scatter(OpCode::multiply, ones, o.updates);
    if (!tu) return t;
    if (o.s.unique_indices) return add_any(t, o.scatter(OpCode::add, zeros_like(o.x), tu * o.read(o.x)));
    const Value is_zero = compare(o.updates, 0.0, ir::Direction::eq);
    const Value safe = select(is_zero, full_like(o.updates, 1), o.updates);
    const Value others = o.scatter(OpCode::multiply, ones, safe);
    const Value d_others = o.scatter(OpCode::add, zeros_like(o.x), select(is_zero, 0.0, tu) * (o.read(others) / safe));
    const ZeroProduct zero = product_of_zeros(o, is_zero, tu);
    return add_any(t, (d_others * zero.value + zero.tangent * others) * o.x);
}

/// Minimum and maximum: those that equal the result share its tangent evenly.
Value jvp_extremum(const One& o, Value y, Value tx, Value tu) {
    const Value hit_x = compare(o.x, y, ir::Direction::eq), hit_u = compare(o.updates, o.read(y), ir::Direction::eq);
    const Value hits = o.scatter(OpCode::add, convert(hit_x, o.x.dtype()), convert(hit_u, o.x.dtype()));
    Value t;
    if (tx) t = select(hit_x, tx, 0.0); // a product would make NaN of an infinity on the losing side
    if (tu) t = add_any(t, o.scatter(OpCode::add, zeros_like(o.x), select(hit_u, tu, 0.0)));
    return t / hits;
}

Values jvp_any_region(const JvpContext& c) {
    const std::size_t n = c.operands.size() / 2;
    SmallVector<Value, 8> operands;
    for (std::size_t i = 0; i < n; ++i) operands.push_back(c.operands[i]);
    for (std::size_t i = 0; i < n; ++i) operands.push_back(either(c.tangents[i], c.operands[i]));
    operands.push_back(c.operands[n]);
    for (std::size_t i = n + 1; i < 2 * n + 1; ++i) operands.push_back(c.operands[i]);
    for (std::size_t i = n + 1; i < 2 * n + 1; ++i) operands.push_back(either(c.tangents[i], c.operands[i]));
    const Values both = emit(c.builder, OpCode::scatter, operands, c.op.attr, {dual_region(*c.op.regions[0])});
    Values out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(is_differentiable(c.results[i].type()) ? both[n + i] : Value());
    return out;
}

Values jvp_scatter(const JvpContext& c) {
    if (c.operands.size() != 3) return jvp_any_region(c);
    const One o{c.op.get<ir::ScatterAttr>(), c.operands[0], c.operands[1], c.operands[2], c.builder, c.op};
    const Value tx = c.tangents[0], tu = c.tangents[2];
    if (is_set(*c.op.regions[0])) return {o.set(either(tx, o.x), either(tu, o.updates))};
    const auto combine = combiner_of(*c.op.regions[0]);
    if (!combine) return jvp_any_region(c);
    switch (*combine) {
    case OpCode::add:
    case OpCode::subtract: return {tu ? o.scatter(*combine, either(tx, o.x), tu) : tx};
    case OpCode::multiply: return {jvp_multiply(o, tx, tu)};
    case OpCode::minimum:
    case OpCode::maximum: return {jvp_extremum(o, c.results[0], tx, tu)};
    default: return jvp_any_region(c);
    }
}

/// Whether each update is the one that its place kept: the last of those that went there.
Value is_winner(const One& o, Value inside) {
    const Shape shape = o.updates.shape();
    const Value numbers = reshape(iota(o.builder, Type(i64, Shape{shape.elements()}), 0), shape) + 1.0;
    const Value kept = o.set(zeros(o.builder, Type(i64, o.x.shape())), numbers);
    return and_(inside, compare(o.read(kept), numbers, ir::Direction::eq));
}

Values transpose_scatter(const TransposeContext& c) {
    const auto combine = combiner_of(*c.op.regions[0]);
    const bool set = is_set(*c.op.regions[0]);
    if (c.operands.size() != 3 || (!set && combine != OpCode::add && combine != OpCode::subtract))
        fail("scatter",
             "an update with a region of its own differentiates forwards only (jvp, jacfwd); set, add, subtract, multiply, min and max "
             "differentiate in reverse",
             c.op.location);
    const Value ct = c.cotangents[0];
    // the values of linear operands are not there: their types stand in as zeros
    const One o{c.op.get<ir::ScatterAttr>(), ct, c.operands[1], zeros(c.builder, c.types[2]), c.builder, c.op};
    Values out(3);
    if (c.linear[0]) out[0] = set ? o.set(ct, o.updates) : ct;
    if (c.linear[2]) {
        const Value inside = o.inside();
        const Value mask = set && !o.s.unique_indices ? is_winner(o, inside) : inside;
        out[2] = select(mask, o.read(combine == OpCode::subtract ? -ct : ct), 0.0);
    }
    return out;
}

Values batch_scatter(const BatchContext& c) {
    const std::size_t n = c.operands.size() / 2;
    const ir::ScatterAttr s = batched_scatter(c.op.get<ir::ScatterAttr>(), c.batched[n]); // one batch axis either way
    SmallVector<Value, 4> operands;
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        operands.push_back(i == n || c.batched[i] ? c.operands[i] : broadcast_batch(c.operands[i], c.size));
    for (std::size_t i = 0; i < n; ++i) c.out_batched[i] = true;
    return emit(c.builder, OpCode::scatter, operands, ir::make_attr(s), c.op.regions);
}
} // namespace

Rule find_scatter(OpCode code) {
    if (code != OpCode::scatter) return {};
    return {infer_scatter, jvp_scatter, transpose_scatter, batch_scatter};
}

} // namespace stithy::ops
