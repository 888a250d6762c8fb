#pragma once
#include "stithy/array.hpp"
#include "stithy/detail/fields.hpp"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Trees of arrays: what functions that are traced take and return. Arrays, numbers, enums, strings; std::vector, array, tuple, pair, map,
/// optional of trees; and plain structs (aggregates without base classes, C arrays or private members) of trees.
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
    if constexpr (std::is_same_v<T, Array> || is_static<T>)
        return true;
    else if constexpr (IsSequence<T>::value || IsOptional<T>::value)
        return is_tree<typename T::value_type>();
    else if constexpr (IsMap<T>::value)
        return is_static<typename T::key_type> && is_tree<typename T::mapped_type>();
    else if constexpr (IsTuple<T>::value)
        return elements_are_trees<T>(std::make_index_sequence<std::tuple_size_v<T>>{});
    else
        return field_count<T>() > 0;
}
} // namespace detail

/// What traced functions take and return (see the top of this file).
template <class T>
concept Tree = detail::is_tree<std::remove_cvref_t<T>>();

namespace detail {

// ---- numbers that become arrays ----

/// The type that a tree has inside a traced function: numbers that are elements of a tuple, pair, vector, array, map or optional are Arrays
/// there; members of structs stay.
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
    if constexpr (std::is_same_v<Traced<T>, Plain>)
        return std::forward<T>(value);
    else if constexpr (std::is_arithmetic_v<Plain>)
        return Array(value, std::source_location());
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

/// What goes over a tree. One walk is compiled for each type of tree, whatever is done on the way.
class TreeVisitor {
public:
    virtual void array(Array& x) = 0;
    /// A static leaf, as bytes.
    virtual void value(const void* data, std::size_t size) = 0;
    /// What shapes the tree, as bytes: a size, a key.
    virtual void shape(const void* data, std::size_t size) = 0;

protected:
    ~TreeVisitor() = default;
};

/// Visits the leaves in a fixed order.
template <class T>
void visit(T& tree, TreeVisitor& visitor) {
    const auto size_is = [&](std::size_t n) { visitor.shape(&n, sizeof n); };
    if constexpr (std::is_same_v<T, Array>)
        visitor.array(tree);
    else if constexpr (std::is_same_v<T, std::string>) {
        const std::size_t n = tree.size();
        visitor.value(&n, sizeof n);
        visitor.value(tree.data(), n);
    } else if constexpr (is_static<T>) {
        visitor.value(&tree, sizeof tree);
    } else if constexpr (IsOptional<T>::value) {
        size_is(tree.has_value() ? 1 : 0);
        if (tree) visit(*tree, visitor);
    } else if constexpr (IsSequence<T>::value) {
        size_is(tree.size());
        if constexpr (std::is_same_v<typename T::value_type, bool>) {
            for (const bool e : tree) visitor.value(&e, sizeof e); // vector<bool> has no elements to point at
        } else {
            for (auto& e : tree) visit(e, visitor);
        }
    } else if constexpr (IsMap<T>::value) {
        size_is(tree.size());
        for (auto& [key, element] : tree) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key)>, std::string>) {
                size_is(key.size());
                visitor.shape(key.data(), key.size());
            } else {
                visitor.shape(&key, sizeof key);
            }
            visit(element, visitor);
        }
    } else if constexpr (IsTuple<T>::value) {
        std::apply([&](auto&... e) { (visit(e, visitor), ...); }, tree);
    } else {
        for_each_field(tree, [&](auto& e) {
            static_assert(is_tree<std::remove_cvref_t<decltype(e)>>(), "stithy: a member of this struct is not a tree of arrays (arrays, "
                                                                       "numbers, enums, strings; std::vector, array, tuple, pair, "
                                                                       "map, optional and plain structs of these)");
            visit(e, visitor);
        });
    }
}

/// A tree seen where it lies, its type forgotten. It is written to only through `put_arrays` and the like.
struct TreeRef {
    void* tree;
    void (*visit)(void* tree, TreeVisitor& visitor);

