// An element is a value, not a place: `x.at(0).set(3.0)` is the update.
// expect: discards qualifiers|deleted|no match for .operator=|no viable overloaded|not assignable
#include <stithy/stithy.hpp>

int main() {
    stithy::Array x = stithy::zeros({3});
    x(0) = 3.0;
}
