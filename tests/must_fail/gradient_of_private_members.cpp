// The same for grad.
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
    auto f = stithy::grad([](Hidden h) { return stithy::sum(h.weight()); });
    f(Hidden(stithy::zeros({3})));
}
