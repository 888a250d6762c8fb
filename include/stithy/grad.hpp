#pragma once
#include "stithy/detail/function_ref.hpp"
#include "stithy/jit.hpp"
#include "stithy/tree.hpp"

#include <memory>
#include <optional>
#include <source_location>
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
    [[nodiscard]] std::vector<Array> push(const std::vector<Array>& tangents, const std::source_location& location) const;
    /// Cotangents of the inputs for cotangents of the outputs.
    [[nodiscard]] std::vector<Array> pull(const std::vector<Array>& cotangents, const std::source_location& location) const;

private:
    std::shared_ptr<const void> program_;
};

using ArraysFunction = FunctionRef<std::vector<Array>(const std::vector<Array>&)>;

/// Runs f on recorded inputs: gives its outputs (one level below) and the linear map from inputs to outputs. Inputs must be floating;
/// `name` and `location` are for messages.
std::vector<Array> record(const char* name, const std::vector<Array>& inputs, ArraysFunction f, LinearMap& map,
                          const std::source_location& location);
/// Runs f: gives its outputs, and the gradients of the first one, which must be a floating scalar. The others are not differentiated.
std::vector<Array> differentiate(const char* name, const std::vector<Array>& inputs, ArraysFunction f, std::vector<Array>& gradients,
                                 const std::source_location& location);
/// Runs f with tangents: outputs, then their tangents.
std::vector<Array> push_forward(const char* name, const std::vector<Array>& inputs, const std::vector<Array>& tangents, ArraysFunction f,
                                const std::source_location& location);

/// Arrays of the chosen arguments, in order.
template <std::size_t... I, class Args>
std::vector<Array> arrays_at(const Args& args) {
    std::vector<Array> out;
    (add_arrays(TreeRef(std::get<I>(args)), out), ...);
    return out;
}
template <std::size_t... I, class Args>
void put_arrays_at(const Args& args, const std::vector<Array>& arrays) {
    std::size_t next = 0;
    (put_arrays(TreeRef(std::get<I>(args)), arrays, next), ...);
}

/// The chosen arguments themselves: one bare, several as a tuple.
template <std::size_t... I, class Args>
auto pick(Args& args) {
    if constexpr (sizeof...(I) == 1)
        return std::get<I...>(std::move(args));
    else
        return std::tuple(std::get<I>(std::move(args))...);
}

/// Runs f on a copy of the arguments with `inputs` for the arrays of the chosen ones; the result is kept, its arrays are given.
/// Cold, as other templates here: it runs while a function is traced, and compiles in less time for it.
template <std::size_t... I, class F, class Args, class Result>
[[gnu::cold]] std::vector<Array> run_on(const std::source_location& at, F& f, const Args& held, const std::vector<Array>& inputs,
                                        std::optional<Result>& result) {
    Args copy = held;
    put_arrays_at<I...>(copy, inputs);
    result.emplace(apply_at(at, f, std::move(copy)));
    return arrays_of(*result);
}

template <class T>
inline constexpr bool is_pair_with_array = false;
template <class X>
inline constexpr bool is_pair_with_array<std::pair<Array, X>> = true;
} // namespace detail

/// What grad, value_and_grad and value_and_grad_aux return: call it with f's arguments.
template <bool WithValue, bool HasAux, class F, std::size_t... I>
class Gradient : public detail::Callable<Gradient<WithValue, HasAux, F, I...>> {
public:
    Gradient(F f, const std::source_location& made) : detail::Callable<Gradient>(made), f_(std::move(f)) {}

    template <class... A>
    static constexpr bool accepts = detail::Takes<const F, A...>;

