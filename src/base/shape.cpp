#include "stithy/shape.hpp"

namespace stithy {

std::string Shape::str() const {
    std::string text = "[";
    for (std::size_t i = 0; i < rank(); ++i) text += (i ? "," : "") + std::to_string(dims_[i]);
    return text + "]";
}

} // namespace stithy
