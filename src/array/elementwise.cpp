#include "array/elementwise.hpp"

#include "array/eager.hpp"
#include "array/numbers.hpp"
#include "array/shapes.hpp"
#include "ops/build.hpp"

#include <algorithm>

namespace stithy::detail {

using Request = Elementwise;

bool broadcast_shapes(Shape& into, const Shape& other) {
    while (into.rank() < other.rank()) into.dims().insert(0, 1);
    const std::size_t shift = into.rank() - other.rank();
    for (std::size_t i = 0; i < other.rank(); ++i) {
        std::int64_t& extent = into.dims()[shift + i];
        if (extent == other[i] || other[i] == 1) continue;
        if (extent != 1) return false;
        extent = other[i];
    }
    return true;
}

namespace {
const Location& location_of(const Request& r) { return r.operands[0]->location(); }

Shape result_shape(const Request& r) {
    Shape shape;
    for (const Operand* o : r.operands) {
        if (o->is_number() || broadcast_shapes(shape, o->array().shape())) continue;
        std::string text = "the shapes do not broadcast:";
        for (const Operand* each : r.operands) text += " " + (each->is_number() ? "a number" : node(each->array()).type().str());
        fail(r.name, text + "; extents must be equal or 1, counted from the last axis", location_of(r));
    }
    check_extents(r.name, f64, shape, location_of(r));
    return shape;
}

constexpr std::int64_t small_splat = 64; // elements; a smaller one is filled once and used like any array

/// The operand enters the program as one rank-0 element: a number, or a splat array that is not worth its memory.
bool is_single(const Operand& o) {
    return o.is_number() || (node(o.array()).is_splat() && node(o.array()).shape().elements() > small_splat);
}
bool is_known(const Operand& o) { return o.is_number() || node(o.array()).is_splat(); }

ir::FunctionPtr make_function(const Request& r) {
    const Shape shape = result_shape(r);
    ops::LocationScope location(location_of(r));
    ir::Builder builder(r.name);
    ops::Values parameters;
    for (std::size_t i = 0; i < r.operands.size(); ++i) {
        const Operand& o = *r.operands[i];
        ir::Type type = is_single(o) ? ir::Type(r.dtypes[i], Shape()) : node(o.array()).type();
        parameters.emplace_back(builder, builder.parameter(std::move(type)));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        ops::Value& v = parameters[i];
        if (!(v.dtype() == r.dtypes[i])) v = ops::convert(v, r.dtypes[i]);
        if (!(v.shape() == shape)) v = ops::broadcast_to(v, shape);
    }
    ir::AttrPtr attr = r.code == ir::OpCode::compare ? ir::make_attr(r.compare) : nullptr;
    return builder.finish({ops::emit1(builder, r.code, parameters, std::move(attr)).id()});
}

/// Bits of a single element in the dtype that the operation wants.
std::uint64_t single_bits(const Request& r, std::size_t i) {
    const Operand& o = *r.operands[i];
    if (o.is_number()) return number_as(o, r.dtypes[i], r.name);
    return convert_bits(node(o.array()).dtype(), node(o.array()).splat_bits(), r.dtypes[i]);
}

/// Whether no other operand is the same array (`std::move(a) + a`).
bool is_only_mention(const Request& r, std::size_t i) {
    for (std::size_t k = 0; k < r.operands.size(); ++k)
        if (k != i && !r.operands[k]->is_number() && r.operands[k]->array().handle() == r.operands[i]->array().handle()) return false;
    return true;
}

/// Calls the program; dying operands get their buffers back should that throw.
Array call(const EagerProgram& program, const Request& r, std::span<Ref<runtime::Buffer>> inputs, std::uint64_t reusable) {
    Array result;
    try {
        run_program(program, inputs, reusable, {&result, 1}, location_of(r));
    } catch (...) {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if ((reusable >> i & 1) != 0 && inputs[i]) give_buffer_back(r.operands[i]->array(), std::move(inputs[i]));
        throw;
    }
    return result;
}

Array run_eagerly(const Request& r) {
    std::uint64_t in_place = 0;
    Key key;
    key.add(static_cast<std::uint64_t>(r.code) | r.operands.size() << 8 | std::uint64_t{1} << 16 |
            static_cast<std::uint64_t>(r.compare.direction) << 24 | static_cast<std::uint64_t>(r.compare.kind) << 32);
    for (std::size_t i = 0; i < r.operands.size(); ++i) {
        const Operand& o = *r.operands[i];
        const auto wanted = static_cast<std::uint64_t>(r.dtypes[i].code());
        if (o.is_number()) {
            key.add(wanted | std::uint64_t{1} << 40);
            continue;
        }
        const ArrayNode& n = node(o.array());
        key.add(n.dtype(), n.shape(), wanted | static_cast<std::uint64_t>(is_single(o)) << 9);
        if (o.dying() && !n.is_splat() && n.type().bytes() >= least_bytes_in_place && is_only_mention(r, i))
            in_place |= std::uint64_t{1} << i;
    }
    key.add(in_place);
    const Ref<EagerProgram> program = eager_program(key, in_place, [&] { return make_function(r); });

    Ref<runtime::Buffer> inputs[3];
    std::uint64_t reusable = 0;
    for (std::size_t i = 0; i < r.operands.size(); ++i) {
        const Operand& o = *r.operands[i];
        if (is_single(o)) {
            const std::uint64_t bits = single_bits(r, i);
            inputs[i] = runtime::Buffer::allocate(r.dtypes[i].size());
            __builtin_memcpy(inputs[i]->data(), &bits, r.dtypes[i].size());
            continue;
        }
        const bool dying = (in_place >> i & 1) != 0;
        inputs[i] = take_buffer(o.array(), dying);
        if (dying && inputs[i].get() != node(o.array()).buffer().get()) reusable |= std::uint64_t{1} << i;
    }
    return call(*program, r, {inputs, r.operands.size()}, reusable);
}

Array run_traced(const Request& r) {
    const Shape shape = result_shape(r);
    Array operands[3];
    for (std::size_t i = 0; i < r.operands.size(); ++i) {
        const Operand& o = *r.operands[i];
        if (is_known(o)) {
            operands[i] = make_splat(r.dtypes[i], shape, single_bits(r, i), o.location());
        } else {
            operands[i] = o.array().astype(r.dtypes[i], o.location());
            if (!(operands[i].shape() == shape)) operands[i] = stretch(operands[i], shape, r.name, location_of(r));
        }
    }
    ir::AttrPtr attr = r.code == ir::OpCode::compare ? ir::make_attr(r.compare) : nullptr;
    return bind1({.code = r.code,
                  .operands = {operands, r.operands.size()},
                  .attr = std::move(attr),
                  .regions = {},
                  .declared = {},
                  .location = location_of(r)});
}
} // namespace

Array elementwise(const Elementwise& request) {
    Trace* trace = innermost_staging();
    for (const Operand* o : request.operands)
        if (!o->is_number()) trace = join_trace(trace, o->array(), request.name, location_of(request));
    return trace ? run_traced(request) : run_eagerly(request);
}

Array elementwise_with_splats(const Operation& operation) {
    const std::span<const Array> arrays = operation.operands;
    if (!ir::is_elementwise(operation.code) || operation.code == ir::OpCode::convert) return {};
    const auto large = [](const Array& x) { return node(x).is_splat() && node(x).shape().elements() > small_splat; };
    if (!std::any_of(arrays.begin(), arrays.end(), large)) return {};
    const auto operand = [&](std::size_t i) { return Operand(arrays[std::min(i, arrays.size() - 1)], operation.location); };
    const Operand all[] = {operand(0), operand(1), operand(2)};
    const Operand* operands[] = {&all[0], &all[1], &all[2]};
    DType dtypes[3];
    for (std::size_t i = 0; i < arrays.size(); ++i) dtypes[i] = arrays[i].dtype();
    Request r{.name = ir::name(operation.code).data(),
              .code = operation.code,
              .operands = {operands, arrays.size()},
              .dtypes = {dtypes, arrays.size()}};
    if (operation.code == ir::OpCode::compare) r.compare = std::get<ir::CompareAttr>(*operation.attr);
    return run_eagerly(r);
}

Array unary(const char* name, ir::OpCode code, const Operand& x, bool floating) {
    const Operand* operands[] = {&x};
    DType dtype = x.is_number() ? x.number_dtype() : node_of(x.array(), name, x.location()).dtype();
    if (floating && !dtype.is_floating()) dtype = f64;
    return elementwise({.name = name, .code = code, .operands = operands, .dtypes = {&dtype, 1}});
}

namespace {
void check_defined(const char* name, const Operand& a, const Operand& b) {
    if (!a.is_number()) node_of(a.array(), name, a.location());
    if (!b.is_number()) node_of(b.array(), name, b.location());
}
} // namespace

Array binary(const char* name, ir::OpCode code, const Operand& a, const Operand& b, bool floating) {
    check_defined(name, a, b);
    const Operand* operands[] = {&a, &b};
    DType dtype = common_dtype(operands);
    if (floating && !dtype.is_floating()) dtype = f64;
    const DType dtypes[] = {dtype, dtype};
    return elementwise({.name = name, .code = code, .operands = operands, .dtypes = dtypes});
}

Array compare(const char* name, ir::Direction direction, const Operand& a, const Operand& b) {
    check_defined(name, a, b);
    const Operand* operands[] = {&a, &b};
    const DType dtype = common_dtype(operands);
    const DType dtypes[] = {dtype, dtype};
    return elementwise({.name = name,
                        .code = ir::OpCode::compare,
                        .operands = operands,
                        .dtypes = dtypes,
                        .compare = {direction, ir::CompareKind::number}});
}

Array to_array(const Operand& x) {
    if (!x.is_number()) {
        node_of(x.array(), "operand", x.location());
        return x.array();
    }
    Array made = make_splat(x.number_dtype(), Shape(), x.number_bits(), x.location());
    return innermost_staging() ? stage_splat(made, x.location()) : made;
}

Array to_array(const Operand& x, DType dtype, const char* name) {
    if (!x.is_number()) return node_of(x.array(), name, x.location()), x.array().astype(dtype, x.location());
    Array made = make_splat(dtype, Shape(), number_as(x, dtype, name), x.location());
    return innermost_staging() ? stage_splat(made, x.location()) : made;
}

Array stretch(const Array& x, const Shape& shape, const char* name, const Location& location) {
    const ArrayNode& n = node_of(x, name, location);
    if (n.shape() == shape) return x;
    Shape joined = n.shape();
    if (!broadcast_shapes(joined, shape) || !(joined == shape))
        fail(name, n.type().str() + " does not broadcast to " + shape.str(), location);
    check_extents(name, n.dtype(), shape, location);
    const std::size_t shift = shape.rank() - n.shape().rank();
    // broadcast_in_dim wants extents that are equal or 1, which NumPy's rule gives
    Dims dims;
    for (std::size_t i = 0; i < n.shape().rank(); ++i) dims.push_back(static_cast<std::int64_t>(shift + i));
    return bind_as({n.dtype(), shape}, ir::OpCode::broadcast_in_dim, {x}, ir::make_attr(ir::DimsAttr{dims}), location);
}

} // namespace stithy::detail
