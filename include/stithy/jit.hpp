#pragma once
#include "stithy/detail/callable.hpp"
#include "stithy/detail/function_ref.hpp"
#include "stithy/tree.hpp"

#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace stithy {

/// How a function is compiled.
struct JitOptions {
    /// Numbers of the arguments that calls usually give away (`f(std::move(x))`): their memory is planned to serve results. Never changes a
    /// value that somebody still holds.
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
std::shared_ptr<JitCache> make_jit_cache(const JitOptions& options, const std::source_location& location);
/// What the last tracing was due to, in words.
std::string explain(const JitCache& cache);

/// A result of a traced function without its arrays: what calls make their results from.
struct Prototype {
    Prototype() = default;
    Prototype(const Prototype&) = delete;
    Prototype& operator=(const Prototype&) = delete;
    virtual ~Prototype();
};
template <class R>
struct PrototypeOf final : Prototype {
    explicit PrototypeOf(R r) : result(std::move(r)) { clear_arrays(TreeRef(result)); }
    R result;
};

/// The arguments of one call of a jitted function: their arrays, and all else that the program depends on.
class JitArguments final : public TreeVisitor {
public:
    /// `types` is an address that stands for the C++ types.
    explicit JitArguments(const void* types);
    /// Adds an argument. `gives`: the caller gives its arrays away.
    void add(TreeRef tree, bool gives);
    void array(Array& x) override;
    void value(const void* data, std::size_t size) override;
    void shape(const void* data, std::size_t size) override;

    [[nodiscard]] std::string_view key() const { return key_; }
    /// How many arguments there are.
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] std::span<Array* const> leaves() const { return leaves_; }
    [[nodiscard]] bool dying(std::size_t i) const { return dying_[i] != 0; }

private:
    std::string key_;
    std::vector<Array*> leaves_;
    std::vector<char> dying_;
    int count_ = 0;
    bool gives_ = false;
};

/// Runs the user's function on arrays of a trace; gives the arrays of the result and the rest of it (none for a bare array).
using TraceFunction = FunctionRef<std::vector<Array>(const std::vector<Array>&, std::unique_ptr<Prototype>&)>;
/// Results; `prototype` is what `trace` gave, now or when the function was traced.
std::vector<Array> call_jitted(JitCache& cache, const JitArguments& arguments, TraceFunction trace,
                               std::shared_ptr<const Prototype>& prototype, const std::source_location& location);

/// An argument that may be an Array where the callable takes one: a number that is no bool.
template <class A>
inline constexpr bool is_number = std::is_arithmetic_v<std::remove_cvref_t<A>> && !std::is_same_v<std::remove_cvref_t<A>, bool>;

/// The type in which argument A reaches the traced function. Numbers become Arrays if they are `traced`, else they stay as bools do.
template <bool Number, bool IsTraced, class A>
struct ArgumentType {
    using type = Traced<A>;
};
template <class A>
struct ArgumentType<true, true, A> {
    using type = Array;
};
template <class A>
struct ArgumentType<true, false, A> {
    using type = std::remove_cvref_t<A>;
};

/// Which arguments are traced numbers, as bits: all that the callable takes as Arrays at the same time. The first set of numbers with which
/// it can be called, the largest sets first; none when there is no such set.
template <class F, class... All>
struct TracedNumbers {
    static constexpr unsigned count = sizeof...(All);

    template <unsigned Set>
    static constexpr bool callable() {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            return std::is_invocable_v<
                F&, typename ArgumentType<std::is_arithmetic_v<std::remove_cvref_t<All>>, (Set >> I & 1u) != 0, All>::type...>;
        }(std::index_sequence_for<All...>{});
    }
    static constexpr unsigned numbers() {
        unsigned set = 0, i = 0;
        ((set |= is_number<All> ? 1u << i : 0u, ++i), ...);
        return set;
    }
    static constexpr unsigned size(unsigned set) {
        unsigned n = 0;
        for (; set != 0; set &= set - 1) ++n;
        return n;
    }
    /// The subset of the numbers that `choice` picks: bit k stands for the k-th of them.
    static constexpr unsigned subset(unsigned choice) {
        unsigned set = 0;
        for (unsigned i = 0, k = 0; i < count; ++i)
            if (numbers() >> i & 1u) set |= (choice >> k++ & 1u) << i;
        return set;
    }
    template <unsigned Set, unsigned Size>
    static constexpr bool fits() { // other sizes are not even asked for: a body of `auto` type would be looked at
        if constexpr (size(Set) == Size)
            return callable<Set>();
        else
            return false;
    }
    template <unsigned Size>
    static constexpr unsigned of_size() {
        if constexpr (Size == 0) {
            return 0;
        } else {
            constexpr unsigned found = []<std::size_t... Choice>(std::index_sequence<Choice...>) {
                unsigned set = 0;
                ((set = set == 0 && fits<subset(Choice), Size>() ? subset(Choice) : set), ...);
                return set;
            }(std::make_index_sequence<std::size_t{1} << size(numbers())>{});
            if constexpr (found != 0)
                return found;
            else
                return of_size<Size - 1>();
        }
    }
    static constexpr unsigned find() {
        static_assert(count <= 32, "a function of trees takes at most 32 arguments");
        constexpr unsigned all = numbers();
        if constexpr (all == 0)
            return 0;
        else if constexpr (callable<all>())
            return all;
        else if constexpr (size(all) > 6) // too many sets to try
            return 0;
        else
            return of_size<size(all) - 1>();
    }
    static constexpr unsigned value = find();
};
template <class F, std::size_t I, class A, class... All>
using Argument =
    typename ArgumentType<std::is_arithmetic_v<std::remove_cvref_t<A>>, (TracedNumbers<F, All...>::value >> I & 1u) != 0, A>::type;

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
    if constexpr (std::is_same_v<To, std::remove_cvref_t<From>>)
        return std::forward<From>(from);
    else if constexpr (std::is_same_v<To, Array>)
        return Array(from, std::source_location());
    else
        return to_traced(std::forward<From>(from));
}