    template <class T>
    explicit TreeRef(const T& t)
        : tree(const_cast<T*>(std::addressof(t))), visit([](void* p, TreeVisitor& v) { detail::visit(*static_cast<T*>(p), v); }) {}
};

/// What of a tree is not in its arrays: static leaves, sizes and keys. Equal for trees of one structure.
std::string structure_of(TreeRef tree);
/// The arrays, in order, after those that are there.
void add_arrays(TreeRef tree, std::vector<Array>& to);
std::vector<Array> arrays_of(TreeRef tree);
/// Replaces the arrays by those from `next` on, and moves `next` on.
void put_arrays(TreeRef tree, const std::vector<Array>& arrays, std::size_t& next);
/// Leaves all arrays empty.
void clear_arrays(TreeRef tree);

template <class T>
std::vector<Array> arrays_of(const T& tree) {
    return arrays_of(TreeRef(tree));
}
template <class T>
std::string structure_of(const T& tree) {
    return structure_of(TreeRef(tree));
}
/// A copy of the tree with its arrays replaced, in order, by those from `from` on.
template <class T>
T with_arrays(T tree, const std::vector<Array>& arrays, std::size_t from = 0) {
    put_arrays(TreeRef(tree), arrays, from);
    return tree;
}

/// False, after one readable line, where an argument or result is no tree.
template <class... T>
constexpr bool expect_trees() {
    static_assert(
        (Tree<T> && ...),
        "not a tree of arrays: arguments, results and carries are arrays, numbers, enums, strings, std::vector, array, tuple, pair, map, "
        "optional, and plain structs of these (aggregates without base class, C array or private members, of at most 32 members)");
    return (Tree<T> && ...);
}

/// Error unless all trees hold as many arrays as the first, and those of its type have its sizes and keys.
void check_one_structure(const char* name, std::initializer_list<TreeRef> trees, const std::source_location& location);

template <class F, class T, class... More>
T map_trees(const std::source_location& location, F& f, const T& first, const More&... more) {
    check_one_structure("tree_map", {TreeRef(first), TreeRef(more)...}, location);
    const std::vector<Array> leaves[] = {arrays_of(first), arrays_of(more)...};
    std::vector<Array> mapped;
    for (std::size_t i = 0; i < leaves[0].size(); ++i)
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            mapped.push_back(f(leaves[K][i]...));
        }(std::make_index_sequence<1 + sizeof...(More)>{});
    return with_arrays(first, mapped);
}

} // namespace detail

/// Applies f to the arrays of one, two or three trees of one structure, leaf by leaf; gives a tree like the first (static leaves are the
/// first's). Error when the trees hold different numbers of arrays, or trees of one type different sizes or keys.
template <class F, class T>
[[nodiscard]] T tree_map(F&& f, const T& tree, std::source_location location = std::source_location::current()) {
    if constexpr (detail::expect_trees<T>()) return detail::map_trees(location, f, tree);
}
template <class F, class T, Tree U>
[[nodiscard]] T tree_map(F&& f, const T& first, const U& second, std::source_location location = std::source_location::current()) {
    if constexpr (detail::expect_trees<T>()) return detail::map_trees(location, f, first, second);
}
template <class F, class T, Tree U, Tree V>
[[nodiscard]] T tree_map(F&& f, const T& first, const U& second, const V& third,
                         std::source_location location = std::source_location::current()) {
    if constexpr (detail::expect_trees<T>()) return detail::map_trees(location, f, first, second, third);
}
template <class F, class T, Tree U, Tree V, Tree W, Tree... More>
[[nodiscard]] T tree_map(F&& f, const T& first, const U& second, const V& third, const W& fourth, const More&... more) {
    if constexpr (detail::expect_trees<T>()) return detail::map_trees(std::source_location(), f, first, second, third, fourth, more...);
}

} // namespace stithy
