#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace stithy {

/// Element type of an array, a small value. Constants `stithy::f64`, `stithy::i32`, ... name them.
class DType {
public:
    enum Code : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

    constexpr DType() = default;
    constexpr DType(Code code) : code_(code) {}

    [[nodiscard]] constexpr Code code() const { return code_; }
    /// Bytes of one element in memory.
    [[nodiscard]] constexpr std::size_t size() const {
        constexpr std::uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
        return sizes[code_];
    }
    [[nodiscard]] constexpr int bits() const { return code_ == boolean ? 1 : static_cast<int>(size()) * 8; }
    [[nodiscard]] constexpr bool is_bool() const { return code_ == boolean; }
    [[nodiscard]] constexpr bool is_signed() const { return code_ >= i8 && code_ <= i64; }
    [[nodiscard]] constexpr bool is_unsigned() const { return code_ >= u8 && code_ <= u64; }
    /// True for signed and unsigned integers, not for bool.
    [[nodiscard]] constexpr bool is_integer() const { return code_ >= i8 && code_ <= u64; }
    [[nodiscard]] constexpr bool is_floating() const { return code_ >= f32; }
    /// Short name: "bool", "i32", "f64", ...
    [[nodiscard]] std::string_view name() const;

    friend constexpr bool operator==(DType a, DType b) { return a.code_ == b.code_; }

private:
    Code code_ = f64;
};

inline constexpr int dtype_count = 11;
inline constexpr DType boolean{DType::boolean};
inline constexpr DType i8{DType::i8};
inline constexpr DType i16{DType::i16};
inline constexpr DType i32{DType::i32};
inline constexpr DType i64{DType::i64};
inline constexpr DType u8{DType::u8};
inline constexpr DType u16{DType::u16};
inline constexpr DType u32{DType::u32};
inline constexpr DType u64{DType::u64};
inline constexpr DType f32{DType::f32};
inline constexpr DType f64{DType::f64};

namespace detail {
template <class T>
constexpr DType dtype_of_arithmetic() {
    if constexpr (std::is_same_v<T, bool>)
        return boolean;
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? f32 : f64;
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 1 ? i8 : sizeof(T) == 2 ? i16 : sizeof(T) == 4 ? i32 : i64;
    else
        return sizeof(T) == 1 ? u8 : sizeof(T) == 2 ? u16 : sizeof(T) == 4 ? u32 : u64;
}
} // namespace detail

/// The dtype that a C++ arithmetic type maps to (`double` -> f64, `int` -> i32, ...).
template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>)
inline constexpr DType dtype_of = detail::dtype_of_arithmetic<T>();

/// dtype of an operation on arrays of two dtypes, as JAX has it: i32 with f32 gives f32, i64 with f32 gives f32, i64 with u64 gives f64.
[[nodiscard]] DType promote(DType a, DType b);

} // namespace stithy
