#pragma once
#include "stithy/grad.hpp"

#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
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
std::vector<Array> map_examples(const std::vector<Array>& inputs, const std::vector<int>& axes, int out_axis, ArraysFunction f,
                                const std::source_location& location);
/// Error unless in_axes has an entry for each argument (or none).
void check_in_axes(std::size_t given, std::size_t arguments, const std::source_location& location);
/// Basis directions of x as rows: [n, shape of x].
Array basis(const Array& x, const std::source_location& location);
/// y [n, shape] with its leading axis split or moved so that result is [shape of y.., shape of x..] (rows are directions of x).
Array columns_to_jacobian(const Array& rows, const Array& x, const std::source_location& location);
/// rows [m, shape of x..] of an output of shape `out` -> [out.., shape of x..].
Array rows_to_jacobian(const Array& rows, const Shape& out, const std::source_location& location);
} // namespace detail

/// What vmap returns: call it with f's arguments, each with its axis of examples.
template <class F>
class Mapped : public detail::Callable<Mapped<F>> {
public:
    Mapped(F f, VmapOptions options, const std::source_location& made)
        : detail::Callable<Mapped>(made), f_(std::move(f)), options_(std::move(options)) {}

    template <class... A>
    static constexpr bool accepts = detail::Takes<const F, A...>;

    /// What `f(args...)` does.
    template <class... A>
    auto call(const std::source_location& at, A&&... args) const {
        if constexpr (detail::expect_trees<A...>()) {
            using Args = detail::Arguments<const F, A...>;
            using Result = detail::ResultOf<const F, Args>;
            if constexpr (detail::expect_trees<Result>()) {
                detail::check_in_axes(options_.in_axes.size(), sizeof...(A), at);
                return run<Result>(at, detail::make_arguments<const F>(std::forward<A>(args)...), std::index_sequence_for<A...>{});
            }
        }
    }

private:
    template <class Result, class Args, std::size_t... I>
    [[gnu::cold]] Result run(const std::source_location& at, const Args& held, std::index_sequence<I...>) const {
        std::vector<Array> inputs;
        std::vector<int> axes;
        ((detail::add_arrays(detail::TreeRef(std::get<I>(held)), inputs),
          axes.resize(inputs.size(), options_.in_axes.empty() ? 0 : options_.in_axes[I])),
         ...);
        std::optional<Result> result;
        auto call = [&](const std::vector<Array>& examples) { return detail::run_on<I...>(at, f_, held, examples, result); };
        const std::vector<Array> out = detail::map_examples(inputs, axes, options_.out_axis, call, at);
        return detail::with_arrays(std::move(*result), out);
    }

    F f_;
    VmapOptions options_;
};

/// A function of one example as a function of many: `vmap(f)(xs)` maps along axis 0 of every argument, `vmap(f, {.in_axes = {0,
/// unmapped}})` along the axes given. Results carry the examples along `out_axis`. f is traced once: branches on values need where or cond.
/// Errors: mapped axes of different extents, or none; an axis that is not there.
template <class F>
[[nodiscard]] Mapped<std::decay_t<F>> vmap(F&& f, VmapOptions options = {},
                                           std::source_location location = std::source_location::current()) {
    return Mapped<std::decay_t<F>>(std::forward<F>(f), std::move(options), location);
}

namespace detail {
/// What jacfwd and jacrev return.
template <bool Backwards, class F>
class Jacobian : public Callable<Jacobian<Backwards, F>> {
public:
    Jacobian(F f, const std::source_location& made) : Callable<Jacobian>(made), f_(std::move(f)) {}
    template <class... A>
    static constexpr bool accepts = sizeof...(A) == 1 && (std::is_convertible_v<A, const Array&> && ...);

    [[gnu::cold]] Array call(const std::source_location& at, const Array& x) const {
        if constexpr (Backwards) {
            const auto [value, back] = record_call<true>(at, f_, x);
            const auto& pullback = back;
            const Array rows = vmap([&](const Array& cotangent) { return pullback(cotangent, at); }, {}, at).call(at, basis(value, at));
            return rows_to_jacobian(rows, value.shape(), at);
        } else {
            const Array rows =
                vmap([&](const Array& d) { return std::get<1>(jvp(f_, std::tuple{x}, std::tuple{d}, at)); }, {}, at).call(at, basis(x, at));
            return columns_to_jacobian(rows, x, at);
        }
    }

private:
    F f_;
};
} // namespace detail

/// The Jacobian of a function of one floating array with one array as result, by forward mode: shape [result.., argument..].
template <class F>
[[nodiscard]] auto jacfwd(F&& f, std::source_location location = std::source_location::current()) {
    return detail::Jacobian<false, std::decay_t<F>>(std::forward<F>(f), location);
}

/// The Jacobian by reverse mode: shape [result.., argument..].
template <class F>
[[nodiscard]] auto jacrev(F&& f, std::source_location location = std::source_location::current()) {
    return detail::Jacobian<true, std::decay_t<F>>(std::forward<F>(f), location);
}

/// The Hessian of a scalar function of one array, forward over reverse: shape [argument.., argument..].
template <class F>
[[nodiscard]] auto hessian(F&& f, std::source_location location = std::source_location::current()) {
    return jacfwd(grad(std::forward<F>(f), location), location);
}

} // namespace stithy
