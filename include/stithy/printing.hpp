#pragma once
#include "stithy/array.hpp"

#include <iosfwd>
#include <string>

namespace stithy {

/// The array as text: a header with dtype, shape and device, then the values as NumPy prints them (waits); long arrays are elided.
/// A staged value has no numbers yet and shows its type alone.
[[nodiscard]] std::string repr(const Array& x);
/// Prints repr(x) and a newline.
std::ostream& operator<<(std::ostream& out, const Array& x);
/// Print "[2,3]", "f64" and "cpu", without a newline.
std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::ostream& operator<<(std::ostream& out, DType dtype);
std::ostream& operator<<(std::ostream& out, Device device);

} // namespace stithy
