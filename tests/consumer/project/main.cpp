#include <cmath>
#include <cstdio>
#include <stithy/stithy.hpp>

namespace st = stithy;

int main() {
    auto f = st::jit([](st::Array x) { return st::sum(st::sin(x)); });
    st::Array gradient = st::grad(f)(st::array({0.0, 1.0}));
    try {
        static_cast<void>(st::zeros({2}) + st::zeros({3}));
        return 1;
    } catch (const st::Error& error) {
        std::printf("as it should be: %s\n", error.what());
    }
    return std::abs(gradient(1).item<double>() - std::cos(1.0)) < 1e-12 ? 0 : 1;
}
