#pragma once
#include "stithy/detail/function_ref.hpp"
#include "stithy/jit.hpp"
#include "stithy/operand.hpp"
#include "stithy/tree.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Loops and branches as parts of a program: a loop is one piece of compiled code, also outside jit. Carried values are trees; numbers in
/// them become Arrays.
namespace stithy {

/// A bound of fori_loop: a C++ integer, or a rank-0 integer Array (then the number of steps is data). Remembers the caller's line.
class Bound {
public:
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Bound(T value, std::source_location location = std::source_location::current())
        : value_(static_cast<std::int64_t>(value)), dtype_(dtype_of<T>), location_(location) {}
    Bound(const Array& x, std::source_location location = std::source_location::current())
        : array_(x), dtype_(x.dtype(location)), location_(location) {}

    [[nodiscard]] bool is_number() const { return !array_.defined(); }
    [[nodiscard]] std::int64_t value() const { return value_; }
    [[nodiscard]] const Array& array() const { return array_; }
    [[nodiscard]] DType dtype() const { return dtype_; }
    [[nodiscard]] const std::source_location& location() const { return location_; }

private:
    Array array_;
    std::int64_t value_ = 0;
    DType dtype_;
    std::source_location location_;
};

namespace detail {
using Arrays = std::vector<Array>;
/// Carries after the loop. body(counter, carries) -> carries.
Arrays run_fori(const Bound& lower, const Bound& upper, const Arrays& carries, FunctionRef<Arrays(const Array&, const Arrays&)> body);
Arrays run_while(const Arrays& carries, FunctionRef<Array(const Arrays&)> condition, FunctionRef<Arrays(const Arrays&)> body,
                 const std::source_location& location);
/// Carries after the loop, then the stacked ys. body(carries, slices) -> carries then ys.
Arrays run_scan(const Arrays& carries, const Arrays& xs, std::int64_t length, bool reverse,
                FunctionRef<Arrays(const Arrays&, const Arrays&)> body, const std::source_location& location);
/// Results of the branch that `index` chooses (clamped). branch(k, arguments) -> results. `is_predicate`: branch 0 serves true, 1 false.
Arrays run_branches(const Operand& index, bool is_predicate, std::size_t count, const Arrays& arguments,
                    FunctionRef<Arrays(std::size_t, const Arrays&)> branch);

template <class R, class C>
struct ScanParts { // a body that returns the bare carry
    static constexpr bool has_ys = false;
    using ys = std::tuple<>;
};
template <class A, class Y, class C>
    requires(std::is_same_v<A, C> && !std::is_same_v<std::pair<A, Y>, C>)
struct ScanParts<std::pair<A, Y>, C> {
    static constexpr bool has_ys = true;
    using ys = Y;
};
/// Error unless the trees agree in all but their arrays.
void check_structure(const char* what, TreeRef before, TreeRef after, const std::source_location& location);
/// The same for trees that come one after the other: `first` keeps the structure of the first.
class SameStructure {
public:
    void check(const char* what, TreeRef tree, const std::source_location& location);

private:
    std::string first_;
    bool seen_ = false;
};

inline constexpr const char* fori_loop_changes = "fori_loop: the body returns another structure or other static values than the carry";
inline constexpr const char* while_loop_changes = "while_loop: the body returns another structure or other static values than the carry";
inline constexpr const char* scan_changes = "scan: the body returns another structure or other static values than the carry";
} // namespace detail

/// carry after `for (i = lower; i < upper; ++i) carry = body(i, carry)`. body(Array counter, carry) -> carry of the same structure, dtypes
/// and shapes. The counter's dtype is the promotion of the bounds. Bounds that are C++ integers may be differentiated through in reverse.
/// Example: fori_loop(0, 5, [&](Array, Array p) { return p * x; }, Array(1.0)). Errors: a carry whose dtype, shape or structure changes.
template <class Body, class Carry>
[[nodiscard]] detail::Traced<Carry> fori_loop(const Bound& lower, const Bound& upper, Body&& body, Carry&& carry) {
    if constexpr (detail::expect_trees<Carry>()) {
        using C = detail::Traced<Carry>;
        const C start = detail::to_traced(std::forward<Carry>(carry));
        auto step = [&](const Array& counter, const std::vector<Array>& carries) {
            const C next = std::forward<Body>(body)(counter, detail::with_arrays(start, carries));
            detail::check_structure(detail::fori_loop_changes, detail::TreeRef(start), detail::TreeRef(next), lower.location());
            return detail::arrays_of(next);
        };
        return detail::with_arrays(start, detail::run_fori(lower, upper, detail::arrays_of(start), step));
    }
}

/// carry after `while (condition(carry)) carry = body(carry)`. condition gives a bool of rank 0. Differentiates forwards; in reverse only
/// where the loop counts to a limit. Errors: a condition that gives no bool of rank 0; a carry whose dtype, shape or structure changes.
template <class Condition, class Body, class Carry>
[[nodiscard]] detail::Traced<Carry> while_loop(Condition&& condition, Body&& body, Carry&& carry,
                                               std::source_location location = std::source_location::current()) {
    if constexpr (detail::expect_trees<Carry>()) {
        using C = detail::Traced<Carry>;
        const C start = detail::to_traced(std::forward<Carry>(carry));
        auto test = [&](const std::vector<Array>& carries) { return Array(condition(detail::with_arrays(start, carries))); };
        auto step = [&](const std::vector<Array>& carries) {
            const C next = body(detail::with_arrays(start, carries));
            detail::check_structure(detail::while_loop_changes, detail::TreeRef(start), detail::TreeRef(next), location);
            return detail::arrays_of(next);
        };
        return detail::with_arrays(start, detail::run_while(detail::arrays_of(start), test, step, location));
    }
}

/// How scan runs.
struct ScanOptions {
    std::int64_t length = -1; ///< needed only when xs holds no array
    bool reverse = false;     ///< from the last slice to the first
};

/// pair{carry, ys}: body(carry, slice of xs) -> pair{carry, y}, along the leading axis of the arrays of xs; the y's are stacked. A body
/// with nothing to stack returns the bare carry, and so does scan. Errors: leading axes that differ; a carry that changes.
template <class Body, class Carry, class Xs>
[[nodiscard]] auto scan(Body&& body, Carry&& carry, const Xs& xs, ScanOptions options = {},
                        std::source_location location = std::source_location::current()) {
    if constexpr (detail::expect_trees<Carry, Xs>()) {
        using C = detail::Traced<Carry>;
        using X = detail::Traced<Xs>;
        const C start = detail::to_traced(std::forward<Carry>(carry));
        const X inputs = detail::to_traced(Xs(xs));
        using R = std::remove_cvref_t<decltype(body(std::declval<C>(), std::declval<X>()))>;
        using Parts = detail::ScanParts<R, C>;
        const std::vector<Array> carried = detail::arrays_of(start);
        const auto run = [&](auto& step) {
            return detail::run_scan(carried, detail::arrays_of(inputs), options.length, options.reverse, step, location);
        };
        if constexpr (Parts::has_ys) {
            using Y = detail::Traced<typename Parts::ys>;
            std::optional<Y> stacked;
            auto step = [&](const std::vector<Array>& carries, const std::vector<Array>& slices) {
                R result = body(detail::with_arrays(start, carries), detail::with_arrays(inputs, slices));
                detail::check_structure(detail::scan_changes, detail::TreeRef(start), detail::TreeRef(result.first), location);
                std::vector<Array> out = detail::arrays_of(result.first);
                stacked.emplace(detail::to_traced(std::move(result.second)));
                detail::add_arrays(detail::TreeRef(*stacked), out);
                return out;
            };
            const std::vector<Array> out = run(step);
            return std::pair(detail::with_arrays(start, out), detail::with_arrays(std::move(*stacked), out, carried.size()));
        } else if constexpr (!std::is_convertible_v<R, C>) {
            static_assert(std::is_convertible_v<R, C>, "scan: the body returns the carry, or std::pair{carry, y} with what is stacked");
        } else {
            auto step = [&](const std::vector<Array>& carries, const std::vector<Array>& slices) {
                const C next = body(detail::with_arrays(start, carries), detail::with_arrays(inputs, slices));
                detail::check_structure(detail::scan_changes, detail::TreeRef(start), detail::TreeRef(next), location);
                return detail::arrays_of(next);
            };
            return detail::with_arrays(start, run(step));
        }
    }
}

namespace detail {
template <class R, class... Branches, class... A>
R choose(const Operand& index, bool is_predicate, const std::tuple<Branches...>& branches, A&&... args) {
    const auto held = std::tuple<Traced<A>...>(to_traced(std::forward<A>(args))...);
    std::optional<R> result;
    SameStructure same;
    auto branch = [&](std::size_t k, const std::vector<Array>& arrays) {
        const auto copy = with_arrays(held, arrays);
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            static_cast<void>(((K == k ? (result.emplace(to_traced(std::apply(std::get<K>(branches), copy))), true) : false) || ...));
        }(std::index_sequence_for<Branches...>{});
        same.check(is_predicate ? "cond: the branches return different structures or static values"
                                : "switch_: the branches return different structures or static values",
                   TreeRef(*result), index.location());
        return arrays_of(*result);
    };
    const std::vector<Array> out = run_branches(index, is_predicate, sizeof...(Branches), arrays_of(held), branch);
    return with_arrays(std::move(*result), out);
}
} // namespace detail

