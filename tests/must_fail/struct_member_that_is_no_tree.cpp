// A member that is no tree would be neither traced nor compared.
// expect first: a member of this struct is not a tree of arrays
#include <deque>
#include <stithy/stithy.hpp>

struct Layers {
    stithy::Array bias;
    std::deque<stithy::Array> weights;
};

int main() {
    auto f = stithy::jit([](Layers l) { return l.bias + l.weights[0]; });
    f(Layers{stithy::zeros({3}), {stithy::zeros({3})}});
}
