// A struct with a C array is no tree of arrays; std::array is.
// expect first: not a tree of arrays
#include <stithy/stithy.hpp>

struct Pair {
    stithy::Array both[2];
};

int main() {
    auto f = stithy::jit([](Pair p) { return p.both[0] + p.both[1]; });
    f(Pair{{stithy::zeros({3}), stithy::zeros({3})}});
}
