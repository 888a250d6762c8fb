#pragma once
#include "stithy/index.hpp"
#include "stithy/shape.hpp"

#include <initializer_list>
#include <vector>

namespace stithy {

/// One axis: made from any integer, not from bool or floating point. Negative axes count from the end.
struct Axis {
    std::int64_t value;
    template <detail::PlainInteger T>
    constexpr Axis(T v) : value(static_cast<std::int64_t>(v)) {}
};

/// Axes of a reduction: one, several, or (default-made) all of them.
class Axes {
public:
    /// All axes.
    Axes() = default;
    template <detail::PlainInteger T>
    Axes(T axis) : all_(false) {
        dims_.push_back(static_cast<std::int64_t>(axis));
    }
    Axes(std::initializer_list<detail::Extent> axes) : all_(false) {
        for (detail::Extent a : axes) dims_.push_back(a.value);
    }
    template <detail::PlainInteger T>
    Axes(const std::vector<T>& axes) : all_(false) {
        for (T a : axes) dims_.push_back(static_cast<std::int64_t>(a));
    }
    /// True for all axes, however many there are.
    [[nodiscard]] bool all() const { return all_; }
    /// The axes as given, unless `all()`.
    [[nodiscard]] const detail::Dims& dims() const { return dims_; }

private:
    bool all_ = true;
    detail::Dims dims_;
};

/// Whether reduced axes stay with extent 1: pass `keepdims`.
struct KeepDims {
    bool value = false;
};
/// The value to pass.
inline constexpr KeepDims keepdims{true};

} // namespace stithy
