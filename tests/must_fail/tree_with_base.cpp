// A struct with a base class is no tree of arrays.
// expect first: not a tree of arrays
#include "derived.hpp"

int main() {
    auto f = stithy::jit([](Derived d) { return d.weight + d.bias; });
    f(Derived{{stithy::zeros({3})}, stithy::zeros({3})});
}