    /// What `f(args...)` does.
    template <class... A>
    auto call(const std::source_location& at, A&&... args) const {
        static_assert(((I < sizeof...(A)) && ...), "grad: there are fewer arguments than the number of the one to differentiate by");
        if constexpr (detail::expect_trees<A...>() && ((I < sizeof...(A)) && ...)) {
            using Result = detail::ResultOf<const F, detail::Arguments<const F, A...>>;
            if constexpr (HasAux) {
                static_assert(detail::is_pair_with_array<Result>,
                              "value_and_grad_aux needs a function that returns std::pair{Array (a scalar), aux}");
                if constexpr (detail::is_pair_with_array<Result>)
                    return run<Result>(at, detail::make_arguments<const F>(std::forward<A>(args)...));
            } else {
                static_assert(std::is_same_v<Result, Array>,
                              "grad needs a function that returns one Array (a scalar); with auxiliary output use value_and_grad_aux");
                if constexpr (std::is_same_v<Result, Array>)
                    return run<Result>(at, detail::make_arguments<const F>(std::forward<A>(args)...));
            }
        }
    }

private:
    template <class Result, class Args>
    [[gnu::cold]] auto run(const std::source_location& at, Args held) const {
        std::optional<Result> result;
        auto call = [&](const std::vector<Array>& inputs) { return detail::run_on<I...>(at, f_, held, inputs, result); };
        std::vector<Array> gradients;
        const std::vector<Array> out =
            detail::differentiate(WithValue ? "value_and_grad" : "grad", detail::arrays_at<I...>(held), call, gradients, at);
        detail::put_arrays_at<I...>(held, gradients);
        if constexpr (WithValue)
            return std::pair(detail::with_arrays(std::move(*result), out), detail::pick<I...>(held));
        else
            return detail::pick<I...>(held);
    }

    F f_;
};

/// The gradient of a function that returns a scalar, with respect to argument 0, or to the arguments named: `grad(f)`, `grad<1>(f)`,
/// `grad<0, 1>(f)`. One argument gives its gradient bare, several give a tuple; each has the argument's tree (static leaves are kept).
/// Errors: a result that is no floating scalar; an integer argument.
template <std::size_t... I, class F>
[[nodiscard]] auto grad(F&& f, std::source_location location = std::source_location::current()) {
    if constexpr (sizeof...(I) == 0)
        return Gradient<false, false, std::decay_t<F>, 0>(std::forward<F>(f), location);
    else
        return Gradient<false, false, std::decay_t<F>, I...>(std::forward<F>(f), location);
}

/// As grad; the call gives pair{value, gradient}.
template <std::size_t... I, class F>
[[nodiscard]] auto value_and_grad(F&& f, std::source_location location = std::source_location::current()) {
    if constexpr (sizeof...(I) == 0)
        return Gradient<true, false, std::decay_t<F>, 0>(std::forward<F>(f), location);
    else
        return Gradient<true, false, std::decay_t<F>, I...>(std::forward<F>(f), location);
}

/// As value_and_grad for a function that returns pair{value, aux}; the call gives pair{pair{value, aux}, gradient}.
template <std::size_t... I, class F>
[[nodiscard]] auto value_and_grad_aux(F&& f, std::source_location location = std::source_location::current()) {
    if constexpr (sizeof...(I) == 0)
        return Gradient<true, true, std::decay_t<F>, 0>(std::forward<F>(f), location);
    else
        return Gradient<true, true, std::decay_t<F>, I...>(std::forward<F>(f), location);
}

/// The value of f at `primals` and its derivative along `tangents` (tuples of equal trees): pair{f(primals), tangent of the result}, both
/// with the result's tree. Errors: tangents of other shapes or dtypes than the primals; primals that are not floating.
template <class F, class... P, class... T>
[[nodiscard]] auto jvp(F&& f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents,
                       std::source_location location = std::source_location::current()) {
    static_assert(sizeof...(P) == sizeof...(T), "jvp: as many tangents as arguments");
    if constexpr (detail::expect_trees<P..., T...>() && sizeof...(P) == sizeof...(T)) {
        using Plain = std::decay_t<F>;
        const auto held = std::apply([](const auto&... p) { return detail::make_arguments<const Plain>(p...); }, primals);
        const auto directions = std::apply([](const auto&... t) { return detail::make_arguments<const Plain>(t...); }, tangents);
        using Result = detail::ResultOf<const Plain, std::remove_const_t<decltype(held)>>;
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            std::optional<Result> result;
            auto call = [&](const std::vector<Array>& inputs) { return detail::run_on<I...>(location, f, held, inputs, result); };
            const std::vector<Array> out =
                detail::push_forward("jvp", detail::arrays_at<I...>(held), detail::arrays_at<I...>(directions), call, location);
            Result value = detail::with_arrays(*result, out);
            return std::pair(std::move(value), detail::with_arrays(std::move(*result), out, out.size() / 2));
        }(std::index_sequence_for<P...>{});
    }
}

