#include <iostream>
#include <stithy/stithy.hpp>
#include <utility>

namespace st = stithy;
using st::Array;

// Where a damped spring is after 1000 steps of 10 ms: the loop becomes one native function.
Array end_of(Array stiffness) {
    auto step = [&](Array, std::pair<Array, Array> state) {
        auto [x, v] = state;
        v = v - 0.01 * (stiffness * x + 0.1 * v);
        return std::pair{x + 0.01 * v, v};
    };
    return st::fori_loop(0, 1000, step, std::pair{Array(1.0), Array(0.0)}).first;
}

int main() {
    auto loss = [](Array stiffness) { return st::square(end_of(stiffness) - 0.5); };
    auto descend = st::jit([=](Array stiffness) { return stiffness - 0.1 * st::grad(loss)(stiffness); });
    Array stiffness(4.0);
    for (int i = 0; i < 50; ++i) stiffness = descend(stiffness);
    std::cout << "stiffness " << stiffness.item<double>() << ", the spring ends at " << end_of(stiffness).item<double>() << "\n";
}
