#include "emit_support.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

using namespace stithy;
using ir::OpCode;
using plan::LoopKind;
using plan::NestBuilder;
using plan::NestValue;

namespace {

template <class T>
std::vector<T> ramp(std::size_t n, double scale = 0.37, double from = -3) {
    std::vector<T> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(from + scale * static_cast<double>(i));
    return v;
}

/// exp(-x * x) * sin(x) + c: math functions, a fused sum, more than one register's worth of work.
template <class T>
plan::Nest curve() {
    NestBuilder b;
    const DType t = dtype_of<T>;
    const auto c = b.literal(t, 0);
    const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
    const auto x = b.load(t, b.buffer(0), i);
    const auto e = b.apply(OpCode::exponential, t, b.apply(OpCode::negate, t, b.apply(OpCode::multiply, t, x, x)));
    b.store(t, b.buffer(1), i, b.apply(OpCode::add, t, b.apply(OpCode::multiply, t, e, b.apply(OpCode::sine, t, x)), c));
    b.end();
    return b.finish();
}

/// c * x + x / y, cheap.
template <class T>
plan::Nest cheap() {
    NestBuilder b;
    const DType t = dtype_of<T>;
    const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
    const auto x = b.load(t, b.buffer(0), i);
    const auto y =
        b.apply(OpCode::add, t, b.apply(OpCode::multiply, t, b.literal(t, 0), x), b.apply(OpCode::divide, t, x, b.literal(t, 1)));
    b.store(t, b.buffer(1), i, y);
    b.end();
    return b.finish();
}

template <class T>
void expect_tails_equal(const plan::Nest& nest, const cpu::TargetOptions& level) {
    const test::Kernel kernel(nest, level);
    constexpr std::size_t most = 160;
    const auto x = ramp<T>(most, 0.041);
    const std::vector<std::int64_t> params = {test::literal_bits(static_cast<T>(0.3)), test::literal_bits(static_cast<T>(0.7))};
    std::vector<T> whole(most);
    kernel({const_cast<T*>(x.data()), whole.data()}, params, most);
    for (std::size_t length = 0; length <= 70; ++length) {
        for (std::size_t begin : {std::size_t{0}, std::size_t{5}}) {
            std::vector<T> part(most, T{-7});
            kernel({const_cast<T*>(x.data()), part.data()}, params, static_cast<std::int64_t>(begin + length),
                   static_cast<std::int64_t>(begin));
            for (std::size_t k = 0; k < most; ++k) {
                const T want = k >= begin && k < begin + length ? whole[k] : T{-7};
                ASSERT_EQ(std::memcmp(&part[k], &want, sizeof(T)), 0) << "length " << length << " at " << k << " " << level.cpu;
            }
        }
    }
}

TEST(EmitLoops, TailsHaveTheSameBits) {
    for (const auto& level : test::levels()) {
        expect_tails_equal<double>(curve<double>(), level);
        expect_tails_equal<float>(curve<float>(), level);
        expect_tails_equal<double>(cheap<double>(), level);
        expect_tails_equal<float>(cheap<float>(), level);
    }
}

TEST(EmitLoops, BoolsAreBytes) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto p = b.load(boolean, b.buffer(0), i), q = b.load(boolean, b.buffer(1), i);
        b.store(boolean, b.buffer(2), i, b.apply(OpCode::and_, boolean, p, b.apply(OpCode::not_, boolean, q)));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t n = 0; n < 200; ++n) {
            std::vector<unsigned char> x(n + 1), y(n + 1), z(n + 1, 9);
            for (std::size_t k = 0; k < n; ++k) {
                x[k] = k % 3 != 0;
                y[k] = k % 2;
            }
            kernel({x.data(), y.data(), z.data()}, {}, static_cast<std::int64_t>(n));
            for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(z[k], x[k] && !y[k] ? 1 : 0);
            ASSERT_EQ(z[n], 9);
        }
    }
}

