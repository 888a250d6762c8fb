#pragma once
#include "stithy/detail/function_ref.hpp"
#include "stithy/jit.hpp"
#include "stithy/tree.hpp"

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Derivatives of functions of trees of arrays. Each composes with itself and with jit, vmap and loops.
namespace stithy {

namespace detail {

/// A linear map with what it needs, from tangents of inputs to tangents of outputs.
class LinearMap {
public:
    LinearMap() = default;
    explicit LinearMap(std::shared_ptr<const void> program) : program_(std::move(program)) {}
    /// Tangents of the outputs for tangents of the inputs. Error for a wrong number, shape or dtype.
    [[nodiscard]] std::vector<Array> push(const std::vector<Array>& tangents) const;
    /// Cotangents of the inputs for cotangents of the outputs.
    [[nodiscard]] std::vector<Array> pull(const std::vector<Array>& cotangents) const;

private:
    std::shared_ptr<const void> program_;
};

using ArraysFunction = FunctionRef<std::vector<Array>(const std::vector<Array>&)>;

/// Runs f on recorded inputs: gives its outputs (one level below) and the linear map from inputs to outputs. With `extra`, outputs from that index on are not differentiated.
/// Inputs must be floating; `name` is for messages.
std::vector<Array> record(const char* name, const std::vector<Array>& inputs, ArraysFunction f, LinearMap& map, std::size_t differentiated = ~std::size_t{0});
/// Runs f with tangents: outputs, then their tangents.
std::vector<Array> push_forward(const char* name, const std::vector<Array>& inputs, const std::vector<Array>& tangents, ArraysFunction f);
/// Error unless x is one floating number: what a gradient is of.
void check_scalar(const char* name, const Array& x);
/// Ones in the shape and dtype of x.
Array ones_for(const Array& x);

/// Calls f on a tuple of arguments as a traced function gets them.
template <class F, class... A>
Arguments<F, A...> make_arguments(A&&... args) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return Arguments<F, A...>(to_argument<std::tuple_element_t<I, Arguments<F, A...>>>(std::forward<A>(args))...);
    }(std::index_sequence_for<A...>{});
}

/// Arrays of the chosen arguments, in order.
template <std::size_t... I, class Args>
std::vector<Array> arrays_at(const Args& args) {
    std::vector<Array> out;
    (for_each_array(std::get<I>(args), [&](const Array& a) { out.push_back(a); }), ...);
    return out;
}
template <std::size_t... I, class Args>
void put_arrays_at(Args& args, const std::vector<Array>& arrays) {
    std::size_t next = 0;
    (for_each_array(std::get<I>(args), [&](Array& a) { a = arrays[next++]; }), ...);
}

/// The chosen arguments themselves: one bare, several as a tuple.
template <std::size_t... I, class Args>
auto pick(Args& args) {
    if constexpr (sizeof...(I) == 1) return std::get<I...>(std::move(args));
    else return std::tuple(std::get<I>(std::move(args))...);
}

template <class T>
struct ValueAndAux {};
template <class V, class X>
struct ValueAndAux<std::pair<V, X>> {
    using aux = X;
};
} // namespace detail

/// What grad, value_and_grad and value_and_grad_aux return: call it with f's arguments.
template <bool WithValue, bool HasAux, class F, std::size_t... I>
class Gradient {
public:
    explicit Gradient(F f) : f_(std::move(f)) {}

    template <Tree... A>
        requires detail::Takes<const F, A...>
    auto operator()(A&&... args) const {
        auto held = detail::make_arguments<const F>(std::forward<A>(args)...);
        using Args = decltype(held);
        using Result = detail::ResultOf<const F, Args>;
        static constexpr const char* name = WithValue ? "value_and_grad" : "grad";
        detail::LinearMap map;
        std::conditional_t<HasAux, Result, int> aux{};
        auto call = [&](const std::vector<Array>& inputs) {
            Args copy = held;
            detail::put_arrays_at<I...>(copy, inputs);
            if constexpr (HasAux) {
                aux = std::apply(f_, std::move(copy));
                std::vector<Array> out{aux.first};
                detail::for_each_array(aux.second, [&](const Array& a) { out.push_back(a); });
                detail::check_scalar(name, out[0]);
                return out;
            } else {
                static_assert(std::is_same_v<Result, Array>, "grad needs a function that returns one Array (a scalar); with auxiliary output use value_and_grad_aux");
                Array value = std::apply(f_, std::move(copy));
                detail::check_scalar(name, value);
                return std::vector<Array>{value};
            }
        };
        std::vector<Array> out = detail::record(name, detail::arrays_at<I...>(held), call, map, 1);
        const std::vector<Array> gradients = map.pull({detail::ones_for(out[0])});
        detail::put_arrays_at<I...>(held, gradients);
        if constexpr (HasAux) {
            std::size_t next = 1;
            detail::for_each_array(aux.second, [&](Array& a) { a = out[next++]; });
            return std::pair(std::pair(out[0], std::move(aux.second)), detail::pick<I...>(held));
        } else if constexpr (WithValue) {
            return std::pair(out[0], detail::pick<I...>(held));
        } else {
            return detail::pick<I...>(held);
        }
    }

private:
    F f_;
};

