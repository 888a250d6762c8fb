#pragma once
#include "stithy/axes.hpp"
#include "stithy/operand.hpp"

/// Reductions over some axes (all of them unless given); reduced axes go, or stay with extent 1 with `keepdims`.
namespace stithy {

/// Small integers and bools are summed as i32 (u32).
[[nodiscard]] Array sum(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
[[nodiscard]] Array prod(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Integers are averaged as f64.
[[nodiscard]] Array mean(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// The greatest or least element; NaN where there is one. Error for no elements. For two arrays see `maximum`.
[[nodiscard]] Array max(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
[[nodiscard]] Array min(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Variance and standard deviation; the sum of squares is divided by count - ddof.
[[nodiscard]] Array var(const Operand& x, const Axes& axes = {}, KeepDims keep = {}, int ddof = 0);
[[nodiscard]] Array std(const Operand& x, const Axes& axes = {}, KeepDims keep = {}, int ddof = 0);
/// log of the sum of exponentials, without overflow.
[[nodiscard]] Array logsumexp(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// sqrt of the sum of squares.
[[nodiscard]] Array norm(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Whether any element is true (not 0).
[[nodiscard]] Array any(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Number of elements that are not 0, as i32.
[[nodiscard]] Array count_nonzero(const Operand& x, const Axes& axes = {}, KeepDims keep = {});

/// `all(x)`: whether every element is true. As an index, `x(all, 0)`: the whole axis.
class All {
public:
    constexpr explicit All(int) {}
    [[nodiscard]] Array operator()(const Operand& x, const Axes& axes = {}, KeepDims keep = {}) const;
};
inline constexpr All all{0};

/// Index (i32) of the first greatest or least element: along an axis, or in row-major order of the whole array. A NaN counts as both.
[[nodiscard]] Array argmax(const Operand& x);
[[nodiscard]] Array argmax(const Operand& x, Axis axis, KeepDims keep = {});
[[nodiscard]] Array argmin(const Operand& x);
[[nodiscard]] Array argmin(const Operand& x, Axis axis, KeepDims keep = {});

/// exp(x) over its sum along an axis, and its logarithm.
[[nodiscard]] Array softmax(const Operand& x, Axis axis = -1);
[[nodiscard]] Array log_softmax(const Operand& x, Axis axis = -1);

/// Sums or products of the elements up to each place.
[[nodiscard]] Array cumsum(const Operand& x, Axis axis = 0);
[[nodiscard]] Array cumprod(const Operand& x, Axis axis = 0);

} // namespace stithy
