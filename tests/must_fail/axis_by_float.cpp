// `max` reduces over an axis; the elementwise one is `maximum`.
// expect: invalid initialization of reference|no matching function|could not convert|constraints not satisfied|deleted
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3});
    auto y = stithy::max(x, 0.5);
}