/// The gradient of a function that returns a scalar, with respect to argument 0, or to the arguments named: `grad(f)`, `grad<1>(f)`, `grad<0, 1>(f)`. One argument gives its
/// gradient bare, several give a tuple; each has the argument's tree (static leaves are kept). Errors: a result that is no floating scalar; an integer argument.
template <std::size_t... I, class F>
[[nodiscard]] auto grad(F&& f) {
    if constexpr (sizeof...(I) == 0) return Gradient<false, false, std::decay_t<F>, 0>(std::forward<F>(f));
    else return Gradient<false, false, std::decay_t<F>, I...>(std::forward<F>(f));
}

/// As grad; the call gives pair{value, gradient}.
template <std::size_t... I, class F>
[[nodiscard]] auto value_and_grad(F&& f) {
    if constexpr (sizeof...(I) == 0) return Gradient<true, false, std::decay_t<F>, 0>(std::forward<F>(f));
    else return Gradient<true, false, std::decay_t<F>, I...>(std::forward<F>(f));
}

/// As value_and_grad for a function that returns pair{value, aux}; the call gives pair{pair{value, aux}, gradient}.
template <std::size_t... I, class F>
[[nodiscard]] auto value_and_grad_aux(F&& f) {
    if constexpr (sizeof...(I) == 0) return Gradient<true, true, std::decay_t<F>, 0>(std::forward<F>(f));
    else return Gradient<true, true, std::decay_t<F>, I...>(std::forward<F>(f));
}

/// The value of f at `primals` and its derivative along `tangents` (tuples of equal trees): pair{f(primals), tangent of the result}, both with the result's tree.
template <class F, Tree... P, Tree... T>
[[nodiscard]] auto jvp(F&& f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents) {
    static_assert(sizeof...(P) == sizeof...(T), "jvp: as many tangents as arguments");
    using Plain = std::decay_t<F>;
    auto held = std::apply([](const auto&... p) { return detail::make_arguments<const Plain>(p...); }, primals);
    auto directions = std::apply([](const auto&... t) { return detail::make_arguments<const Plain>(t...); }, tangents);
    using Args = decltype(held);
    using Result = detail::ResultOf<const Plain, Args>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::unique_ptr<Result> result;
        auto call = [&](const std::vector<Array>& inputs) {
            Args copy = held;
            detail::put_arrays_at<I...>(copy, inputs);
            result = std::make_unique<Result>(std::apply(f, std::move(copy)));
            return detail::arrays_of(*result);
        };
        const std::vector<Array> out = detail::push_forward("jvp", detail::arrays_at<I...>(held), detail::arrays_at<I...>(directions), call);
        const std::size_t n = out.size() / 2;
        Result value = detail::with_arrays(*result, {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n)});
        Result tangent = detail::with_arrays(std::move(*result), {out.begin() + static_cast<std::ptrdiff_t>(n), out.end()});
        return std::pair(std::move(value), std::move(tangent));
    }(std::index_sequence_for<P...>{});
}

namespace detail {
/// Records f at its arguments: the value, the arguments as they were held, and the linear map.
template <class F, class... A>
auto record_call(const char* name, F&& f, LinearMap& map, A&&... args) {
    auto held = make_arguments<const std::decay_t<F>>(std::forward<A>(args)...);
    using Args = decltype(held);
    using Result = ResultOf<const std::decay_t<F>, Args>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::unique_ptr<Result> result;
        auto call = [&](const std::vector<Array>& inputs) {
            Args copy = held;
            put_arrays_at<I...>(copy, inputs);
            result = std::make_unique<Result>(std::apply(f, std::move(copy)));
            return arrays_of(*result);
        };
        const std::vector<Array> out = record(name, arrays_at<I...>(held), call, map);
        return std::pair(with_arrays(std::move(*result), out), std::move(held));
    }(std::index_sequence_for<A...>{});
}
} // namespace detail

/// pair{f(args...), pullback}: pullback(cotangent of the result) gives the cotangents of the arguments, one bare, several as a tuple. It may be called often.
template <class F, Tree... A>
[[nodiscard]] auto vjp(F&& f, A&&... args) {
    detail::LinearMap map;
    auto [value, held] = detail::record_call("vjp", f, map, std::forward<A>(args)...);
    using Result = decltype(value);
    auto pullback = [map, arguments = std::move(held)](const Result& cotangent) {
        const std::vector<Array> found = map.pull(detail::arrays_of(cotangent));
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto out = arguments;
            detail::put_arrays_at<I...>(out, found);
            return detail::pick<I...>(out);
        }(std::index_sequence_for<A...>{});
    };
    return std::pair(std::move(value), std::move(pullback));
}

/// pair{f(args...), derivative}: derivative(tangents of the arguments...) gives the tangent of the result. It may be called often; f is not run again.
template <class F, Tree... A>
[[nodiscard]] auto linearize(F&& f, A&&... args) {
    detail::LinearMap map;
    auto [value, held] = detail::record_call("linearize", f, map, std::forward<A>(args)...);
    using Args = decltype(held);
    auto derivative = [map, value](const auto&... tangents) {
        static_assert(sizeof...(tangents) == std::tuple_size_v<Args>, "as many tangents as arguments");
        std::vector<Array> all;
        (detail::for_each_array(tangents, [&](const Array& a) { all.push_back(a); }), ...);
        return detail::with_arrays(value, map.push(all));
    };
    return std::pair(std::move(value), std::move(derivative));
}

} // namespace stithy
