// A class with private members is no tree of arrays.
// expect first: not a tree of arrays
#include <stithy/stithy.hpp>

class Hidden {
public:
    explicit Hidden(stithy::Array w) : weight_(w) {}
    stithy::Array weight() const { return weight_; }

private:
    stithy::Array weight_;
};

int main() {
    auto f = stithy::jit([](Hidden h) { return h.weight(); });
    f(Hidden(stithy::zeros({3})));
}
