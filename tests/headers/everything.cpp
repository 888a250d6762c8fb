// Uses the templates of the public interface, so that their warnings show; only compiled.
#include <array>
#include <map>
#include <optional>
#include <stithy/stithy.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace st = stithy;
using st::Array;

enum class Kind { plain, scaled };

struct Layer {
    Array weight, bias;
    Kind kind = Kind::plain;
};

struct Model {
    std::vector<Layer> layers;
    std::map<std::string, Array> named;
    std::optional<Array> scale;
    std::array<Array, 2> ends;
    std::pair<Array, Array> limits;
    double rate = 0.5;
};

Array loss(Model model, Array x) {
    for (const Layer& layer : model.layers) x = st::tanh(st::matmul(x, layer.weight) + layer.bias);
    return st::sum(x * x) * model.rate;
}

int main() {
    const Array x = st::ones({4, 3});
    Array y = x(0, st::range(1, st::end)) + 2 - 0.5F * x(-1, st::range(0, 2));
    y = y.at(0).set(1);
    const auto values = y.to_vector<double>();

    Model model{};
    const auto step = st::jit(st::value_and_grad(loss));
    const auto [value, gradient] = step(model, x);
    const Array looped = st::fori_loop(0, 3, [](Array, Array s) { return s * 2.0; }, x);
    const auto [last, stacked] = st::scan([](Array carry, Array row) { return std::pair{carry + row, row * 2}; }, st::zeros({3}), x);
    const Array stopped = st::while_loop([](Array s) { return st::sum(s) < 100.0; }, [](Array s) { return s * 2.0; }, x);
    const auto [out, tangent] = st::jvp([](Array a) { return st::sin(a); }, std::tuple{x}, std::tuple{x});
    const auto [result, pullback] = st::vjp([](Array a) { return st::cos(a); }, x);
    return static_cast<int>(values.size() + gradient.layers.size()) +
           (looped.rank() + last.rank() + stacked.rank() + stopped.rank() + out.rank() + tangent.rank() + result.rank() + value.rank());
}
