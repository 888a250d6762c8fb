#pragma once
#include "stithy/axes.hpp"
#include "stithy/operand.hpp"

#include <concepts>

/// Reductions over some axes (all of them unless given); reduced axes go, or stay with extent 1 with `keepdims`. The result has x's dtype
/// unless said. Errors, of each: an axis out of range or given twice; a default-made operand.
namespace stithy {

/// Sum; 0 of no elements. Bools and integers smaller than i32 are summed as i32 (u32).
[[nodiscard]] Array sum(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Product; 1 of no elements. Dtypes as sum.
[[nodiscard]] Array prod(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Average; NaN of no elements. Integers and bools are averaged as f64.
[[nodiscard]] Array mean(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// The greatest element; NaN where there is one. Error for no elements. For two arrays see `maximum`.
[[nodiscard]] Array max(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// The greater of two is `maximum(x, y)`: the second argument of max is axes.
template <std::floating_point T>
Array max(const Operand& x, T other) = delete;
/// The least element; NaN where there is one. Error for no elements. For two arrays see `minimum`.
[[nodiscard]] Array min(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// The lesser of two is `minimum(x, y)`: the second argument of min is axes.
template <std::floating_point T>
Array min(const Operand& x, T other) = delete;
/// Variance: the sum of squared distances from the mean, divided by count - ddof. Integers as f64.
[[nodiscard]] Array var(const Operand& x, const Axes& axes = {}, KeepDims keep = {}, int ddof = 0);
/// Standard deviation, the root of var.
[[nodiscard]] Array std(const Operand& x, const Axes& axes = {}, KeepDims keep = {}, int ddof = 0);
/// log of the sum of exponentials, without overflow. Integers as f64. Error for no elements.
[[nodiscard]] Array logsumexp(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// sqrt of the sum of squares. Integers as f64.
[[nodiscard]] Array norm(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Whether any element is true (not 0), as bool.
[[nodiscard]] Array any(const Operand& x, const Axes& axes = {}, KeepDims keep = {});
/// Number of elements that are not 0, as i32.
[[nodiscard]] Array count_nonzero(const Operand& x, const Axes& axes = {}, KeepDims keep = {});

/// `all(x)`: whether every element is true (not 0), as bool. As an index, `x(all, 0)`: the whole axis.
class All {
public:
    constexpr explicit All(int) {}
    [[nodiscard]] Array operator()(const Operand& x, const Axes& axes = {}, KeepDims keep = {}) const;
};
inline constexpr All all{0};

/// Index (i32) of the first greatest element: along an axis, or in row-major order of the whole array. A NaN counts as the greatest. Error
/// for no elements.
[[nodiscard]] Array argmax(const Operand& x);
[[nodiscard]] Array argmax(const Operand& x, Axis axis, KeepDims keep = {});
/// Index (i32) of the first least element; a NaN counts as the least. Error for no elements.
[[nodiscard]] Array argmin(const Operand& x);
[[nodiscard]] Array argmin(const Operand& x, Axis axis, KeepDims keep = {});

/// exp(x) over its sum along an axis, without overflow. Integers as f64.
[[nodiscard]] Array softmax(const Operand& x, Axis axis = -1);
/// The logarithm of softmax.
[[nodiscard]] Array log_softmax(const Operand& x, Axis axis = -1);

/// Sums of the elements up to each place along an axis. Dtypes as sum.
[[nodiscard]] Array cumsum(const Operand& x, Axis axis = 0);
/// Products of the elements up to each place along an axis. Dtypes as sum.
[[nodiscard]] Array cumprod(const Operand& x, Axis axis = 0);

} // namespace stithy
