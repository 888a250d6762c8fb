// What a loop carries is a tree.
// expect first: not a tree of arrays
#include "derived.hpp"

int main() {
    const stithy::Array x = stithy::zeros({3});
    const Derived carry{{x}, x};
    static_cast<void>(stithy::while_loop([](Derived d) { return stithy::sum(d.bias) < 1.0; }, [](Derived d) { return d; }, carry));
}
