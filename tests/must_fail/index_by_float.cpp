// An index is an integer.
// expect: no match for call|no matching function|constraints not satisfied|deleted
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3});
    auto y = x(3.5);
}