TEST(EmitLoops, StridedReversedGathered) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto stride = b.param(0), n = b.param(1);
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto back = b.apply(OpCode::subtract, i64, b.apply(OpCode::subtract, i64, n, b.fixed_int(1)), i);
        b.store(f64, b.buffer(1), i, b.load(f64, b.buffer(0), b.mul(i, stride))); // strided load
        b.store(f64, b.buffer(2), b.mul(i, stride), b.load(f64, b.buffer(0), i)); // strided store
        b.store(f64, b.buffer(3), i, b.load(f64, b.buffer(0), back));             // reversed load
        b.store(f64, b.buffer(4), back, b.load(f64, b.buffer(0), i));             // reversed store
        const auto at = b.apply(OpCode::convert, i64, b.load(i32, b.buffer(5), i));
        b.store(f32, b.buffer(6), i, b.load(f32, b.buffer(7), at));             // gather
        b.store(f32, b.buffer(8), at, b.apply(OpCode::convert, f32, i));        // scatter, the counter as a value
        b.store(f64, b.buffer(9), i, b.load(f64, b.buffer(0), b.fixed_int(3))); // uniform load
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::int64_t count : {1, 7, 8, 33, 50}) {
            const auto size = static_cast<std::size_t>(count);
            auto x = ramp<double>(200), a = std::vector<double>(200, -1), s = a, r = a, w = a, u = a;
            std::vector<std::int32_t> index(size);
            std::vector<float> g(size), source(size), placed(size);
            for (std::size_t k = 0; k < size; ++k) {
                index[k] = static_cast<std::int32_t>(size - 1 - k);
                source[k] = static_cast<float>(k) * 2;
            }
            kernel({x.data(), a.data(), s.data(), r.data(), w.data(), index.data(), g.data(), source.data(), placed.data(), u.data()},
                   {3, count}, count);
            for (std::size_t k = 0; k < size; ++k) {
                ASSERT_EQ(a[k], x[3 * k]);
                ASSERT_EQ(s[3 * k], x[k]);
                ASSERT_EQ(s[3 * k + 1], -1);
                ASSERT_EQ(r[k], x[size - 1 - k]);
                ASSERT_EQ(w[size - 1 - k], x[k]);
                ASSERT_EQ(g[k], static_cast<float>(size - 1 - k) * 2);
                ASSERT_EQ(placed[size - 1 - k], static_cast<float>(k));
                ASSERT_EQ(u[k], x[3]);
            }
            ASSERT_EQ(a[size], -1);
            ASSERT_EQ(r[size], -1);
            ASSERT_EQ(w[size], -1);
        }
    }
}

TEST(EmitLoops, InPlace) {
    for (const auto& level : test::levels()) {
        const test::Kernel kernel(curve<double>(), level);
        for (std::size_t n : {1u, 9u, 64u, 101u}) {
            auto x = ramp<double>(n, 0.05), y = x;
            std::vector<double> out(n);
            kernel({x.data(), out.data()}, {test::literal_bits(0.5)}, static_cast<std::int64_t>(n));
            kernel({y.data(), y.data()}, {test::literal_bits(0.5)}, static_cast<std::int64_t>(n));
            ASSERT_EQ(std::memcmp(y.data(), out.data(), n * sizeof(double)), 0);
        }
    }
}

/// Sums down the columns of a matrix: serial loops inside a vector loop, one total a lane.
TEST(EmitLoops, ColumnSums) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto rows = b.param(0), columns = b.param(1);
        const auto j = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto r = b.reduction(OpCode::add, f32, b.fixed(f32, 0));
        const auto most = b.variable(f32, b.literal(f32, 2));
        const auto i = b.loop(LoopKind::serial, b.fixed_int(0), rows, true);
        const auto v = b.load(f32, b.buffer(0), b.add(b.mul(i, columns), j));
        b.accumulate(r, v);
        b.set(most, b.apply(OpCode::maximum, f32, b.get(most), v));
        b.end();
        b.store(f32, b.buffer(1), j, b.get(r));
        b.store(f32, b.buffer(2), j, b.get(most));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t n : {1u, 5u, 16u, 70u}) {
            const std::size_t m = 13;
            std::vector<float> x(m * n), y(n), z(n);
            for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>((k * 7) % 31);
            kernel({x.data(), y.data(), z.data()}, {static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), test::literal_bits(-1.0f)},
                   static_cast<std::int64_t>(n));
            for (std::size_t k = 0; k < n; ++k) {
                float sum = 0, largest = -1;
                for (std::size_t row = 0; row < m; ++row) {
                    sum += x[row * n + k];
                    largest = std::max(largest, x[row * n + k]);
                }
                ASSERT_EQ(y[k], sum);
                ASSERT_EQ(z[k], largest);
            }
        }
    }
}

