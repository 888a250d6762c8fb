#include "model.hpp"

#include <utility>

namespace st = stithy;
using st::Array;

namespace {

/// The right-hand side: how fast both populations change.
Populations rates(const Parameters& p, const Array& hare, const Array& lynx) {
    return {hare * (p.alpha - p.beta * lynx), lynx * (p.delta * hare - p.gamma)};
}

Populations runge_kutta_step(const Parameters& p, const Populations& now) {
    constexpr double h = 1.0 / steps_a_year;
    const auto [h1, l1] = rates(p, now.hare, now.lynx);
    const auto [h2, l2] = rates(p, now.hare + h / 2 * h1, now.lynx + h / 2 * l1);
    const auto [h3, l3] = rates(p, now.hare + h / 2 * h2, now.lynx + h / 2 * l2);
    const auto [h4, l4] = rates(p, now.hare + h * h3, now.lynx + h * l3);
    return {now.hare + h / 6 * (h1 + 2.0 * (h2 + h3) + h4), now.lynx + h / 6 * (l1 + 2.0 * (l2 + l3) + l4)};
}

/// Of the counts of one species: log-normal around the model.
Array misfit(const Array& counted, const Array& modelled, const Array& sigma) {
    const Array residual = st::log(counted) - st::log(modelled);
    const auto years = static_cast<double>(counted.size());
    return years * st::log(sigma) + st::sum(st::square(residual)) / (2.0 * st::square(sigma));
}

Array with_start(const Array& start, const Array& rest) { return st::concatenate({st::reshape(start, {1}), rest}); }

} // namespace

Populations simulate(const Parameters& p, int count, int steps_each) {
    auto period = [&](Populations now, Array) {
        auto step = [&](Array, Populations s) { return runge_kutta_step(p, s); };
        const Populations next = st::fori_loop(0, steps_each, step, now);
        return std::pair{next, next};
    };
    const auto [end, path] = st::scan(period, Populations{p.hare, p.lynx}, st::arange(count));
    return {with_start(p.hare, path.hare), with_start(p.lynx, path.lynx)};
}

Array negative_log_likelihood(const Parameters& p, const Pelts& data) {
    const Populations fit = simulate(p, static_cast<int>(data.year.size()) - 1, steps_a_year);
    return misfit(data.hare, fit.hare, p.sigma_hare) + misfit(data.lynx, fit.lynx, p.sigma_lynx);
}

Array loss(Parameters logs, Pelts data) { return negative_log_likelihood(exp_of(logs), data); }

Parameters exp_of(const Parameters& logs) {
    return st::tree_map([](const Array& x) { return st::exp(x); }, logs);
}

Parameters log_of(const Parameters& p) {
    return st::tree_map([](const Array& x) { return st::log(x); }, p);
}
