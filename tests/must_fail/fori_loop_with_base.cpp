// What a loop carries is a tree.
// expect first: not a tree of arrays
#include "derived.hpp"

int main() {
    const stithy::Array x = stithy::zeros({3});
    const Derived carry{{x}, x};
    static_cast<void>(stithy::fori_loop(0, 3, [](stithy::Array, Derived d) { return d; }, carry));
}
