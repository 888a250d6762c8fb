#pragma once
#include "stithy/detail/function_ref.hpp"
#include "stithy/jit.hpp"
#include "stithy/operand.hpp"
#include "stithy/tree.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Loops and branches as parts of a program: a loop is one piece of compiled code, also outside jit. Carried values are trees; numbers in them become Arrays.
namespace stithy {

/// A bound of fori_loop: a C++ integer, or a rank-0 integer Array (then the number of steps is data). Remembers the caller's line.
class Bound {
public:
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Bound(T value, std::source_location location = std::source_location::current())
        : value_(static_cast<std::int64_t>(value)), dtype_(dtype_of<T>), location_(location) {}
    Bound(const Array& x, std::source_location location = std::source_location::current()) : array_(x), dtype_(x.dtype()), location_(location) {}

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
Arrays run_scan(const Arrays& carries, const Arrays& xs, std::int64_t length, bool reverse, FunctionRef<Arrays(const Arrays&, const Arrays&)> body,
                const std::source_location& location);
/// Results of the branch that `index` chooses (clamped). branch(k, arguments) -> results. `is_predicate`: branch 0 serves true, 1 false.
Arrays run_branches(const Operand& index, bool is_predicate, std::size_t count, const Arrays& arguments,
                    FunctionRef<Arrays(std::size_t, const Arrays&)> branch);

/// Copies `like` with arrays replaced.
template <class T>
T fill(const T& like, const Arrays& arrays, std::size_t from = 0) {
    T out = like;
    for_each_array(out, [&](Array& a) { a = arrays[from++]; });
    return out;
}

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
[[noreturn]] void refuse_structure(const char* what, const std::source_location& location);
/// Error unless the trees agree in all but their arrays.
template <class T>
void check_structure(const char* what, const T& before, const T& after, const std::source_location& location) {
    if (structure_of(before) != structure_of(after)) refuse_structure(what, location);
}
} // namespace detail

/// carry after `for (i = lower; i < upper; ++i) carry = body(i, carry)`. body(Array counter, carry) -> carry of the same structure, dtypes and shapes. The counter's dtype is the
/// promotion of the bounds. Bounds that are C++ integers may be differentiated through in reverse. Example: fori_loop(0, 5, [&](Array, Array p) { return p * x; }, Array(1.0)).
/// Errors: a carry whose dtype, shape or structure changes.
template <class Body, Tree Carry>
[[nodiscard]] detail::Traced<Carry> fori_loop(const Bound& lower, const Bound& upper, Body&& body, Carry&& carry) {
    using C = detail::Traced<Carry>;
    C start = detail::to_traced(std::forward<Carry>(carry));
    auto step = [&](const Array& counter, const std::vector<Array>& carries) {
        C next = std::forward<Body>(body)(counter, detail::fill(start, carries));
        detail::check_structure("fori_loop: the body returns another structure or other static values than the carry", start, next, lower.location());
        return detail::arrays_of(next);
    };
    return detail::fill(start, detail::run_fori(lower, upper, detail::arrays_of(start), step));
}

/// carry after `while (condition(carry)) carry = body(carry)`. condition gives a bool of rank 0. Differentiates forwards; in reverse only where the loop counts to a limit.
template <class Condition, class Body, Tree Carry>
[[nodiscard]] detail::Traced<Carry> while_loop(Condition&& condition, Body&& body, Carry&& carry,
                                               std::source_location location = std::source_location::current()) {
    using C = detail::Traced<Carry>;
    C start = detail::to_traced(std::forward<Carry>(carry));
    auto test = [&](const std::vector<Array>& carries) { return Array(condition(detail::fill(start, carries))); };
    auto step = [&](const std::vector<Array>& carries) {
        C next = body(detail::fill(start, carries));
        detail::check_structure("while_loop: the body returns another structure or other static values than the carry", start, next, location);
        return detail::arrays_of(next);
    };
    return detail::fill(start, detail::run_while(detail::arrays_of(start), test, step, location));
}

/// How scan runs.
struct ScanOptions {
    std::int64_t length = -1; ///< needed only when xs holds no array
    bool reverse = false;     ///< from the last slice to the first
};

/// pair{carry, ys}: body(carry, slice of xs) -> pair{carry, y}, along the leading axis of the arrays of xs; the y's are stacked. A body with nothing to stack returns the bare carry,
/// and so does scan. Errors: leading axes that differ; a carry that changes.
template <class Body, Tree Carry, Tree Xs>
[[nodiscard]] auto scan(Body&& body, Carry&& carry, const Xs& xs, ScanOptions options = {}, std::source_location location = std::source_location::current()) {
    using C = detail::Traced<Carry>;
    using X = detail::Traced<Xs>;
    C start = detail::to_traced(std::forward<Carry>(carry));
    const X inputs = detail::to_traced(Xs(xs));
    using R = std::remove_cvref_t<decltype(body(std::declval<C>(), std::declval<X>()))>;
    using Parts = detail::ScanParts<R, C>;
    if constexpr (Parts::has_ys) {
        using Y = detail::Traced<typename Parts::ys>;
        std::unique_ptr<Y> stacked;
        auto step = [&](const std::vector<Array>& carries, const std::vector<Array>& slices) {
            R result = body(detail::fill(start, carries), detail::fill(inputs, slices));
            detail::check_structure("scan: the body returns another structure or other static values than the carry", start, C(result.first), location);
            std::vector<Array> out = detail::arrays_of(result.first);
            stacked = std::make_unique<Y>(detail::to_traced(std::move(result.second)));
            detail::for_each_array(*stacked, [&](Array& y) { out.push_back(y); });
            return out;
        };
        const std::vector<Array> out =
            detail::run_scan(detail::arrays_of(start), detail::arrays_of(inputs), options.length, options.reverse, step, location);
        const std::size_t n = detail::arrays_of(start).size();
        if (!stacked) detail::refuse_structure("scan: the body was not traced", location);
        return std::pair(detail::fill(start, out), detail::fill(*stacked, out, n));
    } else {
        auto step = [&](const std::vector<Array>& carries, const std::vector<Array>& slices) {
            C next = body(detail::fill(start, carries), detail::fill(inputs, slices));
            detail::check_structure("scan: the body returns another structure or other static values than the carry", start, next, location);
            return detail::arrays_of(next);
        };
        return detail::fill(start, detail::run_scan(detail::arrays_of(start), detail::arrays_of(inputs), options.length, options.reverse, step, location));
    }
}

namespace detail {
template <class R, class... Branches, class... A>
R choose(const Operand& index, bool is_predicate, const std::tuple<Branches...>& branches, A&&... args) {
    auto held = std::tuple<Traced<A>...>(to_traced(std::forward<A>(args))...);
    std::unique_ptr<R> result;
    std::unique_ptr<std::string> first; // structure of the branch that was traced first
    auto branch = [&](std::size_t k, const Arrays& arrays) {
        auto copy = held;
        std::size_t next = 0;
        std::apply([&](auto&... a) { (for_each_array(a, [&](Array& x) { x = arrays[next++]; }), ...); }, copy);
        Arrays out;
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            static_cast<void>(((K == k ? (result = std::make_unique<R>(to_traced(std::apply(std::get<K>(branches), copy))), true) : false) || ...));
        }(std::index_sequence_for<Branches...>{});
        if (!first) first = std::make_unique<std::string>(structure_of(*result));
        else if (*first != structure_of(*result))
            refuse_structure(is_predicate ? "cond: the branches return different structures or static values" : "switch_: the branches return different structures or static values",
                             index.location());
        return arrays_of(*result);
    };
    Arrays arguments;
    std::apply([&](auto&... a) { (for_each_array(a, [&](Array& x) { arguments.push_back(x); }), ...); }, held);
    const Arrays out = run_branches(index, is_predicate, sizeof...(Branches), arguments, branch);
    return fill(*result, out);
}
} // namespace detail

