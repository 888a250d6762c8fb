#include "stithy/products.hpp"

#include "array/axes.hpp"
#include "array/elementwise.hpp"
#include "array/numbers.hpp"
#include "array/shapes.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/reductions.hpp"
#include "stithy/shaping.hpp"

#include <string>

namespace stithy {

using detail::node;
using detail::to_array;

namespace {
struct Pair {
    Array a, b;
};

/// Both in their common dtype.
Pair meet(const Operand& a, const Operand& b, const char* name) {
    for (const Operand* o : {&a, &b})
        if (!o->is_number()) detail::node_of(o->array(), name, a.location());
    const Operand* operands[] = {&a, &b};
    const DType d = detail::common_dtype(operands);
    return {to_array(a, d, name), to_array(b, d, name)};
}

Array contract(const Array& a, const Array& b, const ir::DotAttr& dims, const Location& at) {
    return detail::bind1(ir::OpCode::dot_general, {a, b}, ir::make_attr(dims), at);
}

[[noreturn]] void fail_contraction(const char* name, const Array& a, const Array& b, const std::string& why, const Location& at) {
    fail(name, node(a).type().str() + " with " + node(b).type().str() + ": " + why, at);
}

std::string axis_text(std::size_t axis, const Shape& shape) {
    return "axis " + std::to_string(axis) + " of extent " + std::to_string(shape[axis]);
}

/// Both have batches: they are stretched to common ones.
Array batched_product(Array a, Array b, const Location& at) {
    const Shape sa = a.shape(), sb = b.shape();
    const std::size_t ra = sa.rank(), rb = sb.rank();
    Shape batch, other;
    for (std::size_t i = 0; i + 2 < ra; ++i) batch.dims().push_back(sa[i]);
    for (std::size_t i = 0; i + 2 < rb; ++i) other.dims().push_back(sb[i]);
    if (!detail::broadcast_shapes(batch, other)) fail_contraction("matmul", a, b, "the batch axes do not broadcast", at);
    const auto with_batch = [&](const Array& x, const Shape& s) {
        Shape shape = batch;
        for (std::size_t i = s.rank() - 2; i < s.rank(); ++i) shape.dims().push_back(s[i]);
        return detail::stretch(x, shape, "matmul", at);
    };
    a = with_batch(a, sa);
    b = with_batch(b, sb);
    const auto n = static_cast<std::int64_t>(batch.rank());
    const Dims axes = detail::all_axes(batch.rank());
    return contract(a, b, {axes, axes, Dims(1, n + 1), Dims(1, n)}, at);
}

Array matrix_product(const Array& a, const Array& b, const Location& at) {
    const Shape &sa = a.shape(), &sb = b.shape();
    if (sa.rank() == 0 || sb.rank() == 0) fail_contraction("matmul", a, b, "rank 0 has no axis to sum over; use *", at);
    const std::size_t ka = sa.rank() - 1, kb = sb.rank() == 1 ? 0 : sb.rank() - 2;
    if (sa[ka] != sb[kb])
        fail_contraction("matmul", a, b,
                         axis_text(ka, sa) + " of the left is summed with " + axis_text(kb, sb) + " of the right; they must be equal", at);
    const Dims sum_a(1, static_cast<std::int64_t>(ka)), sum_b(1, static_cast<std::int64_t>(kb));
    if (sb.rank() <= 2) return contract(a, b, {{}, {}, sum_a, sum_b}, at);
    // With b alone batched: [k] gives [batch, m]; [n, k] gives [batch, m, n], turned round.
    if (sa.rank() == 1) return contract(b, a, {{}, {}, sum_b, sum_a}, at);
    if (sa.rank() == 2) return swapaxes({contract(b, a, {{}, {}, sum_b, sum_a}, at), at}, -1, -2);
    return batched_product(a, b, at);
}
} // namespace

Array matmul(const Operand& a, const Operand& b) {
    const Pair p = meet(a, b, "matmul");
    return matrix_product(p.a, p.b, a.location());
}

Array dot(const Operand& a, const Operand& b) {
    const Pair p = meet(a, b, "dot");
    const Location& at = a.location();
    const Shape &sa = p.a.shape(), &sb = p.b.shape();
    if (sa.rank() == 0 || sb.rank() == 0) return Operand(p.a, at) * Operand(p.b, at);
    const std::size_t ka = sa.rank() - 1, kb = sb.rank() == 1 ? 0 : sb.rank() - 2;
    if (sa[ka] != sb[kb])
        fail_contraction("dot", p.a, p.b, axis_text(ka, sa) + " is summed with " + axis_text(kb, sb) + "; they must be equal", at);
    return contract(p.a, p.b, {{}, {}, Dims(1, static_cast<std::int64_t>(ka)), Dims(1, static_cast<std::int64_t>(kb))}, at);
}

Array inner(const Operand& a, const Operand& b) {
    const Pair p = meet(a, b, "inner");
    const Location& at = a.location();
    const Shape &sa = p.a.shape(), &sb = p.b.shape();
    if (sa.rank() == 0 || sb.rank() == 0) return Operand(p.a, at) * Operand(p.b, at);
    if (sa[sa.rank() - 1] != sb[sb.rank() - 1]) fail_contraction("inner", p.a, p.b, "the last axes must have equal extents", at);
    return contract(p.a, p.b,
                    {{}, {}, Dims(1, static_cast<std::int64_t>(sa.rank()) - 1), Dims(1, static_cast<std::int64_t>(sb.rank()) - 1)}, at);
}

Array outer(const Operand& a, const Operand& b) {
    const Pair p = meet(a, b, "outer");
    const Location& at = a.location();
    const Array column = detail::reshaped(p.a, Shape({p.a.size(), std::int64_t{1}}), at),
                row = detail::reshaped(p.b, Shape({std::int64_t{1}, p.b.size()}), at);
    return Operand(column, at) * Operand(row, at);
}

Array tensordot(const Operand& a, const Operand& b, int axes) {
    const Pair p = meet(a, b, "tensordot");
    const Location& at = a.location();
    const auto n = static_cast<std::size_t>(std::max(axes, 0));
    const Shape &sa = p.a.shape(), &sb = p.b.shape();
    if (axes < 0 || n > sa.rank() || n > sb.rank())
        fail_contraction("tensordot", p.a, p.b, "there are no " + std::to_string(axes) + " axes to sum over", at);
    ir::DotAttr dims;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t left = sa.rank() - n + i;
        if (sa[left] != sb[i])
            fail_contraction("tensordot", p.a, p.b, axis_text(left, sa) + " is summed with " + axis_text(i, sb) + "; they must be equal",
                             at);
        dims.lhs_contract.push_back(static_cast<std::int64_t>(left));
        dims.rhs_contract.push_back(static_cast<std::int64_t>(i));
    }
    return contract(p.a, p.b, dims, at);
}

Array trace(const Operand& x) {
    const Location& at = x.location();
    const Array a = to_array(x);
    const std::size_t rank = a.shape().rank();
    if (rank < 2) fail("trace", "needs rank 2 or more, given " + node(a).type().str(), at);
    const Shape last({a.shape()[rank - 2], a.shape()[rank - 1]});
    const Array on = Operand(detail::counter(i64, last, 0, at), at) == Operand(detail::counter(i64, last, 1, at), at);
    return sum({where({on, at}, {a, at}, {0, at}), at}, {-2, -1});
}

} // namespace stithy
