// A struct with a base class inside a struct.
// expect first: a member of this struct is not a tree of arrays
#include "derived.hpp"
struct Model {
    stithy::Array x;
    Derived d;
};

int main() {
    auto g = stithy::grad([](Model m) { return stithy::sum(m.x * m.d.weight); });
    g(Model{stithy::zeros({3}), Derived{{stithy::zeros({3})}, stithy::zeros({3})}});
}
