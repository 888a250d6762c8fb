#include "stithy/vmap.hpp"

#include "array/bind.hpp"
#include "stithy/creation.hpp"
#include "stithy/shaping.hpp"
#include "trace/replay.hpp"
#include "trace/staging.hpp"
#include "transform/vmap.hpp"

namespace stithy::detail {

namespace {

/// The array with the examples' axis in front; checks it and the number of examples.
Array to_front(const Array& x, int axis, std::size_t position, std::int64_t& size) {
    const ArrayNode& n = node_of(x, "vmap");
    const int rank = static_cast<int>(n.shape().rank());
    const int at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        fail("vmap", "axis " + std::to_string(axis) + " for array " + std::to_string(position) + " of the arguments, " + n.type().str(),
             n.location());
    const std::int64_t extent = n.shape()[static_cast<std::size_t>(at)];
    if (size >= 0 && extent != size)
        fail("vmap",
             "mapped axes of extents " + std::to_string(size) + " and " + std::to_string(extent) + " (array " + std::to_string(position) +
                 ", " + n.type().str() + ")",
             n.location());
    size = extent;
    return at == 0 ? x : moveaxis(x, at, 0);
}

} // namespace

std::vector<Array> map_examples(const std::vector<Array>& inputs, const std::vector<int>& axes, int out_axis, ArraysFunction f) {
    std::int64_t size = -1;
    Arrays arguments;
    std::vector<bool> batched;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        batched.push_back(axes[i] != unmapped);
        arguments.push_back(batched[i] ? to_front(inputs[i], axes[i], i, size) : inputs[i]);
    }
    if (size < 0) fail("vmap", "no argument is mapped");
    auto staging = make_ref<StagingTrace>("vmap");
    ir::FunctionPtr function;
    {
        TraceScope scope(*staging);
        Arrays examples;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            ir::Type t = node(arguments[i]).type();
            if (batched[i]) {
                Dims dims = t.shape().dims();
                dims.erase(0);
                t = ir::Type(t.dtype(), Shape(std::move(dims)));
            }
            examples.push_back(staging->parameter(t, node(arguments[i]).location()));
        }
        const Arrays results = f(examples);
        staging->take_results(results);
        function = staging->finish(results);
    }
    for (const Array& x : staging->captures()) {
        arguments.push_back(x);
        batched.push_back(false);
    }
    const std::vector<bool> all(function->results().size(), true);
    const ir::FunctionPtr mapped = transform::vmap(function, batched, size, all).function;
    Arrays out = replay(mapped, std::move(arguments));
    if (out_axis != 0)
        for (Array& x : out) x = moveaxis(x, 0, out_axis);
    return out;
}

Array basis(const Array& x) {
    const ArrayNode& n = node_of(x, "jacobian");
    const std::int64_t size = n.shape().elements();
    Dims dims = n.shape().dims();
    dims.insert(0, size);
    return reshape(eye(size, n.dtype()), Shape(std::move(dims)));
}

Array columns_to_jacobian(const Array& rows, const Array& x) {
    Dims dims = rows.shape().dims();
    dims.erase(0);
    for (std::int64_t e : x.shape()) dims.push_back(e);
    return reshape(moveaxis(rows, 0, -1), Shape(std::move(dims)));
}

Array rows_to_jacobian(const Array& rows, const Shape& out) {
    Dims dims = out.dims();
    for (std::size_t i = 1; i < rows.shape().rank(); ++i) dims.push_back(rows.shape()[i]);
    return reshape(rows, Shape(std::move(dims)));
}

} // namespace stithy::detail
