#pragma once
#include "array/bind.hpp"
#include "base/small_vector.hpp"
#include "stithy/index.hpp"

#include <span>

namespace stithy::detail {

/// What the indices say about one axis of the array.
struct AxisSelection {
    Index::Kind kind = Index::Kind::all; ///< integer, range (all and ellipsis too) or array
    std::int64_t start = 0, count = 0, step = 1;
    Array index; ///< of array: i32 or i64, negative ones counted from the end
};

/// `x(...)` resolved against a shape.
struct Selection {
    SmallVector<AxisSelection, 6> axes;
    SmallVector<std::int64_t, 2> array_axes;
    bool scalar_arrays = true; ///< every index array has rank 0
    bool strided = false;      ///< some range has another step than 1
    Shape batch;               ///< what the index arrays broadcast to
    bool batch_first = false;  ///< index arrays are apart: their axes come first, as in NumPy
    Shape shape;               ///< of x(...)
    Shape plain_shape;         ///< the same without new axes
    Location location;

    [[nodiscard]] bool has_arrays() const { return !array_axes.empty(); }
};

/// Errors: too many indices, out of range, a mask, an index of floating point, index arrays that do not broadcast.
Selection select(const Array& x, std::span<const Index* const> indices);

/// One start per axis for dynamic_slice and dynamic_update_slice, and the window's extents. No strides, index arrays of rank 0.
struct Window {
    std::vector<Array> starts;
    Dims sizes;
};
Window window_of(const Selection& selection);

/// x(...) of a selection.
Array pick(const Array& x, const Selection& selection);
/// Several index arrays as one, components along a new last axis; a single one stays as it is.
Array joined_indices(std::span<const Array> components, const Shape& batch, const Location& location);

} // namespace stithy::detail
