// A scan's body returns a pair, not a tuple.
// expect first: the body returns the carry, or std::pair
#include <stithy/stithy.hpp>
#include <tuple>

int main() {
    stithy::Array x = stithy::zeros({3});
    auto y = stithy::scan([](stithy::Array c, stithy::Array v) { return std::tuple(c + v, v); }, stithy::Array(0.0), x);
}
