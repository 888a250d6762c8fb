// Whole programs with loops, and their gradients.
#include "harness.hpp"
#include "models.hpp"

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

namespace st = stithy;
using st::Array;

namespace bench {
namespace {

struct State {
    Array position, velocity;
};

struct Belief {
    Array mean, covariance, log_likelihood;
};

/// Value and gradient called again and again; the result is the value and the gradient's leaves.
template <class F, class... A>
Prepared with_gradient(F f, A... args) {
    auto both = st::jit(st::value_and_grad(std::move(f)));
    return {[=](std::int64_t n) {
                for (std::int64_t i = 0; i < n; ++i) both(args...).first.wait();
            },
            [=] {
                auto [value, gradient] = both(args...);
                std::vector<Array> out{value};
                static_cast<void>(st::tree_map(
                    [&](const Array& g) {
                        out.push_back(g);
                        return g;
                    },
                    gradient));
                return out;
            },
            {}};
}

/// Highest memory in use during the gradient, less what was in use before.
double springs_bytes() {
    static const auto gradient = st::jit(st::grad([](Array k, Array s) { return springs(k, s); }));
    static const Array stiffness = springs_stiffness().wait(), start = springs_start().wait();
    gradient(stiffness, start).wait();
    st::synchronize();
    st::reset_peak();
    const auto before = st::stats().bytes_in_use;
    gradient(stiffness, start).wait();
    st::synchronize();
    return static_cast<double>(st::stats().bytes_peak - before);
}

Prepared sixty_leaves_gradient() {
    auto gradient = st::jit(st::grad([](std::vector<Array> leaves) { return sixty_leaves(std::move(leaves)); }));
    const std::vector<Array> start = sixty_leaves_start();
    return {[=](std::int64_t n) {
                for (std::int64_t i = 0; i < n; ++i) gradient(start)[0].wait();
            },
            [=] { return gradient(start); },
            {}};
}

} // namespace

Array springs(Array stiffness, Array start) {
    constexpr int steps = 5000;
    constexpr double dt = 1.0 / steps;
    auto step = [&](Array, State s) {
        Array velocity = s.velocity + dt * st::matmul(stiffness, s.position);
        return State{s.position + dt * velocity, velocity};
    };
    const State end = st::fori_loop(0, steps, step, State{start, st::zeros_like(start)});
    return end.position(0);
}

Array springs_stiffness() { return st::ones({200, 200}) - st::eye(200); }
Array springs_start() { return (st::arange(200).astype(st::f64) + 1) / 200; }

Array sixty_leaves(std::vector<Array> leaves) {
    auto step = [](Array, std::vector<Array> s) {
        std::vector<Array> next;
        for (std::size_t i = 0; i < s.size(); ++i) next.push_back(st::sin(s[i]) * 0.5 + s[(i + 1) % s.size()] * 0.1);
        return next;
    };
    leaves = st::fori_loop(0, 100, step, leaves);
    Array sum = leaves[0];
    for (std::size_t i = 1; i < leaves.size(); ++i) sum = sum + leaves[i];
    return sum;
}

std::vector<Array> sixty_leaves_start() {
    std::vector<Array> start;
    for (int i = 0; i < 60; ++i) start.push_back(Array(i / 60.0));
    return start;
}

Array kalman(Noise noise, Array observations) {
    const Array transition = st::array({{1.0, 1.0}, {0.0, 1.0}});
    const Array process = st::exp(noise.log_process) * st::array({{0.25, 0.5}, {0.5, 1.0}});
    const Array measurement = st::exp(noise.log_measurement);
    auto update = [&](Belief b, Array y) {
        const Array mean = st::matmul(transition, b.mean);
        const Array covariance = st::matmul(st::matmul(transition, b.covariance), transition.T()) + process;
        const Array innovation = y - mean(0);
        const Array variance = covariance(0, 0) + measurement;
        const Array gain = covariance(st::all, 0) / variance;
        return Belief{mean + gain * innovation, covariance - st::outer(gain, covariance(0, st::all)),
                      b.log_likelihood - 0.5 * (st::log(2 * std::numbers::pi * variance) + innovation * innovation / variance)};
    };
    return st::scan(update, Belief{st::zeros({2}), 10.0 * st::eye(2), st::zeros({})}, observations).log_likelihood;
}

Array kalman_observations() {
    const Array t = st::arange(500).astype(st::f64);
    return 0.05 * t + st::sin(0.1 * t) + 0.3 * st::cos(17.0 * t);
}

Noise kalman_noise() { return {Array(-3.0), Array(-1.0)}; }

Pelts lynx_hare_data() {
    std::ifstream file(STITHY_EXAMPLE_DATA "/lynx_hare.csv");
    std::vector<double> year, hare, lynx;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        double y = 0, h = 0, l = 0;
        char comma = 0;
        std::istringstream(line) >> y >> comma >> h >> comma >> l;
        year.push_back(y), hare.push_back(h), lynx.push_back(l);
    }
    return {st::array(year), st::array(hare), st::array(lynx)};
}

Parameters lynx_hare_start() {
    return log_of({Array(0.5), Array(0.02), Array(0.8), Array(0.02), Array(30.0), Array(4.0), Array(0.3), Array(0.3)});
}

std::vector<Work> program_works() {
    auto springs_of = [](Array k, Array s) { return springs(k, s); };
    return {
        {"springs_bytes", [] { return Prepared{{}, {}, springs_bytes}; }},
        {"springs_primal", [=] { return jitted(springs_of, springs_stiffness(), springs_start()); }},
        {"springs_gradient", [=] { return jitted(st::grad(springs_of), springs_stiffness(), springs_start()); }},
        {"scan_60_leaves", sixty_leaves_gradient},
        {"kalman_value", [] { return jitted([](Noise n, Array y) { return kalman(n, y); }, kalman_noise(), kalman_observations()); }},
        {"kalman_gradient",
         [] { return with_gradient([](Noise n, Array y) { return kalman(n, y); }, kalman_noise(), kalman_observations()); }},
        {"lynx_hare_value", [] { return jitted([](Parameters p, Pelts d) { return loss(p, d); }, lynx_hare_start(), lynx_hare_data()); }},
        {"lynx_hare_gradient",
         [] { return with_gradient([](Parameters p, Pelts d) { return loss(p, d); }, lynx_hare_start(), lynx_hare_data()); }},
    };
}

} // namespace bench
