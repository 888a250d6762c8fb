// What a jitted function returns is a tree as well.
// expect: not a tree|Tree|constraints not satisfied
#include <stithy/stithy.hpp>

struct Base {
    stithy::Array weight;
};
struct Derived : Base {
    stithy::Array bias;
};

int main() {
    auto f = stithy::jit([](stithy::Array x) { return Derived{{x}, x}; });
    f(stithy::zeros({3}));
}
