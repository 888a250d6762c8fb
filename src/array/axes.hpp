#pragma once
#include "array/node.hpp"
#include "ops/axes.hpp"
#include "stithy/axes.hpp"

/// Checks and normalises axes that users give.
namespace stithy::detail {

/// The axis as 0 .. rank-1. Error ("sum: axis 2 is out of range for f64[2,3] of rank 2").
std::int64_t check_axis(const char* name, std::int64_t axis, std::size_t rank, const Array& x, const Location& location);
/// Sorted, without repeats (Error); all axes where `axes` says so.
Dims check_axes(const char* name, const Axes& axes, const Array& x, const Location& location);
/// 0, 1, ..., rank - 1.
Dims all_axes(std::size_t rank);
using ops::contains;
/// The shape without some axes, or with extent 1 in their place.
Shape without_axes(const Shape& shape, const Dims& axes, bool keep);

} // namespace stithy::detail
