#pragma once
#include "stithy/grad.hpp"

#include <vector>

namespace stithy {

/// In `in_axes`: the argument is the same for every example.
inline constexpr int unmapped = -1000000;

/// Which axis of each argument holds the examples. Default: axis 0 of all. Negative axes count from the end.
struct VmapOptions {
    std::vector<int> in_axes = {};
    int out_axis = 0;
};

namespace detail {
/// f's outputs on examples: inputs[i] is mapped along axes[i] (or unmapped).
std::vector<Array> map_examples(const std::vector<Array>& inputs, const std::vector<int>& axes, int out_axis, ArraysFunction f);
/// Basis directions of x as rows: [n, shape of x].
Array basis(const Array& x);
/// y [n, shape] with its leading axis split or moved so that result is [shape of y.., shape of x..] (rows are directions of x).
Array columns_to_jacobian(const Array& rows, const Array& x);
/// rows [m, shape of x..] of an output of shape `out` -> [out.., shape of x..].
Array rows_to_jacobian(const Array& rows, const Shape& out);
} // namespace detail

template <class F>
class Mapped {
public:
    Mapped(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}

    template <Tree... A>
        requires detail::Takes<const F, A...>
    auto operator()(A&&... args) const {
        auto held = detail::make_arguments<const F>(std::forward<A>(args)...);
        using Args = decltype(held);
        using Result = detail::ResultOf<const F, Args>;
        if (!options_.in_axes.empty() && options_.in_axes.size() != sizeof...(A))
            throw Error("vmap: in_axes has " + std::to_string(options_.in_axes.size()) + " entries, expected one for each of " + std::to_string(sizeof...(A)) + " arguments");
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            std::vector<int> axes;
            (detail::for_each_array(std::get<I>(held), [&](const Array&) { axes.push_back(options_.in_axes.empty() ? 0 : options_.in_axes[I]); }), ...);
            std::unique_ptr<Result> result;
            auto call = [&](const std::vector<Array>& inputs) {
                Args copy = held;
                detail::put_arrays_at<I...>(copy, inputs);
                result = std::make_unique<Result>(std::apply(f_, std::move(copy)));
                return detail::arrays_of(*result);
            };
            const std::vector<Array> out = detail::map_examples(detail::arrays_at<I...>(held), axes, options_.out_axis, call);
            return detail::with_arrays(std::move(*result), out);
        }(std::index_sequence_for<A...>{});
    }

private:
    F f_;
    VmapOptions options_;
};

/// A function of one example as a function of many: `vmap(f)(xs)` maps along axis 0 of every argument, `vmap(f, {.in_axes = {0, unmapped}})` along the axes given. Results carry the
/// examples along `out_axis`. f is traced once: branches on values need where or cond. Errors: mapped axes of different extents, or none.
template <class F>
[[nodiscard]] Mapped<std::decay_t<F>> vmap(F&& f, VmapOptions options = {}) {
    return Mapped<std::decay_t<F>>(std::forward<F>(f), std::move(options));
}

/// The Jacobian of a function of one array with one array as result, by forward mode: shape [result.., argument..].
template <class F>
[[nodiscard]] auto jacfwd(F&& f) {
    return [f = std::decay_t<F>(std::forward<F>(f))](const Array& x) {
        Array rows = vmap([&](Array direction) { return std::get<1>(jvp(f, std::tuple{x}, std::tuple{direction})); })(detail::basis(x));
        return detail::columns_to_jacobian(rows, x);
    };
}

/// The Jacobian by reverse mode: shape [result.., argument..].
template <class F>
[[nodiscard]] auto jacrev(F&& f) {
    return [f = std::decay_t<F>(std::forward<F>(f))](const Array& x) {
        auto [value, pullback] = vjp(f, x);
        const auto& back = pullback;
        Array rows = vmap([&](Array cotangent) { return back(cotangent); })(detail::basis(value));
        return detail::rows_to_jacobian(rows, value.shape());
    };
}

/// The Hessian of a scalar function of one array, forward over reverse: shape [argument.., argument..].
template <class F>
[[nodiscard]] auto hessian(F&& f) {
    return jacfwd(grad(std::forward<F>(f)));
}

} // namespace stithy
