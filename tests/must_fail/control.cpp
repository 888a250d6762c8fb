// What the other snippets get wrong, done right: must compile.
// control
#include <map>
#include <optional>
#include <stithy/stithy.hpp>
#include <string>
#include <utility>
#include <vector>

namespace st = stithy;
using st::Array;

struct Layer {
    Array weight, bias;
    int width = 3;
};

struct Model {
    std::vector<Layer> layers;
    std::map<std::string, Array> named;
    std::optional<Array> scale;
};

Array loss(Model model, Array x) {
    for (const Layer& layer : model.layers) x = st::matmul(x, layer.weight) + layer.bias;
    return st::sum(x * x);
}

int main() {
    Array x = st::zeros({4, 3});
    x = st::ones({4, 3});
    Array y = x(0), z = x(st::range(0, 2), 1);
    y = x.at(0).set(3.0);
    Array most = st::max(x), row = st::max(x, 0), upper = st::maximum(x, 0.5);
    Array both = (x > 0.0) & (x < 1.0);
    Model model{{Layer{st::zeros({3, 3}), st::zeros({3})}}, {{"gain", Array(2.0)}}, std::nullopt};
    Model gradient = st::jit(st::grad(loss))(model, x);
    return both.rank() == 2 && y.rank() == 1 && z.rank() == 1 && most.rank() == 0 && row.rank() == 1 && upper.rank() == 2 &&
                   gradient.layers.size() == 1
               ? 0
               : 1;
}
