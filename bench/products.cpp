// Matrix products and distances.
#include "harness.hpp"
#include "inputs.hpp"

namespace st = stithy;
using st::Array;

namespace bench {
namespace {

Work product(std::int64_t n, st::DType dtype, const std::string& suffix) {
    return {"matmul_" + suffix + "_" + std::to_string(n),
            [=] { return jitted([](Array a, Array b) { return st::matmul(a, b); }, wave({n, n}, dtype, 1), wave({n, n}, dtype, 2)); }};
}

Array distances(Array points) {
    const Array difference = points(st::all, st::newaxis, st::all) - points(st::newaxis, st::all, st::all);
    return st::sqrt(st::sum(st::square(difference), -1));
}

} // namespace

std::vector<Work> product_works() {
    return {product(1024, st::f32, "f32"),
            product(1024, st::f64, "f64"),
            product(128, st::f64, "f64"),
            product(32, st::f64, "f64"),
            {"pairwise", [] { return jitted([](Array p) { return distances(p); }, wave({1000, 3}, st::f64, 1)); }}};
}

} // namespace bench
