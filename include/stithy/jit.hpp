#pragma once
#include "stithy/detail/function_ref.hpp"
#include "stithy/tree.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stithy {

/// How a function is compiled.
struct JitOptions {
    /// Arguments that calls usually give away (`f(std::move(x))`): their memory is planned to serve results. Never changes a value that somebody still holds.
    std::vector<int> donate = {};
    std::string device = "cpu";
    /// Most threads that a call uses; 0: no limit of its own.
    int threads = 0;
};

/// While it lives, jitted functions of this thread run operation by operation, and loops step by step.
class disable_jit {
public:
    disable_jit();
    ~disable_jit();
    disable_jit(const disable_jit&) = delete;
    disable_jit& operator=(const disable_jit&) = delete;
    /// Whether such a scope is at work on this thread.
    [[nodiscard]] static bool active();
};

namespace detail {
class JitCache;
std::shared_ptr<JitCache> make_jit_cache(const JitOptions& options);
/// What the last tracing was due to, in words.
std::string explain(const JitCache& cache);

/// One call of a jitted function.
struct JitCall {
    std::string_view key;            ///< static leaves and the structure
    std::span<Array* const> leaves;  ///< arrays of the arguments
    std::span<const bool> dying;     ///< leaves that the caller gives away
    /// Runs the user's function on arrays of a trace; gives the arrays of the result and what else the result holds.
    FunctionRef<std::vector<Array>(const std::vector<Array>&, std::shared_ptr<const void>&)> trace;
};
/// Results; `prototype` is what `trace` gave.
std::vector<Array> call_jitted(JitCache& cache, const JitCall& call, std::shared_ptr<const void>& prototype);

/// The type in which argument A in place I reaches the traced function: a number becomes an Array where the callable takes one; bools stay.
template <class F, std::size_t I, class A, class... All>
constexpr bool number_is_traced() {
    using Plain = std::remove_cvref_t<A>;
    if constexpr (!std::is_arithmetic_v<Plain> || std::is_same_v<Plain, bool>) return false;
    else if constexpr (std::is_invocable_v<F&, Traced<All>...>) return true;
    else return []<std::size_t... J>(std::index_sequence<J...>) {
        return std::is_invocable_v<F&, std::conditional_t<I == J, Array, std::remove_cvref_t<All>>...>;
    }(std::index_sequence_for<All...>{});
}
template <class F, std::size_t I, class A, class... All>
using Argument = std::conditional_t<std::is_arithmetic_v<std::remove_cvref_t<A>>,
                                    std::conditional_t<number_is_traced<F, I, A, All...>(), Array, std::remove_cvref_t<A>>, Traced<A>>;

template <class F, class Index, class... A>
struct ArgumentsOf;
template <class F, std::size_t... I, class... A>
struct ArgumentsOf<F, std::index_sequence<I...>, A...> {
    using type = std::tuple<Argument<F, I, A, A...>...>;
};
/// The arguments as the traced function gets them.
template <class F, class... A>
using Arguments = typename ArgumentsOf<F, std::index_sequence_for<A...>, A...>::type;

template <class F, class Tuple>
struct TakesTuple;
template <class F, class... T>
struct TakesTuple<F, std::tuple<T...>> : std::is_invocable<F&, T...> {};
/// Whether F can be called with these arguments as traced functions get them. Said before a body of `auto` type is looked at.
template <class F, class... A>
concept Takes = TakesTuple<F, Arguments<F, A...>>::value;

template <class To, class From>
To to_argument(From&& from) {
    if constexpr (std::is_same_v<To, std::remove_cvref_t<From>>) return std::forward<From>(from);
    else if constexpr (std::is_same_v<To, Array>) return Array(from, std::source_location());
    else return to_traced(std::forward<From>(from));
}

/// An address for each type: tells signatures of different C++ types apart.
template <class T>
inline constexpr char type_tag = 0;

template <class F, class Args>
using ResultOf = std::remove_cvref_t<decltype(std::apply(std::declval<F&>(), std::declval<Args&&>()))>;

} // namespace detail

/// A function that is traced once for each signature (structure, dtypes, shapes, static values) and runs as compiled code. Copies share what was compiled.
template <class F>
class Jitted {
public:
    explicit Jitted(F f, const JitOptions& options) : f_(std::move(f)), cache_(detail::make_jit_cache(options)) {}

