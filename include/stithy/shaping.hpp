#pragma once
#include "stithy/axes.hpp"
#include "stithy/operand.hpp"

#include <initializer_list>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

/// Rearranging elements; dtypes stay unless said. Negative axes count from the end. Errors, of each: an axis out of range; a default-made
/// operand.
namespace stithy {

/// The elements in row-major order in another shape; one extent may be -1 and follows from the others. Error when the numbers of elements
/// differ.
[[nodiscard]] Array reshape(const Operand& x, const Shape& shape);
/// All elements in row-major order, rank 1.
[[nodiscard]] Array ravel(const Operand& x);
/// Axes in another order: reversed, or as `axes` says. Error when `axes` is no order of all axes.
[[nodiscard]] Array transpose(const Operand& x);
[[nodiscard]] Array transpose(const Operand& x, const Axes& axes);
/// Two axes exchanged.
[[nodiscard]] Array swapaxes(const Operand& x, Axis a, Axis b);
/// One axis moved to another place; the others keep their order.
[[nodiscard]] Array moveaxis(const Operand& x, Axis from, Axis to);
/// Without the axes of extent 1: all of those, or the ones given. Error for a given axis of another extent.
[[nodiscard]] Array squeeze(const Operand& x, const Axes& axes = {});
/// With new axes of extent 1 in these places of the result.
[[nodiscard]] Array expand_dims(const Operand& x, const Axes& axes);
/// Stretched by NumPy's rule. Error when x does not broadcast to the shape.
[[nodiscard]] Array broadcast_to(const Operand& x, const Shape& shape);

/// Joined along an axis. Dtypes promote. Error for no parts, rank 0, or other extents that differ.
[[nodiscard]] Array concatenate(std::span<const Array> parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
[[nodiscard]] Array concatenate(std::initializer_list<Array> parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
[[nodiscard]] Array concatenate(const std::vector<Array>& parts, Axis axis = 0,
                                std::source_location location = std::source_location::current());
/// Joined along a new axis. Dtypes promote. Error for no parts or shapes that differ.
[[nodiscard]] Array stack(std::span<const Array> parts, Axis axis = 0, std::source_location location = std::source_location::current());
[[nodiscard]] Array stack(std::initializer_list<Array> parts, Axis axis = 0,
                          std::source_location location = std::source_location::current());
[[nodiscard]] Array stack(const std::vector<Array>& parts, Axis axis = 0, std::source_location location = std::source_location::current());
/// Cut into `count` equal parts along an axis. Error when its extent does not divide.
[[nodiscard]] std::vector<Array> split(const Operand& x, std::int64_t count, Axis axis = 0);

/// In reverse order along some axes, or along all.
[[nodiscard]] Array flip(const Operand& x, const Axes& axes = {});
/// Shifted along an axis; what leaves at the end enters at the beginning.
[[nodiscard]] Array roll(const Operand& x, std::int64_t shift, Axis axis = 0);
/// Surrounded by `value`: widths before and after, for each axis. Error for a negative width or another number of pairs.
[[nodiscard]] Array pad(const Operand& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths, const Operand& value = 0);
/// The whole array repeated along each axis. Error for a negative count.
[[nodiscard]] Array tile(const Operand& x, const Shape& counts);
/// Each slice along an axis repeated. Error for a negative count.
[[nodiscard]] Array repeat(const Operand& x, std::int64_t count, Axis axis = 0);
/// Rows (slices along an axis) picked by an array of integers, which clamp: its shape stands in place of the axis. Error for indices that
/// are no integers.
[[nodiscard]] Array take(const Operand& x, const Operand& indices, Axis axis = 0);

} // namespace stithy
