#pragma once
#include "stithy/array.hpp"

#include <cstdint>
#include <source_location>

namespace stithy {

/// What operators and functions take: an Array, or a C++ number. A number is weak: it takes the dtype of the arrays it meets where its
/// kind allows. Remembers where the user's code made it. Lives within one expression only, hence neither copied nor moved.
class Operand {
public:
    Operand(const Array& x, std::source_location location = std::source_location::current()) : array_(&x), location_(location) {}
    /// A dying array: its memory may be reused for the result.
    Operand(Array&& x, std::source_location location = std::source_location::current()) : array_(&x), dying_(true), location_(location) {}
    template <Number T>
    Operand(T value, std::source_location location = std::source_location::current())
        : bits_(detail::to_bits(value)), dtype_(dtype_of<T>), location_(location) {}
    Operand(const Operand&) = delete;
    Operand& operator=(const Operand&) = delete;

    [[nodiscard]] bool is_number() const { return array_ == nullptr; }
    /// Of an array.
    [[nodiscard]] const Array& array() const { return *array_; }
    [[nodiscard]] bool dying() const { return dying_; }
    /// Of a number: its C++ type's dtype and its bits.
    [[nodiscard]] DType number_dtype() const { return dtype_; }
    [[nodiscard]] std::uint64_t number_bits() const { return bits_; }
    [[nodiscard]] const std::source_location& location() const { return location_; }

private:
    const Array* array_ = nullptr;
    std::uint64_t bits_ = 0;
    DType dtype_;
    bool dying_ = false;
    std::source_location location_;
};

/// Elementwise arithmetic with NumPy's broadcasting. Dtypes promote; `/` of integers or bools is true division and gives f64.
/// Errors, of all operators: shapes that do not broadcast; a dtype that the operation does not take (- of bools, & of floats); a number
/// that does not fit.
[[nodiscard]] Array operator+(const Operand& a, const Operand& b);
[[nodiscard]] Array operator-(const Operand& a, const Operand& b);
[[nodiscard]] Array operator*(const Operand& a, const Operand& b);
[[nodiscard]] Array operator/(const Operand& a, const Operand& b);
/// Remainder with the divisor's sign, as NumPy's mod.
[[nodiscard]] Array operator%(const Operand& a, const Operand& b);
[[nodiscard]] Array operator-(const Operand& a);
[[nodiscard]] Array operator+(const Operand& a);

/// Elementwise comparisons; the result is bool.
[[nodiscard]] Array operator==(const Operand& a, const Operand& b);
[[nodiscard]] Array operator!=(const Operand& a, const Operand& b);
[[nodiscard]] Array operator<(const Operand& a, const Operand& b);
[[nodiscard]] Array operator<=(const Operand& a, const Operand& b);
[[nodiscard]] Array operator>(const Operand& a, const Operand& b);
[[nodiscard]] Array operator>=(const Operand& a, const Operand& b);

/// Bitwise on integers, logical on bools; `>>` keeps the sign of signed integers.
[[nodiscard]] Array operator&(const Operand& a, const Operand& b);
[[nodiscard]] Array operator|(const Operand& a, const Operand& b);
[[nodiscard]] Array operator^(const Operand& a, const Operand& b);
[[nodiscard]] Array operator~(const Operand& a);
[[nodiscard]] Array operator<<(const Operand& a, const Operand& b);
[[nodiscard]] Array operator>>(const Operand& a, const Operand& b);
/// Elementwise "not"; anything but 0 counts as true.
[[nodiscard]] Array operator!(const Array& a);

/// These would have to look at values: write `logical_and(a, b)` or `a & b`.
Array operator&&(const Array& a, const Array& b) = delete;
Array operator||(const Array& a, const Array& b) = delete;
template <class T>
Array operator&&(const Array& a, const T& b) = delete;
template <class T>
Array operator&&(const T& a, const Array& b) = delete;
template <class T>
Array operator||(const Array& a, const T& b) = delete;
template <class T>
Array operator||(const T& a, const Array& b) = delete;

/// a = a op b; a's memory is reused where nobody else holds it.
Array& operator+=(Array& a, const Operand& b);
Array& operator-=(Array& a, const Operand& b);
Array& operator*=(Array& a, const Operand& b);
Array& operator/=(Array& a, const Operand& b);

} // namespace stithy