    /// Calls the function. Results may still be computing on return. Throws Error for wrong shapes and dtypes, with the user's line.
    template <Tree... A>
        requires detail::Takes<const F, A...>
    auto operator()(A&&... args) const {
        using Args = detail::Arguments<const F, A...>;
        using Result = detail::ResultOf<const F, Args>;
        static_assert(Tree<Result>, "the result of a jitted function is not a tree of arrays");
        if (disable_jit::active()) return Result(std::apply(f_, Args(detail::to_argument<std::remove_cvref_t<A>>(std::forward<A>(args))...)));
        return run<Args, Result>(std::index_sequence_for<A...>{}, std::forward<A>(args)...);
    }

    /// Why the function was traced last: how often, and what differed from the call before.
    [[nodiscard]] std::string explain() const { return detail::explain(*cache_); }

private:
    template <class Args, class Result, std::size_t... I, class... A>
    Result run(std::index_sequence<I...>, A&&... args) const {
        // arguments that need no conversion are taken where they lie
        Args held{};
        static_cast<void>(held);
        std::vector<Array*> leaves;
        std::vector<char> dying;
        detail::KeyBytes key;
        key(static_cast<const void*>(&detail::type_tag<std::pair<Args, Result>>));
        leaves.reserve(16);
        auto gather = [&]<std::size_t K, class X>(X& x, bool gives) {
            auto leaf = [&](const Array& a) {
                leaves.push_back(const_cast<Array*>(&a));
                dying.push_back(gives);
            };
            detail::walk(x, leaf, key);
        };
        auto place = [&]<std::size_t K, class X>(X&& x) {
            using To = std::tuple_element_t<K, Args>;
            if constexpr (std::is_same_v<To, std::remove_cvref_t<X>>) {
                gather.template operator()<K>(x, !std::is_lvalue_reference_v<X>);
            } else {
                std::get<K>(held) = detail::to_argument<To>(std::forward<X>(x));
                gather.template operator()<K>(std::get<K>(held), false);
            }
        };
        (place.template operator()<I>(std::forward<A>(args)), ...);
        auto trace = [&](const std::vector<Array>& arrays, std::shared_ptr<const void>& prototype) {
            Args copy(source<I, Args>(held, args)...);
            std::size_t next = 0;
            std::apply([&](auto&... a) { (detail::for_each_array(a, [&](Array& x) { x = arrays[next++]; }), ...); }, copy);
            Result result = std::apply(f_, std::move(copy));
            std::vector<Array> out = detail::arrays_of(result);
            detail::for_each_array(result, [](Array& x) { x = Array(); });
            prototype = std::make_shared<const Result>(std::move(result));
            return out;
        };
        std::shared_ptr<const void> prototype;
        std::vector<Array> out =
            detail::call_jitted(*cache_, {key.text(), leaves, {reinterpret_cast<const bool*>(dying.data()), dying.size()}, trace}, prototype);
        if constexpr (std::is_same_v<Result, Array>) return std::move(out[0]);
        else {
            Result result = *static_cast<const Result*>(prototype.get());
            std::size_t next = 0;
            detail::for_each_array(result, [&](Array& x) { x = std::move(out[next++]); });
            return result;
        }
    }

    template <std::size_t K, class Args, class X>
    static const std::tuple_element_t<K, Args>& source(const Args& held, const X& given) {
        if constexpr (std::is_same_v<std::tuple_element_t<K, Args>, X>) return given;
        else return std::get<K>(held);
    }

    F f_;
    std::shared_ptr<detail::JitCache> cache_;
};

/// Compiles a function of trees of arrays. A number given in a place where `f` takes an Array is traced; other numbers, enums, bools and strings are
/// static: each value of theirs is another program. Arrays that `f` captures are read when it is traced. Example:
///     auto f = jit([](Array x) { return sum(sin(x)); });
///     Array y = f(x);
/// Errors: those of `f`'s operations; a result that is no tree.
template <class F>
[[nodiscard]] Jitted<std::decay_t<F>> jit(F&& f, const JitOptions& options = {}) {
    return Jitted<std::decay_t<F>>(std::forward<F>(f), options);
}

} // namespace stithy