/// on_true(args...) where the predicate (bool, rank 0) holds, else on_false(args...); both give the same structure. Inside traced functions
/// both are traced and one runs; elsewhere only the chosen one is called. Example: cond(t > 0, [&] { return t * t; }, [&] { return -t; }).
/// Errors: a predicate that is no bool of rank 0; branches whose dtypes, shapes or structures differ.
template <class OnTrue, class OnFalse, class... A>
[[nodiscard]] auto cond(const Operand& predicate, OnTrue&& on_true, OnFalse&& on_false, A&&... args) {
    constexpr bool are_functions =
        std::is_invocable_v<OnTrue&, detail::Traced<A>...> && std::is_invocable_v<OnFalse&, detail::Traced<A>...>;
    static_assert(are_functions,
                  "cond: the branches are functions of the arguments after them: cond(p, [&] { return x; }, [&] { return y; }); "
                  "where(p, x, y) chooses values");
    if constexpr (are_functions && detail::expect_trees<A...>()) {
        using R = detail::Traced<decltype(on_true(std::declval<detail::Traced<A>>()...))>;
        using Other = detail::Traced<decltype(on_false(std::declval<detail::Traced<A>>()...))>;
        static_assert(std::is_same_v<R, Other>, "both branches of cond give the same type");
        if constexpr (detail::expect_trees<R>() && std::is_same_v<R, Other>)
            return detail::choose<R>(predicate, true, std::forward_as_tuple(on_true, on_false), std::forward<A>(args)...);
    }
}

/// branches[index](args...): `switch_(i, std::tuple{f, g, h}, x)`. An index (integer, rank 0) below 0 means the first branch, one beyond
/// the branches the last. Errors: an index that is no integer of rank 0; branches whose dtypes, shapes or structures differ.
template <class First, class... Rest, class... A>
[[nodiscard]] auto switch_(const Operand& index, const std::tuple<First, Rest...>& branches, A&&... args) {
    if constexpr (detail::expect_trees<A...>()) {
        using R = detail::Traced<decltype(std::get<0>(branches)(std::declval<detail::Traced<A>>()...))>;
        if constexpr (detail::expect_trees<R>()) return detail::choose<R>(index, false, branches, std::forward<A>(args)...);
    }
}

} // namespace stithy
