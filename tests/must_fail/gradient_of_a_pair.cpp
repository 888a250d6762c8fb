// A gradient is of one scalar.
// expect first: returns one Array
#include <stithy/stithy.hpp>

int main() {
    const stithy::Array x = stithy::zeros({3});
    static_cast<void>(stithy::grad([](stithy::Array a) { return std::pair{a, a}; })(x));
}
