#pragma once
#include "stithy/operand.hpp"

#include <initializer_list>
#include <iterator>
#include <source_location>
#include <span>
#include <type_traits>
#include <vector>

namespace stithy {

namespace detail {
/// An array of bytes that are copied now, row-major.
Array array_of(DType dtype, const Shape& shape, const void* data, std::size_t elements, const std::source_location& location);
[[noreturn]] void fail_ragged(const std::source_location& location);
Array arange_of(DType dtype, double start, double stop, double step, const std::source_location& location);
/// Integers as 64 bits: of signed dtypes with their sign.
Array arange_of_integers(DType dtype, std::uint64_t start, std::uint64_t stop, std::uint64_t step, const std::source_location& location);

/// Numbers that lie in a row in memory: vectors, spans, std::array.
template <class C>
concept NumberRange = requires(const C& c) {
    { std::size(c) } -> std::convertible_to<std::size_t>;
    requires Number<std::remove_cvref_t<decltype(*std::data(c))>>;
} && !std::is_array_v<C>;

/// Flattens nested lists and checks that they are regular.
template <Number T>
struct Flat {
    std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>> values;
    Dims dims;
    std::source_location location;

    void visit(T value, std::size_t) { values.push_back(value); }
    template <class L>
    void visit(std::initializer_list<L> list, std::size_t depth) {
        const auto extent = static_cast<std::int64_t>(list.size());
        if (dims.size() == depth)
            dims.push_back(extent);
        else if (dims[depth] != extent)
            fail_ragged(location);
        for (const L& each : list) visit(each, depth + 1);
    }
    [[nodiscard]] Array make() const { return array_of(dtype_of<T>, Shape(dims), values.data(), values.size(), location); }
};
template <Number T, class L>
Array from_lists(const L& list, const std::source_location& location) {
    Flat<T> flat{{}, {}, location};
    flat.visit(list, 0);
    return flat.make();
}
} // namespace detail

/// An array of the numbers in nested lists, of rank 1 to 4, in their own dtype: `array({{1.0, 2.0}, {3.0, 4.0}})` is f64[2,2].
/// Error for lists of one level that differ in length.
template <Number T>
[[nodiscard]] Array array(std::initializer_list<T> values, std::source_location location = std::source_location::current()) {
    return detail::from_lists<T>(values, location);
}
template <Number T>
[[nodiscard]] Array array(std::initializer_list<std::initializer_list<T>> values,
                          std::source_location location = std::source_location::current()) {
    return detail::from_lists<T>(values, location);
}
template <Number T>
[[nodiscard]] Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
                          std::source_location location = std::source_location::current()) {
    return detail::from_lists<T>(values, location);
}
template <Number T>
[[nodiscard]] Array array(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values,
                          std::source_location location = std::source_location::current()) {
    return detail::from_lists<T>(values, location);
}
/// A copy of numbers that lie in a row in memory (vector, span, std::array), in their own dtype, of rank 1 or of a shape.
/// Error for a shape that holds another number of elements.
template <detail::NumberRange C>
[[nodiscard]] Array array(const C& values, std::source_location location = std::source_location::current()) {
    using T = std::remove_cvref_t<decltype(*std::data(values))>;
    return detail::array_of(dtype_of<T>, Shape({std::size(values)}), std::data(values), std::size(values), location);
}
template <detail::NumberRange C>
[[nodiscard]] Array array(const C& values, const Shape& shape, std::source_location location = std::source_location::current()) {
    using T = std::remove_cvref_t<decltype(*std::data(values))>;
    return detail::array_of(dtype_of<T>, shape, std::data(values), std::size(values), location);
}
template <std::same_as<bool> T> // a template, so that a list of mixed numbers does not become bools
[[nodiscard]] Array array(const std::vector<T>& values, std::source_location location = std::source_location::current());

/// Zeros of a shape. Error, of this and the following, for a negative extent or a shape too large to address.
[[nodiscard]] Array zeros(const Shape& shape, DType dtype = f64, std::source_location location = std::source_location::current());
/// Ones of a shape.
[[nodiscard]] Array ones(const Shape& shape, DType dtype = f64, std::source_location location = std::source_location::current());
/// Elements of no particular value, for what will be overwritten.
[[nodiscard]] Array empty(const Shape& shape, DType dtype = f64, std::source_location location = std::source_location::current());
/// `value` everywhere (an array that broadcasts to the shape, or a number), in its own dtype or in the one given.
/// Error for a value that does not broadcast, or a number that does not fit the dtype.
[[nodiscard]] Array full(const Shape& shape, const Operand& value);
[[nodiscard]] Array full(const Shape& shape, const Operand& value, DType dtype);
/// Zeros of the shape of x, in its dtype or in the one given.
[[nodiscard]] Array zeros_like(const Operand& x);
[[nodiscard]] Array zeros_like(const Operand& x, DType dtype);
/// `value` in the shape and dtype of x. Errors as `full`.
[[nodiscard]] Array full_like(const Operand& x, const Operand& value);
/// Ones of the shape of x, in its dtype or in the one given.
[[nodiscard]] Array ones_like(const Operand& x);
[[nodiscard]] Array ones_like(const Operand& x, DType dtype);

/// The identity matrix, n by n or n by m.
[[nodiscard]] Array eye(std::int64_t n, DType dtype = f64, std::source_location location = std::source_location::current());
[[nodiscard]] Array eye(std::int64_t n, std::int64_t m, DType dtype = f64, std::source_location location = std::source_location::current());

/// 0, 1, ..., stop - 1; or start, start + step, ... below stop (above, for a negative step); rank 1, in the numbers' dtype.
/// Error for a step of 0 or a NaN.
template <Number T>
    requires(!std::is_same_v<T, bool>)
[[nodiscard]] Array arange(T start, std::type_identity_t<T> stop, std::type_identity_t<T> step = 1,
                           std::source_location location = std::source_location::current()) {
    if constexpr (std::is_integral_v<T>)
        return detail::arange_of_integers(dtype_of<T>, static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(stop),
                                          static_cast<std::uint64_t>(step), location);
    else
        return detail::arange_of(dtype_of<T>, static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), location);
}
template <Number T>
    requires(!std::is_same_v<T, bool>)
[[nodiscard]] Array arange(T stop, std::source_location location = std::source_location::current()) {
    return arange<T>(T{0}, stop, T{1}, location);
}
/// `count` numbers from `start` to `stop` in equal steps, rank 1; ends exactly at `stop`. Error for a negative count or a dtype that is not
/// floating.
[[nodiscard]] Array linspace(double start, double stop, std::int64_t count, DType dtype = f64,
                             std::source_location location = std::source_location::current());
/// The lower triangle of the last two axes, zero elsewhere; `k` moves the diagonal up. Error for rank below 2.
[[nodiscard]] Array tril(const Operand& x, std::int64_t k = 0);
/// The upper triangle of the last two axes. Error for rank below 2.
[[nodiscard]] Array triu(const Operand& x, std::int64_t k = 0);
/// The matrix with this diagonal, for rank 1; the diagonal of a matrix, for rank 2. Error for other ranks.
[[nodiscard]] Array diag(const Operand& x);

} // namespace stithy
