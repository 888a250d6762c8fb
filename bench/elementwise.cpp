// Elementwise chains, reductions, and rows.
#include "harness.hpp"
#include "inputs.hpp"

namespace st = stithy;
using st::Array;

namespace bench {
namespace {

constexpr std::int64_t million = 1'000'000;

Array chain(Array x) { return st::exp(-x * x) * st::sin(x) + 0.5; }

Array layer_norm(Array x, Array scale, Array shift) {
    const Array centered = x - st::mean(x, -1, st::keepdims);
    const Array variance = st::mean(st::square(centered), -1, st::keepdims);
    return centered / st::sqrt(variance + 1e-5) * scale + shift;
}

} // namespace

std::vector<Work> elementwise_works() {
    std::vector<Work> works;
    for (const auto& [suffix, dtype] : {std::pair{"f64", st::f64}, std::pair{"f32", st::f32}}) {
        const std::string s = suffix;
        const st::DType d = dtype;
        works.push_back({"chain_" + s, [d] { return jitted([](Array x) { return chain(x); }, span_of_three(million, d)); }});
        works.push_back({"tanh_" + s, [d] { return jitted([](Array x) { return st::tanh(x); }, span_of_three(million, d)); }});
        works.push_back({"sum_" + s, [d] { return jitted([](Array x) { return st::sum(x); }, wave({million}, d, 1, 1, 0.5)); }});
    }
    works.push_back({"sum_axis0", [] { return jitted([](Array x) { return st::sum(x, 0); }, wave({1000, 1000}, st::f32, 1, 1, 0.5)); }});
    works.push_back({"sum_axis1", [] { return jitted([](Array x) { return st::sum(x, 1); }, wave({1000, 1000}, st::f32, 1, 1, 0.5)); }});
    works.push_back({"transpose", [] { return jitted([](Array x) { return x.T(); }, wave({1000, 1000}, st::f64, 1)); }});
    works.push_back({"softmax", [] { return jitted([](Array x) { return st::softmax(x, -1); }, wave({1000, 1000}, st::f32, 1, 3)); }});
    works.push_back({"layer_norm", [] {
                         return jitted([](Array x, Array scale, Array shift) { return layer_norm(x, scale, shift); },
                                       wave({1000, 1000}, st::f32, 1, 3, 1), wave({1000}, st::f32, 2), wave({1000}, st::f32, 3));
                     }});
    return works;
}

} // namespace bench
