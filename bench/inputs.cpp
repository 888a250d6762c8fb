#include "inputs.hpp"

#include <cmath>
#include <vector>

namespace bench {

stithy::Array wave(const stithy::Shape& shape, stithy::DType dtype, double phase, double scale, double offset) {
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(phase + 0.7 * static_cast<double>(i)) * scale + offset;
    return stithy::array(values, shape).astype(dtype).wait();
}

stithy::Array span_of_three(std::int64_t count, stithy::DType dtype) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = -3 + 6 * static_cast<double>(i) / static_cast<double>(count - 1);
    return stithy::array(values).astype(dtype).wait();
}

} // namespace bench