/// on_true(args...) where the predicate (bool, rank 0) holds, else on_false(args...); both give the same structure. Inside traced functions both are traced and one runs;
/// elsewhere only the chosen one is called. Example: cond(t > 0, [&] { return t * t; }, [&] { return -t; }).
template <class OnTrue, class OnFalse, Tree... A>
[[nodiscard]] auto cond(const Operand& predicate, OnTrue&& on_true, OnFalse&& on_false, A&&... args) {
    using R = detail::Traced<decltype(on_true(std::declval<detail::Traced<A>>()...))>;
    static_assert(std::is_same_v<R, detail::Traced<decltype(on_false(std::declval<detail::Traced<A>>()...))>>, "both branches of cond give the same type");
    return detail::choose<R>(predicate, true, std::forward_as_tuple(on_true, on_false), std::forward<A>(args)...);
}

/// branches[index](args...), the index clamped to the branches: `switch_(i, std::tuple{f, g, h}, x)`.
template <class First, class... Rest, Tree... A>
[[nodiscard]] auto switch_(const Operand& index, const std::tuple<First, Rest...>& branches, A&&... args) {
    using R = detail::Traced<decltype(std::get<0>(branches)(std::declval<detail::Traced<A>>()...))>;
    return detail::choose<R>(index, false, branches, std::forward<A>(args)...);
}

} // namespace stithy
