#pragma once
#include <cmath>
#include <deque>
#include <limits>
#include <stithy/stithy.hpp>
#include <utility>

/// L-BFGS: a quasi-Newton method that remembers the last few steps. The unknowns are any tree of arrays: a plain struct, a vector, one
/// array.
namespace lbfgs {

using stithy::Array;

struct Options {
    double gradient_tolerance = 1e-4; ///< done when no component of the gradient is larger
    int iterations = 200;
    int memory = 8;
};

/// Where the minimisation stands after an iteration.
struct Progress {
    int iteration = 0, evaluations = 0;
    double value = 0, largest_gradient = 0, step = 0;
};

template <class Tree>
struct Result {
    Tree at;
    Progress last;
    bool converged = false;
};

/// Sum of the products of all elements of two trees.
template <class Tree>
double dot(const Tree& a, const Tree& b) {
    double total = 0;
    auto add = [&](const Array& x, const Array& y) {
        total += stithy::sum(x * y).template item<double>();
        return x;
    };
    static_cast<void>(stithy::tree_map(add, a, b));
    return total;
}

template <class Tree>
double largest(const Tree& a) {
    double most = 0;
    auto look = [&](const Array& x) {
        most = std::max(most, stithy::max(stithy::abs(x)).template item<double>());
        return x;
    };
    static_cast<void>(stithy::tree_map(look, a));
    return most;
}

/// a + factor * b
template <class Tree>
Tree add_scaled(const Tree& a, double factor, const Tree& b) {
    return stithy::tree_map([=](const Array& x, const Array& y) { return x + factor * y; }, a, b);
}

template <class Tree>
Tree scaled(double factor, const Tree& a) {
    return stithy::tree_map([=](const Array& x) { return factor * x; }, a);
}

/// A step taken, the change of the gradient along it, and one over their product.
template <class Tree>
struct Pair {
    Tree step, change;
    double rho = 0;
};

/// The quasi-Newton direction: minus the inverse of the Hessian, as the remembered steps tell it, times the gradient.
template <class Tree>
Tree direction(const std::deque<Pair<Tree>>& memory, const Tree& gradient) {
    if (memory.empty()) return scaled(-1.0 / std::max(1.0, std::sqrt(dot(gradient, gradient))), gradient);
    Tree q = gradient;
    std::deque<double> alphas;
    for (auto pair = memory.rbegin(); pair != memory.rend(); ++pair) {
        alphas.push_front(pair->rho * dot(pair->step, q));
        q = add_scaled(q, -alphas.front(), pair->change);
    }
    const Pair<Tree>& newest = memory.back();
    q = scaled(1.0 / (newest.rho * dot(newest.change, newest.change)), q);
    auto alpha = alphas.begin();
    for (const Pair<Tree>& pair : memory) q = add_scaled(q, *alpha++ - pair.rho * dot(pair.change, q), pair.step);
    return scaled(-1.0, q);
}

/// Minimises from `start`. `value_and_gradient(x)` gives a pair; `report(Progress)` is called after each iteration.
/// The line search doubles and halves until the value has fallen enough and the slope has flattened (Wolfe's weak conditions), so that each
/// remembered pair has a positive product; values that are not finite count as too high.
template <class Tree, class F, class Report>
Result<Tree> minimise(F value_and_gradient, Tree start, Report report, Options options = {}) {
    Tree x = std::move(start);
    auto [first_value, gradient] = value_and_gradient(x);
    double value = first_value.template item<double>();
    Progress progress{0, 1, value, largest(gradient), 0};
    report(progress);
    std::deque<Pair<Tree>> memory;
    while (progress.largest_gradient > options.gradient_tolerance) {
        if (progress.iteration == options.iterations) return {x, progress, false};
        const Tree along = direction(memory, gradient);
        const double slope = dot(gradient, along);
        double low = 0, high = std::numeric_limits<double>::infinity(), step = 1;
        for (int trial = 0;; ++trial) {
            if (trial == 40) return {x, progress, false}; // as low as rounding lets it go
            const Tree there = add_scaled(x, step, along);
            auto [array, gradient_there] = value_and_gradient(there);
            ++progress.evaluations;
            const double value_there = array.template item<double>();
            const bool fell = value_there <= value + 1e-4 * step * slope; // false for NaN
            if (fell && dot(gradient_there, along) >= 0.9 * slope) {
                Pair<Tree> pair{scaled(step, along), add_scaled(gradient_there, -1.0, gradient)};
                pair.rho = 1.0 / dot(pair.step, pair.change);
                memory.push_back(std::move(pair));
                if (memory.size() > static_cast<std::size_t>(options.memory)) memory.pop_front();
                x = there, value = value_there, gradient = gradient_there;
                break;
            }
            (fell ? low : high) = step;
            step = std::isinf(high) ? 2 * step : (low + high) / 2;
        }
        progress = {progress.iteration + 1, progress.evaluations, value, largest(gradient), step};
        report(progress);
    }
    return {x, progress, true};
}

} // namespace lbfgs