/// Rows of a softmax: two reductions over vector loops inside a loop over rows, the second with a store.
TEST(EmitLoops, Softmax) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto n = b.param(0);
        const auto row = b.loop(LoopKind::units, b.range_begin(), b.range_end());
        const auto start = b.mul(row, n);
        const auto most = b.reduction(OpCode::maximum, f64, b.fixed(f64, 0xfff0000000000000u));
        auto j = b.loop(LoopKind::vector, b.fixed_int(0), n);
        b.accumulate(most, b.load(f64, b.buffer(0), b.add(start, j)));
        b.end();
        const auto top = b.get(most);
        const auto sum = b.reduction(OpCode::add, f64, b.fixed(f64, 0));
        j = b.loop(LoopKind::vector, b.fixed_int(0), n);
        const auto e = b.apply(OpCode::exponential, f64, b.apply(OpCode::subtract, f64, b.load(f64, b.buffer(0), b.add(start, j)), top));
        b.store(f64, b.buffer(1), b.add(start, j), e);
        b.accumulate(sum, e);
        b.end();
        const auto total = b.get(sum);
        j = b.loop(LoopKind::vector, b.fixed_int(0), n);
        b.store(f64, b.buffer(1), b.add(start, j), b.apply(OpCode::divide, f64, b.load(f64, b.buffer(1), b.add(start, j)), total));
        b.end();
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t width : {1u, 3u, 17u, 100u}) {
            const auto x = ramp<double>(4 * width, 0.01);
            std::vector<double> y(4 * width);
            kernel({const_cast<double*>(x.data()), y.data()}, {static_cast<std::int64_t>(width)}, 4);
            for (std::size_t r = 0; r < 4; ++r) {
                double s = 0;
                for (std::size_t k = 0; k < width; ++k) s += std::exp(x[r * width + k] - x[r * width + width - 1]);
                for (std::size_t k = 0; k < width; ++k)
                    ASSERT_NEAR(y[r * width + k], std::exp(x[r * width + k] - x[r * width + width - 1]) / s, 1e-14);
            }
        }
    }
}

TEST(EmitLoops, LocalArraysOneForEachLane) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto n = b.param(0);
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto a = b.local(f32, 4);
        const auto flags = b.local(boolean, 4);
        auto k = b.loop(LoopKind::unrolled, b.fixed_int(0), b.fixed_int(4));
        const auto x = b.load(f32, b.buffer(0), b.add(b.mul(k, n), i));
        b.store(f32, a, k, x);
        b.store(boolean, flags, k, b.compare(ir::Direction::gt, x, b.literal(f32, 1)));
        b.end();
        const auto s = b.reduction(OpCode::add, f32, b.fixed(f32, 0));
        const auto all = b.reduction(OpCode::and_, boolean, b.fixed(boolean, 1));
        k = b.loop(LoopKind::serial, b.fixed_int(0), b.param(2));
        b.accumulate(s, b.apply(OpCode::multiply, f32, b.load(f32, a, k), b.apply(OpCode::convert, f32, b.add(k, b.fixed_int(1)))));
        b.accumulate(all, b.load(boolean, b.offset(flags, b.fixed_int(0)), k));
        b.end();
        b.store(f32, b.buffer(1), i, b.get(s));
        const auto which = b.apply(OpCode::convert, i64, b.load(i32, b.buffer(3), i));
        b.store(f32, b.buffer(2), i, b.load(f32, a, which)); // a different element in each lane
        b.store(boolean, b.buffer(4), i, b.get(all));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t count : {1u, 15u, 16u, 37u}) {
            const auto x2 = ramp<float>(4 * count, 0.25);
            std::vector<float> sums(count), picked(count);
            std::vector<unsigned char> flag(count);
            std::vector<std::int32_t> pick(count);
            for (std::size_t c = 0; c < count; ++c) pick[c] = static_cast<std::int32_t>(c % 4);
            kernel({const_cast<float*>(x2.data()), sums.data(), picked.data(), pick.data(), flag.data()},
                   {static_cast<std::int64_t>(count), test::literal_bits(-2.0f), 4}, static_cast<std::int64_t>(count));
            for (std::size_t c = 0; c < count; ++c) {
                float want = 0;
                bool above = true;
                for (std::size_t r = 0; r < 4; ++r) {
                    want += x2[r * count + c] * static_cast<float>(r + 1);
                    above = above && x2[r * count + c] > -2.0f;
                }
                ASSERT_NEAR(sums[c], want, 1e-4);
                ASSERT_EQ(picked[c], x2[static_cast<std::size_t>(pick[c]) * count + c]);
                ASSERT_EQ(flag[c], above ? 1 : 0);
            }
        }
    }
}

} // namespace
