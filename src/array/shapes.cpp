#include "array/shapes.hpp"

#include "array/axes.hpp"
#include "array/eager.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"

namespace stithy::detail {

using ir::OpCode;

void check_extents(const char* name, DType dtype, const Shape& shape, const Location& at) {
    if (const char* fault = ops::fault_of_extents(dtype, shape))
        fail(name, "the shape of " + ir::Type(dtype, shape).str() + " " + fault, at);
}

Array reshaped(const Array& x, const Shape& shape, const Location& at) {
    if (node(x).shape() == shape) return x;
    return bind_as({node(x).dtype(), shape}, OpCode::reshape, {x}, nullptr, at);
}

Array permuted(const Array& x, const Dims& permutation, const Location& at) {
    if (permutation == all_axes(permutation.size())) return x;
    return bind1(OpCode::transpose, {x}, ir::make_attr(ir::DimsAttr{permutation}), at);
}

Array moved(const Array& x, std::int64_t from, std::int64_t to, const Location& at) {
    Dims order = all_axes(node(x).shape().rank());
    order.erase(static_cast<std::size_t>(from));
    order.insert(static_cast<std::size_t>(to), from);
    return permuted(x, order, at);
}

Array sliced(const Array& x, const Dims& start, const Dims& limit, const Dims& stride, const Location& at) {
    const Shape& shape = node(x).shape();
    bool whole = true;
    for (std::size_t i = 0; i < shape.rank(); ++i) whole = whole && start[i] == 0 && limit[i] == shape[i] && stride[i] == 1;
    if (whole) return x;
    return bind1(OpCode::slice, {x}, ir::make_attr(ir::SliceAttr{start, limit, stride}), at);
}

Array sliced(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t limit, const Location& at) {
    Dims starts(node(x).shape().rank(), 0), limits = node(x).shape().dims();
    starts[static_cast<std::size_t>(axis)] = start;
    limits[static_cast<std::size_t>(axis)] = limit;
    return sliced(x, starts, limits, Dims(starts.size(), 1), at);
}

Array padded(const Array& x, const Array& value, const Dims& low, const Dims& high, const Dims& interior, const Location& at) {
    return bind1(OpCode::pad, {x, value}, ir::make_attr(ir::PadAttr{low, high, interior}), at);
}

Array joined(std::span<const Array> parts, std::int64_t axis, const Location& at) {
    if (parts.size() == 1) return parts[0];
    return bind1({.code = OpCode::concatenate,
                  .operands = parts,
                  .attr = ir::make_attr(ir::DimAttr{axis}),
                  .regions = {},
                  .declared = {},
                  .location = at});
}

Array counter(DType dtype, const Shape& shape, std::int64_t axis, const Location& at) {
    return bind_as({dtype, shape}, OpCode::iota, {}, ir::make_attr(ir::DimAttr{axis}), at);
}

Array scalar(DType dtype, std::int64_t value, const Location& at) {
    return constant(ir::Literal::splat(ir::Type(dtype, Shape()), value), at);
}

namespace {
/// The program holds its identity itself.
Array reduced_now(OpCode combine, const Array& x, const Dims& axes, const Location& at) {
    const ArrayNode& n = node(x);
    Key key;
    key.add(static_cast<std::uint64_t>(OpCode::reduce) | std::uint64_t{2} << 16 | static_cast<std::uint64_t>(combine) << 24);
    key.add(n.dtype(), n.shape());
    key.add(axes);
    const Ref<EagerProgram> program = eager_program(key, 0, [&] {
        ops::LocationScope location(at);
        ir::Builder builder("reduce");
        const ops::Value parameter(builder, builder.parameter(n.type()));
        return builder.finish({ops::reduce(combine, parameter, axes).id()});
    });
    Ref<runtime::Buffer> input = n.buffer();
    Array result;
    run_program(*program, {&input, 1}, 0, {&result, 1}, at);
    return result;
}
} // namespace

Array reduced(OpCode combine, const Array& x, const Dims& axes, bool keep, const Location& at) {
    const ArrayNode& n = node(x);
    Array result = x;
    if (!axes.empty()) {
        if (!join_trace(innermost_staging(), x, "reduce", at)) {
            result = reduced_now(combine, x, axes, at);
            return keep ? reshaped(result, without_axes(n.shape(), axes, true), at) : result;
        }
        const Array operands[] = {x, constant(ops::identity_literal(combine, n.dtype()), at)};
        const ir::FunctionPtr region = ops::combiner_region(combine, n.dtype());
        result = bind1({.code = OpCode::reduce,
                        .operands = operands,
                        .attr = ir::make_attr(ir::DimsAttr{axes}),
                        .regions = {&region, 1},
                        .declared = {},
                        .location = at});
    }
    return keep ? reshaped(result, without_axes(n.shape(), axes, true), at) : result;
}

} // namespace stithy::detail
