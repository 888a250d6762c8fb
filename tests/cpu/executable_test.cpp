#include "compare.hpp"

namespace stithy::testing {
namespace {

using ops::Value;
using Values = std::vector<Value>;
using ir::Type;

TEST(Executable, AddsTwoVectors) {
    for (const std::int64_t n : {0, 1, 3, 8, 100, 1000})
        check({Type(f64, {n}), Type(f64, {n})}, [](ir::Builder&, const Values& x) { return Values{x[0] + x[1]}; });
}

TEST(Executable, Scalars) {
    check({Type(f64, {}), Type(f32, {})}, [](ir::Builder&, const Values& x) { return Values{ops::exp(x[0]) * 2.5, ops::sin(x[1])}; });
}

TEST(Executable, BroadcastAndTranspose) {
    check({Type(f64, {7, 5}), Type(f64, {5}), Type(f64, {7, 1}), Type(f64, {5, 7})}, [](ir::Builder&, const Values& x) {
        const Shape s{7, 5};
        return Values{x[0] * ops::broadcast_to(x[1], s) + ops::broadcast_to(x[2], s) - ops::transpose(x[3], dims({1, 0}))};
    });
}

TEST(Executable, ResultsThatAreInputsOrEqual) {
    check({Type(f64, {4}), Type(f64, {2, 2})}, [](ir::Builder& b, const Values& x) {
        const Value y = ops::reshape(x[1], {4}) + x[0];
        return Values{x[0], y, y, ops::reshape(x[1], {4}), ops::full(b, Type(f32, {3}), 1.5), ops::iota(b, Type(i32, {2, 3}), 1)};
    });
}

} // namespace
} // namespace stithy::testing
