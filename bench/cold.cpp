// First calls, in a process of their own.
#include "harness.hpp"
#include "inputs.hpp"
#include "models.hpp"

namespace st = stithy;
using st::Array;

namespace bench {
namespace {

using Once = std::pair<double, std::vector<Array>>;

/// Time of the first call of a function made here.
template <class Make, class... A>
Once first_call(Make make, A... args) {
    std::vector<Array> leaves;
    const double us = microseconds([&] {
        auto result = make()(args...);
        static_cast<void>(st::tree_map(
            [&](const Array& x) {
                leaves.push_back(x.wait());
                return x;
            },
            result));
    });
    return {us, leaves};
}

Once cold_kalman() {
    auto make = [] { return st::jit(st::grad([](Noise n, Array y) { return kalman(n, y); })); };
    return first_call(make, kalman_noise(), kalman_observations().wait());
}

Once cold_springs() {
    auto make = [] { return st::jit(st::grad([](Array k, Array s) { return springs(k, s); })); };
    return first_call(make, springs_stiffness().wait(), springs_start().wait());
}

Once cold_sixty_leaves() {
    auto make = [] { return st::jit(st::grad([](std::vector<Array> leaves) { return sixty_leaves(std::move(leaves)); })); };
    return first_call(make, sixty_leaves_start());
}

Once unrolled() {
    auto make = [] {
        return st::jit([](Array x) {
            for (int i = 0; i < 1000; ++i) x = st::sin(x) * 1.01;
            return x;
        });
    };
    return first_call(make, span_of_three(1000, st::f64));
}

/// bench/run times the whole process.
Once second_start() {
    auto make = [] { return st::jit(st::grad([](Array x) { return st::sum(st::exp(-x * x) * st::sin(x) + 0.5); })); };
    return first_call(make, span_of_three(1000, st::f64));
}

} // namespace

std::vector<ColdWork> cold_works() {
    return {{"cold_kalman", cold_kalman},
            {"cold_springs", cold_springs},
            {"cold_60_leaves", cold_sixty_leaves},
            {"unrolled_2000", unrolled},
            {"second_start", second_start}};
}

} // namespace bench
