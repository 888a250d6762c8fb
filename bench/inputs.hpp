#pragma once
#include <stithy/stithy.hpp>

/// Inputs of the works, the same numbers on every side.
namespace bench {

/// sin(phase + 0.7 i) * scale + offset, computed in f64 and rounded to the dtype.
stithy::Array wave(const stithy::Shape& shape, stithy::DType dtype, double phase, double scale = 1, double offset = 0);
/// count numbers from -3 to 3.
stithy::Array span_of_three(std::int64_t count, stithy::DType dtype);

} // namespace bench
