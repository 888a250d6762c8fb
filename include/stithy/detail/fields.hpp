#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

/// Reflection of plain structs: how many fields an aggregate has, and a visit of each. Aggregates with a base class or a C array are
/// refused (field_count is 0).
namespace stithy::detail {

inline constexpr std::size_t most_fields = 32;

/// Stands for any field while fields are counted; not for a base class of T.
template <class T>
struct AnyField {
    template <class U>
        requires(!std::is_base_of_v<U, T>)
    operator U() const noexcept;
};

/// Stands for a base class of T only.
template <class T>
struct AnyBase {
    template <class U>
        requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
    operator U() const noexcept;
};
template <class T>
inline constexpr bool has_base = requires { T{AnyBase<T>{}}; };

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), AnyField<T>{})...}; };
}
/// Whether place `At` followed by `After` more places can be given two values in braces.
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool takes_two(std::index_sequence<Before...>, std::index_sequence<After...>) {
    return requires {
        T{(static_cast<void>(Before), AnyField<T>{})..., {AnyField<T>{}, AnyField<T>{}}, (static_cast<void>(After), AnyField<T>{})...};
    };
}

template <class T, std::size_t N = most_fields>
constexpr std::size_t count_values() {
    if constexpr (N == 0)
        return 0;
    else if constexpr (takes<T>(std::make_index_sequence<N>{}))
        return N;
    else
        return count_values<T, N - 1>();
}

/// A C array takes several values of the count: two in braces fit its place only when one value fewer follows.
template <class T, std::size_t N, std::size_t At = 0>
constexpr bool has_c_array() {
    if constexpr (At + 1 >= N)
        return false;
    else if constexpr (!takes_two<T>(std::make_index_sequence<At>{}, std::make_index_sequence<N - At - 1>{}) &&
                       takes_two<T>(std::make_index_sequence<At>{}, std::make_index_sequence<N - At - 2>{}))
        return true;
    else
        return has_c_array<T, N, At + 1>();
}

/// Number of fields of an aggregate class; 0 when it has none, a base class, a C array, or more than 32.
template <class T>
constexpr std::size_t field_count() {
    if constexpr (std::is_aggregate_v<T> && std::is_class_v<T> && !has_base<T>) {
        constexpr std::size_t n = count_values<T>();
        if constexpr (n != 0 && !has_c_array<T, n>()) return n;
    }
    return 0;
}

/// Calls f with each field of an aggregate, in order.
template <class T, class F>
constexpr void for_each_field(T& value, F&& f) {
    constexpr std::size_t n = field_count<std::remove_const_t<T>>();
    if constexpr (n == 0)
        static_cast<void>(value);
    else if constexpr (n == 1) {
        auto& [a0] = value;
        (f(a0));
    } else if constexpr (n == 2) {
        auto& [a0, a1] = value;
        (f(a0), f(a1));
    } else if constexpr (n == 3) {
        auto& [a0, a1, a2] = value;
        (f(a0), f(a1), f(a2));
    } else if constexpr (n == 4) {
        auto& [a0, a1, a2, a3] = value;
        (f(a0), f(a1), f(a2), f(a3));
    } else if constexpr (n == 5) {
        auto& [a0, a1, a2, a3, a4] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4));
    } else if constexpr (n == 6) {
        auto& [a0, a1, a2, a3, a4, a5] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5));
    } else if constexpr (n == 7) {
        auto& [a0, a1, a2, a3, a4, a5, a6] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6));
    } else if constexpr (n == 8) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7));
    } else if constexpr (n == 9) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8));
    } else if constexpr (n == 10) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9));
    } else if constexpr (n == 11) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10));
    } else if constexpr (n == 12) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11));
    } else if constexpr (n == 13) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12));
    } else if constexpr (n == 14) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13));
    } else if constexpr (n == 15) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14));
    } else if constexpr (n == 16) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15));
    } else if constexpr (n == 17) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16));
    } else if constexpr (n == 18) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17));
    } else if constexpr (n == 19) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18));
    } else if constexpr (n == 20) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19));
    } else if constexpr (n == 21) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20));
    } else if constexpr (n == 22) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21));
    } else if constexpr (n == 23) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22));
    } else if constexpr (n == 24) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23));
    } else if constexpr (n == 25) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24));
    } else if constexpr (n == 26) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25] =
            value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25));
    } else if constexpr (n == 27) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25,
               a26] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26));
    } else if constexpr (n == 28) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26,
               a27] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26), f(a27));
    } else if constexpr (n == 29) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26,
               a27, a28] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26), f(a27), f(a28));
    } else if constexpr (n == 30) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26,
               a27, a28, a29] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26), f(a27), f(a28), f(a29));
    } else if constexpr (n == 31) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26,
               a27, a28, a29, a30] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26), f(a27), f(a28), f(a29), f(a30));
    } else if constexpr (n == 32) {
        auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26,
               a27, a28, a29, a30, a31] = value;
        (f(a0), f(a1), f(a2), f(a3), f(a4), f(a5), f(a6), f(a7), f(a8), f(a9), f(a10), f(a11), f(a12), f(a13), f(a14), f(a15), f(a16),
         f(a17), f(a18), f(a19), f(a20), f(a21), f(a22), f(a23), f(a24), f(a25), f(a26), f(a27), f(a28), f(a29), f(a30), f(a31));
    }
}

} // namespace stithy::detail
