#pragma once
#include "stithy/shape.hpp"

namespace stithy {
/// Short vector of 64-bit integers (axes, starts, strides).
using Dims = detail::Dims;
} // namespace stithy
