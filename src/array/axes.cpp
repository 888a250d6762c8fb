#include "array/axes.hpp"

namespace stithy::detail {

std::int64_t check_axis(const char* name, std::int64_t axis, std::size_t rank, const Array& x, const Location& location) {
    const auto n = static_cast<std::int64_t>(rank);
    if (axis < -n || axis >= n) {
        const Shape& shape = node(x).shape();
        std::string of = node(x).type().str() +
                         (shape.rank() == rank ? " of rank " + std::to_string(rank) : ", in a result of rank " + std::to_string(rank));
        fail(name, "axis " + std::to_string(axis) + " is out of range for " + of, location);
    }
    return axis < 0 ? axis + n : axis;
}

Dims check_axes(const char* name, const Axes& axes, const Array& x, const Location& location) {
    const std::size_t rank = node(x).shape().rank();
    if (axes.all()) return all_axes(rank);
    Dims result;
    for (std::int64_t a : axes.dims()) {
        const std::int64_t axis = check_axis(name, a, rank, x, location);
        if (contains(result, axis)) fail(name, "axis " + std::to_string(a) + " is given twice", location);
        result.push_back(axis);
    }
    std::sort(result.begin(), result.end());
    return result;
}

Dims all_axes(std::size_t rank) {
    Dims dims;
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(i));
    return dims;
}

Shape without_axes(const Shape& shape, const Dims& axes, bool keep) {
    Dims dims;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        if (!contains(axes, static_cast<std::int64_t>(i)))
            dims.push_back(shape[i]);
        else if (keep)
            dims.push_back(1);
    }
    return Shape(std::move(dims));
}

} // namespace stithy::detail
