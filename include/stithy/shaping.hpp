#pragma once
#include "stithy/axes.hpp"
#include "stithy/operand.hpp"

#include <initializer_list>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

/// Rearranging elements. Negative axes count from the end.
namespace stithy {

/// The elements in row-major order in another shape; one extent may be -1 and follows from the others.
[[nodiscard]] Array reshape(const Operand& x, const Shape& shape);
/// Rank 1.
[[nodiscard]] Array ravel(const Operand& x);
/// Axes in another order: reversed, or as `axes` says.
[[nodiscard]] Array transpose(const Operand& x);
[[nodiscard]] Array transpose(const Operand& x, const Axes& axes);
[[nodiscard]] Array swapaxes(const Operand& x, Axis a, Axis b);
[[nodiscard]] Array moveaxis(const Operand& x, Axis from, Axis to);
/// Without the axes of extent 1: all of those, or the ones given.
[[nodiscard]] Array squeeze(const Operand& x, const Axes& axes = {});
/// With new axes of extent 1 in these places of the result.
[[nodiscard]] Array expand_dims(const Operand& x, const Axes& axes);
/// Stretched by NumPy's rule.
[[nodiscard]] Array broadcast_to(const Operand& x, const Shape& shape);

/// Joined along an axis; the other extents must agree. Dtypes promote.
[[nodiscard]] Array concatenate(std::span<const Array> parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
[[nodiscard]] Array concatenate(std::initializer_list<Array> parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
[[nodiscard]] Array concatenate(const std::vector<Array>& parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
/// Joined along a new axis; shapes must be equal.
[[nodiscard]] Array stack(std::span<const Array> parts, Axis axis = 0, std::source_location location = std::source_location::current());
[[nodiscard]] Array stack(std::initializer_list<Array> parts, Axis axis = 0,
                          std::source_location location = std::source_location::current());
[[nodiscard]] Array stack(const std::vector<Array>& parts, Axis axis = 0, std::source_location location = std::source_location::current());
/// Cut into `count` equal parts along an axis.
[[nodiscard]] std::vector<Array> split(const Operand& x, std::int64_t count, Axis axis = 0);

/// In reverse order along some axes, or along all.
[[nodiscard]] Array flip(const Operand& x, const Axes& axes = {});
/// Shifted along an axis; what leaves at the end enters at the beginning.
[[nodiscard]] Array roll(const Operand& x, std::int64_t shift, Axis axis = 0);
/// Surrounded by `value`: widths before and after, for each axis.
[[nodiscard]] Array pad(const Operand& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths, const Operand& value = 0);
/// The whole array repeated along each axis.
[[nodiscard]] Array tile(const Operand& x, const Shape& counts);
/// Each slice along an axis repeated.
[[nodiscard]] Array repeat(const Operand& x, std::int64_t count, Axis axis = 0);
/// Rows (slices along an axis) picked by an array of indices, which clamp.
[[nodiscard]] Array take(const Operand& x, const Operand& indices, Axis axis = 0);

} // namespace stithy
