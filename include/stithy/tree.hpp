#pragma once
#include "stithy/array.hpp"
#include "stithy/detail/fields.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Trees of arrays: what functions that are traced take and return. Arrays, numbers, enums, strings; std::vector, array, tuple, pair, map, optional of
/// trees; and plain structs (aggregates without base classes, C arrays or private members) of trees.
namespace stithy {

namespace detail {
template <class T>
struct IsSequence : std::false_type {};
template <class T, class A>
struct IsSequence<std::vector<T, A>> : std::true_type {};
template <class T, std::size_t N>
struct IsSequence<std::array<T, N>> : std::true_type {};

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class C, class A>
struct IsMap<std::map<K, V, C, A>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// A leaf that is kept as it is: its value is part of the program.
template <class T>
inline constexpr bool is_static = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;

template <class T>
constexpr bool is_tree();

template <class Tuple, std::size_t... I>
constexpr bool elements_are_trees(std::index_sequence<I...>) {
    return (is_tree<std::tuple_element_t<I, Tuple>>() && ...);
}

template <class T>
constexpr bool is_tree() {
    if constexpr (std::is_same_v<T, Array> || is_static<T>) return true;
    else if constexpr (IsSequence<T>::value || IsOptional<T>::value) return is_tree<typename T::value_type>();
    else if constexpr (IsMap<T>::value) return is_static<typename T::key_type> && is_tree<typename T::mapped_type>();
    else if constexpr (IsTuple<T>::value) return elements_are_trees<T>(std::make_index_sequence<std::tuple_size_v<T>>{});
    else return field_count<T>() > 0;
}
} // namespace detail

/// What traced functions take and return (see the top of this file).
template <class T>
concept Tree = detail::is_tree<std::remove_cvref_t<T>>();

namespace detail {

// ---- numbers that become arrays ----

/// The type that a tree has inside a traced function: numbers that are elements of a tuple, pair, vector, array, map or optional are Arrays there; members of structs stay.
template <class T>
struct TracedType {
    using type = T;
};
template <class T>
    requires(std::is_arithmetic_v<T>)
struct TracedType<T> {
    using type = Array;
};
template <class T, class A>
struct TracedType<std::vector<T, A>> {
    using type = std::vector<typename TracedType<T>::type>;
};
template <class T, std::size_t N>
struct TracedType<std::array<T, N>> {
    using type = std::array<typename TracedType<T>::type, N>;
};
template <class... T>
struct TracedType<std::tuple<T...>> {
    using type = std::tuple<typename TracedType<T>::type...>;
};
template <class A, class B>
struct TracedType<std::pair<A, B>> {
    using type = std::pair<typename TracedType<A>::type, typename TracedType<B>::type>;
};
template <class K, class V, class C, class A>
struct TracedType<std::map<K, V, C, A>> {
    using type = std::map<K, typename TracedType<V>::type, C>;
};
template <class T>
struct TracedType<std::optional<T>> {
    using type = std::optional<typename TracedType<T>::type>;
};
template <class T>
using Traced = typename TracedType<std::remove_cvref_t<T>>::type;

template <class T>
Traced<T> to_traced(T&& value) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<Traced<T>, Plain>) return std::forward<T>(value);
    else if constexpr (std::is_arithmetic_v<Plain>) return Array(value, std::source_location());
    else if constexpr (IsTuple<Plain>::value)
        return std::apply([](auto&&... e) { return Traced<T>(to_traced(std::forward<decltype(e)>(e))...); }, std::forward<T>(value));
    else {
        Traced<T> out;
        if constexpr (IsOptional<Plain>::value) {
            if (value) out = to_traced(*value);
        } else if constexpr (IsMap<Plain>::value) {
            for (auto& [k, v] : value) out.emplace(k, to_traced(v));
        } else if constexpr (requires { out.reserve(value.size()); }) {
            for (const auto& e : value) out.push_back(to_traced(e));
        } else {
            for (std::size_t i = 0; i < value.size(); ++i) out[i] = to_traced(value[i]);
        }
        return out;
    }
}

// ---- walks ----

/// Calls f(Array&) for each array and s(const X&) for each static leaf and each number that shapes the tree (sizes, keys), in a fixed order.
template <class T, class F, class S>
void walk(T& tree, F& f, S& s) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, Array>) f(tree);
    else if constexpr (is_static<Plain>) s(tree);
    else if constexpr (IsOptional<Plain>::value) {
        s(tree.has_value());
        if (tree) walk(*tree, f, s);
    } else if constexpr (IsSequence<Plain>::value) {
        s(tree.size());
        for (auto& e : tree) walk(e, f, s);
    } else if constexpr (IsMap<Plain>::value) {
        s(tree.size());
        for (auto& [k, v] : tree) {
            s(k);
            walk(v, f, s);
        }
    } else if constexpr (IsTuple<Plain>::value) {
        std::apply([&](auto&... e) { (walk(e, f, s), ...); }, tree);
    } else {
        static_assert(field_count<Plain>() > 0, "not a tree of arrays: a struct must be a plain aggregate without base classes, C arrays or private members");
        for_each_field(tree, [&](auto& e) { walk(e, f, s); });
    }
}

/// Calls f(Array&) for each array of a tree.
template <class T, class F>
void for_each_array(T& tree, F&& f) {
    auto skip = [](const auto&) {};
    walk(tree, f, skip);
}

/// Bytes that tell static leaves apart.
class KeyBytes {
public:
    template <class X>
    void operator()(const X& x) {
        if constexpr (std::is_same_v<X, std::string>) {
            put(x.size());
            text_.append(x);
        } else {
            put(x);
        }
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::string& text() { return text_; }

private:
    template <class X>
    void put(const X& x) {
        char bytes[sizeof(X)];
        std::memcpy(bytes, &x, sizeof(X));
        text_.append(bytes, sizeof(X));
    }
    std::string text_;
};

/// What of a tree is not in its arrays: static leaves, sizes and keys. Equal for trees of one structure.
template <class T>
std::string structure_of(const T& tree) {
    KeyBytes key;
    std::size_t arrays = 0;
    auto count = [&](const Array&) { ++arrays; };
    walk(tree, count, key);
    key(arrays);
    return key.text();
}

template <class T>
std::vector<Array> arrays_of(const T& tree) {
    std::vector<Array> out;
    for_each_array(tree, [&](const Array& a) { out.push_back(a); });
    return out;
}

/// A copy of the tree with its arrays replaced, in order.
template <class T>
T with_arrays(T tree, const std::vector<Array>& arrays) {
    std::size_t next = 0;
    for_each_array(tree, [&](Array& a) { a = arrays[next++]; });
    return tree;
}

} // namespace detail

/// Applies f to the arrays of trees of one structure, leaf by leaf; gives a tree like the first. Static leaves are the first's.
/// Error when the trees have different numbers of arrays.
template <class F, Tree T, Tree... More>
[[nodiscard]] std::remove_cvref_t<T> tree_map(F&& f, const T& first, const More&... more) {
    std::remove_cvref_t<T> out = first;
    const std::vector<Array> others[] = {detail::arrays_of(first), detail::arrays_of(more)...};
    for (const auto& o : others)
        if (o.size() != others[0].size())
            throw Error("tree_map: trees with " + std::to_string(others[0].size()) + " and " + std::to_string(o.size()) + " arrays, expected one structure");
    std::size_t i = 0;
    detail::for_each_array(out, [&](Array& a) {
        [&]<std::size_t... K>(std::index_sequence<K...>) { a = f(others[K][i]...); }(std::make_index_sequence<1 + sizeof...(More)>{});
        ++i;
    });
    return out;
}

} // namespace stithy
