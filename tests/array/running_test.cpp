// Running sums and products: any axis, dtype and extent; equal loops are planned once.
#include "array/check.hpp"

namespace st = stithy;
using st::Array;

TEST(Running, SumsAlongEachAxis) {
    const Array x = st::reshape(st::linspace(-1.0, 2.5, 24), {2, 3, 4});
    for (int axis : {-3, -2, -1, 0, 1, 2}) {
        const Array sums = st::cumsum(x, axis), products = st::cumprod(x, axis);
        ASSERT_EQ(sums.shape(), x.shape());
        const int over = axis < 0 ? axis + 3 : axis;
        const std::vector<double> v = x.to_vector<double>(), s = sums.to_vector<double>(), p = products.to_vector<double>();
        const int extents[] = {2, 3, 4}, strides[] = {12, 4, 1};
        for (int i = 0; i < 24; ++i) {
            const int place = i / strides[over] % extents[over];
            double sum = 0, product = 1;
            for (int k = 0; k <= place; ++k) {
                const double e = v[static_cast<std::size_t>(i - (place - k) * strides[over])];
                sum += e;
                product *= e;
            }
            EXPECT_NEAR(s[static_cast<std::size_t>(i)], sum, 1e-14);
            EXPECT_NEAR(p[static_cast<std::size_t>(i)], product, 1e-14);
        }
    }
}

TEST(Running, DtypesAndEmptyArrays) {
    EXPECT_EQ(st::cumsum(st::array({true, true, false, true})).to_vector<int>(), (std::vector<int>{1, 2, 2, 3}));
    EXPECT_EQ(st::cumsum(st::array({1, 2, 3}).astype(st::i8)).dtype().name(), st::i32.name());
    EXPECT_EQ(st::cumsum(st::array({1.5f, 2.0f})).to_vector<float>(), (std::vector<float>{1.5f, 3.5f}));
    EXPECT_EQ(st::cumprod(st::array({7L, -2L})).to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, -14}));
    EXPECT_EQ(st::cumsum(st::zeros({0})).size(), 0);
    EXPECT_EQ(st::cumsum(st::zeros({0, 3}), 0).shape(), (st::Shape{0, 3}));
    EXPECT_EQ(st::cumsum(st::zeros({0, 3}), 1).shape(), (st::Shape{0, 3}));
    EXPECT_EQ(st::jit([](Array a) { return st::cumsum(a, 1); })(st::zeros({2, 0})).shape(), (st::Shape{2, 0}));
    EXPECT_THROW(static_cast<void>(st::cumsum(st::zeros({}))), st::Error);
}

TEST(Running, AnotherExtentCompilesNothing) {
    const auto f = st::jit([](Array a) { return st::cumsum(a * 2.0); });
    f(st::linspace(0.0, 1.0, 100)).wait();
    st::cumsum(st::linspace(0.0, 1.0, 100)).wait();
    const auto before = st::stats().kernels_compiled;
    for (int n : {200, 2000, 37}) {
        f(st::linspace(0.0, 1.0, n)).wait();
        st::cumsum(st::linspace(0.0, 1.0, n)).wait();
    }
    EXPECT_EQ(st::stats().kernels_compiled, before);
}

TEST(Running, SecondDerivatives) {
    const auto f = [](Array a) { return st::sum(st::sin(st::cumprod(a)) * st::cumsum(a)); };
    const Array x = st::array({0.7, -1.2, 0.4, 1.9}), d = st::array({1.0, 0.5, -0.25, 2.0});
    const Array along = st::grad([&](Array a) { return st::sum(st::grad(f)(a) * d); })(x);
    const double h = 1e-5;
    const Array differences = (st::grad(f)(x + h * d) - st::grad(f)(x - h * d)) / (2 * h);
    stithy::test::expect_close(along, {4}, differences.to_vector<double>(), 1e-6);
}

TEST(Running, EqualLoopsArePlannedOnce) {
    const Array x = st::linspace(0.0, 1.0, 9), m = st::eye(9);
    const auto steps = [&] { return st::fori_loop(0, 5, [&](Array, Array c) { return st::tanh(st::matmul(m, c)); }, x); };
    const auto branch = [&] { return st::cond(st::sum(x) > 1.0, [](Array a) { return a * 2.0; }, [](Array a) { return a - 1.0; }, x); };
    const auto all = [&] {
        st::cumsum(x).wait();
        steps().wait();
        branch().wait();
    };
    all();
    const auto before = st::stats().plans;
    for (int i = 0; i < 3; ++i) all();
    EXPECT_EQ(st::stats().plans, before);
    // another body is another program
    EXPECT_NEAR(st::sum(st::fori_loop(
                            0, 5, [&](Array, Array c) { return st::sin(st::matmul(m, c)); }, x))
                    .item<double>(),
                st::sum(st::sin(st::sin(st::sin(st::sin(st::sin(x)))))).item<double>(), 1e-12);
}
