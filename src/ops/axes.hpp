#pragma once
#include "base/dims.hpp"

#include <algorithm>

/// Small questions about lists of axes.
namespace stithy::ops {

inline bool contains(const Dims& dims, std::int64_t value) { return std::find(dims.begin(), dims.end(), value) != dims.end(); }

/// Every entry moved by `by`, as a batch in front does to axes.
inline Dims shifted(const Dims& dims, std::int64_t by) {
    Dims out = dims;
    for (std::int64_t& d : out) d += by;
    return out;
}

} // namespace stithy::ops