namespace detail {
/// From cotangents of a result of type R to those of the arguments, one bare, several as a tuple.
template <class R, class Args>
class Pullback {
public:
    Pullback(LinearMap map, Args arguments) : map_(std::move(map)), arguments_(std::move(arguments)) {}
    auto operator()(const R& cotangent, std::source_location location = std::source_location::current()) const {
        return gather(map_.pull(arrays_of(cotangent), location), std::make_index_sequence<std::tuple_size_v<Args>>{});
    }

private:
    template <std::size_t... I>
    auto gather(const std::vector<Array>& found, std::index_sequence<I...>) const {
        Args out = arguments_;
        put_arrays_at<I...>(out, found);
        return pick<I...>(out);
    }
    LinearMap map_;
    Args arguments_;
};

/// From tangents of the arguments to that of the result.
template <class R, class Args>
class Derivative : public Callable<Derivative<R, Args>> {
public:
    Derivative(LinearMap map, R value, const std::source_location& made)
        : Callable<Derivative>(made), map_(std::move(map)), value_(std::move(value)) {}
    template <class... T>
    static constexpr bool accepts = sizeof...(T) == std::tuple_size_v<Args>;

    template <class... T>
    R call(const std::source_location& at, const T&... tangents) const {
        std::vector<Array> all;
        (add_arrays(TreeRef(tangents), all), ...);
        return with_arrays(value_, map_.push(all, at));
    }

private:
    LinearMap map_;
    R value_;
};

/// Records f at its arguments and makes a Pullback (or Derivative) of the linear map.
template <bool Backwards, class F, class... A>
[[gnu::cold]] auto record_call(const std::source_location& at, F& f, A&&... args) {
    if constexpr (expect_trees<A...>()) {
        auto held = make_arguments<const F>(std::forward<A>(args)...);
        using Args = decltype(held);
        using Result = ResultOf<const F, Args>;
        if constexpr (expect_trees<Result>()) {
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
                std::optional<Result> result;
                LinearMap map;
                auto call = [&](const std::vector<Array>& inputs) { return run_on<I...>(at, f, held, inputs, result); };
                const std::vector<Array> out = record(Backwards ? "vjp" : "linearize", arrays_at<I...>(held), call, map, at);
                Result value = with_arrays(std::move(*result), out);
                if constexpr (Backwards)
                    return std::pair(std::move(value), Pullback<Result, Args>(std::move(map), std::move(held)));
                else
                    return std::pair(value, Derivative<Result, Args>(std::move(map), value, at));
            }(std::index_sequence_for<A...>{});
        }
    }
}
} // namespace detail

/// pair{f(args...), pullback}: pullback(cotangent of the result) gives the cotangents of the arguments, one bare, several as a tuple. It
/// may be called often. Errors: arguments that are not floating; a cotangent whose structure, shape or dtype is not the result's.
template <class F, class A>
[[nodiscard]] auto vjp(F&& f, A&& a, std::source_location location = std::source_location::current()) {
    return detail::record_call<true>(location, f, std::forward<A>(a));
}
template <class F, class A, class B>
[[nodiscard]] auto vjp(F&& f, A&& a, B&& b, std::source_location location = std::source_location::current()) {
    return detail::record_call<true>(location, f, std::forward<A>(a), std::forward<B>(b));
}
template <class F, class A, class B, class C>
[[nodiscard]] auto vjp(F&& f, A&& a, B&& b, C&& c, std::source_location location = std::source_location::current()) {
    return detail::record_call<true>(location, f, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class F, class... A>
    requires(sizeof...(A) > 3)
[[nodiscard]] auto vjp(F&& f, A&&... args) {
    return detail::record_call<true>(std::source_location(), f, std::forward<A>(args)...);
}

/// pair{f(args...), derivative}: derivative(tangents of the arguments...) gives the tangent of the result. It may be called often; f is not
/// run again. Errors: arguments that are not floating; tangents of other shapes or dtypes than the arguments.
template <class F, class A>
[[nodiscard]] auto linearize(F&& f, A&& a, std::source_location location = std::source_location::current()) {
    return detail::record_call<false>(location, f, std::forward<A>(a));
}
template <class F, class A, class B>
[[nodiscard]] auto linearize(F&& f, A&& a, B&& b, std::source_location location = std::source_location::current()) {
    return detail::record_call<false>(location, f, std::forward<A>(a), std::forward<B>(b));
}
template <class F, class A, class B, class C>
[[nodiscard]] auto linearize(F&& f, A&& a, B&& b, C&& c, std::source_location location = std::source_location::current()) {
    return detail::record_call<false>(location, f, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class F, class... A>
    requires(sizeof...(A) > 3)
[[nodiscard]] auto linearize(F&& f, A&&... args) {
    return detail::record_call<false>(std::source_location(), f, std::forward<A>(args)...);
}

} // namespace stithy
