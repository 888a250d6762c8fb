#pragma once
#include "transform/split.hpp"

namespace stithy::transform {

/// A function cut into the part that does not depend on tangents and the linear part.
struct Linearized {
    FunctionPtr primal; ///< parameters of f -> results of f, then extras
    FunctionPtr linear; ///< residuals, then a tangent for each active parameter -> a tangent for each active result
    std::vector<ResidualSource> residuals;
    Mask active_results;
};
/// Forward derivative, dead code eliminated, then split. needed[r]: the tangent of result r is wanted (all when empty). Memoised on f.
Linearized linearize(const FunctionPtr& f, const Mask& active, const Mask& needed = {});

/// The residual values of a linearization, given the values of f's parameters and all results of `primal`.
template <class T>
std::vector<T> residual_values(const Linearized& l, std::span<const T> parameters, std::span<const T> primal_results) {
    std::vector<T> values;
    const std::size_t results = l.active_results.size();
    for (const ResidualSource& s : l.residuals)
        values.push_back(s.kind == ResidualSource::parameter
                             ? parameters[s.index]
                             : primal_results[s.kind == ResidualSource::result ? s.index : results + s.index]);
    return values;
}

} // namespace stithy::transform
