// What a jitted function returns is a tree as well.
// expect first: not a tree of arrays
#include "derived.hpp"

int main() {
    auto f = stithy::jit([](stithy::Array x) { return Derived{{x}, x}; });
    f(stithy::zeros({3}));
}
