// A scan's body must return something.
// expect first: the body returns the carry, or std::pair
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3});
    stithy::scan([](stithy::Array, stithy::Array) {}, stithy::Array(0.0), x);
}
