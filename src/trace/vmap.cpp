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
Array to_front(const Array& x, int axis, std::size_t position, std::int64_t& size, const Location& at) {
    const ArrayNode& n = node(x);
    const int rank = static_cast<int>(n.shape().rank());
    const int from = axis < 0 ? axis + rank : axis;
    const std::string which = "array " + std::to_string(position) + " of the arguments, " + made_at(n);
    if (from < 0 || from >= rank)
        fail("vmap",
             "in_axes: axis " + std::to_string(axis) + " is out of range for " + which + ", of rank " + std::to_string(rank) +
                 "; `unmapped` stands for what all examples share",
             at);
    const std::int64_t extent = n.shape()[static_cast<std::size_t>(from)];
    if (size >= 0 && extent != size)
        fail("vmap",
             "mapped axes of extents " + std::to_string(size) + " and " + std::to_string(extent) + " (" + which + "), expected equal ones",
             at);
    size = extent;
    return from == 0 ? x : moveaxis({x, at}, from, 0);
}

void check_out_axis(const Array& x, std::size_t position, int out_axis, const Location& at) {
    const int rank = static_cast<int>(node(x).shape().rank()) + 1; // with the examples
    if (out_axis < -rank || out_axis >= rank)
        fail("vmap",
             "out_axis " + std::to_string(out_axis) + " is out of range for array " + std::to_string(position) + " of the result, " +
                 made_at(node(x)) + " for each example",
             at);
}

} // namespace

void check_in_axes(std::size_t given, std::size_t arguments, const std::source_location& location) {
    if (given != 0 && given != arguments)
        fail("vmap",
             "in_axes has " + std::to_string(given) + " entries, expected one for each of the " + std::to_string(arguments) + " arguments",
             location);
}

std::vector<Array> map_examples(const std::vector<Array>& inputs, const std::vector<int>& axes, int out_axis, ArraysFunction f,
                                const std::source_location& location) {
    std::int64_t size = -1;
    Arrays arguments;
    std::vector<bool> batched;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        check_usable(inputs[i], i, "the arguments", "vmap", location);
        batched.push_back(axes[i] != unmapped);
        arguments.push_back(batched[i] ? to_front(inputs[i], axes[i], i, size, location) : inputs[i]);
    }
    if (size < 0) fail("vmap", "no argument is mapped: every entry of in_axes is unmapped, or the arguments hold no array", location);
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
            examples.push_back(staging->parameter(t, location));
        }
        const Arrays results = f(examples);
        for (std::size_t r = 0; r < results.size(); ++r) {
            check_usable(results[r], r, "the result", "vmap", location);
            check_out_axis(results[r], r, out_axis, location);
        }
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
        for (Array& x : out) x = moveaxis({x, location}, 0, out_axis);
    return out;
}

Array basis(const Array& x, const std::source_location& location) {
    check_usable(x, "jacobian", location);
    const ArrayNode& n = node(x);
    const std::int64_t size = n.shape().elements();
    Dims dims = n.shape().dims();
    dims.insert(0, size);
    return reshape({eye(size, n.dtype(), location), location}, Shape(std::move(dims)));
}

Array columns_to_jacobian(const Array& rows, const Array& x, const std::source_location& location) {
    Dims dims = rows.shape().dims();
    dims.erase(0);
    for (std::int64_t e : x.shape()) dims.push_back(e);
    return reshape({moveaxis({rows, location}, 0, -1), location}, Shape(std::move(dims)));
}

Array rows_to_jacobian(const Array& rows, const Shape& out, const std::source_location& location) {
    Dims dims = out.dims();
    for (std::size_t i = 1; i < rows.shape().rank(); ++i) dims.push_back(rows.shape()[i]);
    return reshape({rows, location}, Shape(std::move(dims)));
}

} // namespace stithy::detail