/// The arguments as a traced function gets them.
template <class F, class... A>
Arguments<F, A...> make_arguments(A&&... args) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return Arguments<F, A...>(to_argument<std::tuple_element_t<I, Arguments<F, A...>>>(std::forward<A>(args))...);
    }(std::index_sequence_for<A...>{});
}

/// An address for each type: tells signatures of different C++ types apart.
template <class T>
inline constexpr char type_tag = 0;

template <class F, class Args>
using ResultOf = std::remove_cvref_t<decltype(std::apply(std::declval<F&>(), std::declval<Args&&>()))>;

} // namespace detail

/// A function that is traced once for each signature (structure, dtypes, shapes, static values) and runs as compiled code. Copies share
/// what was compiled.
template <class F>
class Jitted : public detail::Callable<Jitted<F>> {
public:
    Jitted(F f, const JitOptions& options, const std::source_location& made)
        : detail::Callable<Jitted>(made), f_(std::move(f)), cache_(detail::make_jit_cache(options, made)) {}

    template <class... A>
    static constexpr bool accepts = detail::Takes<const F, A...>;

    /// What `f(args...)` does: results may still be computing on return. Throws Error for wrong shapes and dtypes, with the user's line.
    template <class... A>
    auto call(const std::source_location& at, A&&... args) const {
        using Args = detail::Arguments<const F, A...>;
        if constexpr (detail::expect_trees<A...>()) {
            using Result = detail::ResultOf<const F, Args>;
            if constexpr (detail::expect_trees<Result>()) {
                if (disable_jit::active())
                    return Result(detail::apply_at(at, f_, detail::make_arguments<const F>(std::forward<A>(args)...)));
                return run<Args, Result>(at, std::index_sequence_for<A...>{}, std::forward<A>(args)...);
            }
        }
    }

    /// Why the function was traced last: how often, and what differed from the call before.
    [[nodiscard]] std::string explain() const { return detail::explain(*cache_); }

private:
    template <class Args, class Result, std::size_t... I, class... A>
    Result run(const std::source_location& at, std::index_sequence<I...>, A&&... args) const {
        Args held{}; // arguments that need no conversion are taken where they lie
        static_cast<void>(held);
        detail::JitArguments given(&detail::type_tag<std::pair<Args, Result>>);
        (add<I, Args>(given, held, std::forward<A>(args)), ...);
        auto trace = [&](const std::vector<Array>& arrays, std::unique_ptr<detail::Prototype>& prototype) {
            Args copy(source<I, Args>(held, args)...);
            std::size_t next = 0;
            (detail::put_arrays(detail::TreeRef(std::get<I>(copy)), arrays, next), ...);
            if constexpr (std::is_same_v<Result, Array>) {
                static_cast<void>(prototype);
                return std::vector<Array>(1, detail::apply_at(at, f_, std::move(copy)));
            } else {
                Result result = detail::apply_at(at, f_, std::move(copy));
                std::vector<Array> out = detail::arrays_of(result);
                prototype.reset(new detail::PrototypeOf<Result>(std::move(result)));
                return out;
            }
        };
        std::shared_ptr<const detail::Prototype> prototype;
        std::vector<Array> out = detail::call_jitted(*cache_, given, trace, prototype, at);
        if constexpr (std::is_same_v<Result, Array>)
            return std::move(out[0]);
        else
            return detail::with_arrays(static_cast<const detail::PrototypeOf<Result>*>(prototype.get())->result, out);
    }

    template <std::size_t K, class Args, class X>
    static void add(detail::JitArguments& given, Args& held, X&& x) {
        using To = std::tuple_element_t<K, Args>;
        if constexpr (std::is_same_v<To, std::remove_cvref_t<X>>)
            given.add(detail::TreeRef(x), !std::is_lvalue_reference_v<X>);
        else {
            std::get<K>(held) = detail::to_argument<To>(std::forward<X>(x));
            given.add(detail::TreeRef(std::get<K>(held)), false);
        }
    }

    template <std::size_t K, class Args, class X>
    static const std::tuple_element_t<K, Args>& source(const Args& held, const X& given) {
        if constexpr (std::is_same_v<std::tuple_element_t<K, Args>, X>)
            return given;
        else
            return std::get<K>(held);
    }

    F f_;
    std::shared_ptr<detail::JitCache> cache_;
};

/// Compiles a function of trees of arrays. A number given in a place where `f` takes an Array is traced; other numbers, enums, bools and
/// strings are static: each value of theirs is another program. What `f` captures, arrays and numbers alike, is read when it is traced and
/// never again: what changes from call to call is an argument. Example:
///     auto f = jit([](Array x) { return sum(sin(x)); });
///     Array y = f(x);
/// Errors: those of `f`'s operations, a default-made array among arguments or results, an unknown device.
template <class F>
[[nodiscard]] Jitted<std::decay_t<F>> jit(F&& f, const JitOptions& options = {},
                                          std::source_location location = std::source_location::current()) {
    return Jitted<std::decay_t<F>>(std::forward<F>(f), options, location);
}

} // namespace stithy
