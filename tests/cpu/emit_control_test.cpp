#include "emit_support.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <thread>

using namespace stithy;
using ir::OpCode;
using plan::LoopKind;
using plan::NestBuilder;
using plan::NestValue;

namespace {

TEST(EmitControl, ScalarRecurrence) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto s = b.variable(f64, b.literal(f64, 0));
        b.loop(LoopKind::serial, b.fixed_int(0), b.param(3));
        b.set(s, b.apply(OpCode::add, f64, b.apply(OpCode::multiply, f64, b.get(s), b.literal(f64, 1)), b.literal(f64, 2)));
        b.end();
        b.store(f64, b.buffer(0), b.fixed_int(0), b.get(s));
        const test::Kernel kernel(b.finish(), level);
        for (std::int64_t steps : {0, 1, 100}) {
            double got = 0, want = 2;
            kernel({&got}, {test::literal_bits(2.0), test::literal_bits(0.5), test::literal_bits(0.25), steps});
            for (std::int64_t k = 0; k < steps; ++k) want = want * 0.5 + 0.25;
            EXPECT_EQ(got, want);
        }
    }
}

/// Collatz steps of one number: while, if and else of scalars.
TEST(EmitControl, ScalarWhileAndIf) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto n = b.variable(i64, b.param(0)), steps = b.variable(i64, b.fixed_int(0));
        b.while_();
        b.test(b.compare(ir::Direction::ne, b.get(n), b.fixed_int(1)));
        b.if_(b.compare(ir::Direction::eq, b.apply(OpCode::and_, i64, b.get(n), b.fixed_int(1)), b.fixed_int(0)));
        b.set(n, b.apply(OpCode::divide, i64, b.get(n), b.param(1)));
        b.else_();
        b.set(n, b.add(b.mul(b.get(n), b.fixed_int(3)), b.fixed_int(1)));
        b.end();
        b.set(steps, b.add(b.get(steps), b.fixed_int(1)));
        b.end();
        b.store(i64, b.buffer(0), b.fixed_int(0), b.get(steps));
        const test::Kernel kernel(b.finish(), level);
        std::int64_t got = -1;
        kernel({&got}, {27, 2});
        EXPECT_EQ(got, 111);
        kernel({&got}, {1, 2});
        EXPECT_EQ(got, 0);
    }
}

/// The same in lanes that go different ways and stop at different times.
TEST(EmitControl, LanesGoTheirOwnWays) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto n = b.variable(i32, b.load(i32, b.buffer(0), i)), steps = b.variable(i32, b.fixed(i32, 0));
        b.while_();
        b.test(b.compare(ir::Direction::ne, b.get(n), b.fixed(i32, 1)));
        b.if_(b.compare(ir::Direction::eq, b.apply(OpCode::and_, i32, b.get(n), b.fixed(i32, 1)), b.fixed(i32, 0)));
        b.set(n, b.apply(OpCode::divide, i32, b.get(n), b.literal(i32, 0)));
        b.else_();
        b.set(n, b.apply(OpCode::add, i32, b.apply(OpCode::multiply, i32, b.get(n), b.literal(i32, 1)), b.fixed(i32, 1)));
        b.end();
        b.set(steps, b.apply(OpCode::add, i32, b.get(steps), b.fixed(i32, 1)));
        b.end();
        b.store(i32, b.buffer(1), i, b.get(steps));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t count : {1u, 7u, 40u}) {
            std::vector<std::int32_t> x(count), y(count + 1, -5);
            for (std::size_t k = 0; k < count; ++k) x[k] = static_cast<std::int32_t>(k * 3 + 1);
            kernel({x.data(), y.data()}, {2, 3}, static_cast<std::int64_t>(count));
            for (std::size_t k = 0; k < count; ++k) {
                std::int32_t want = 0;
                for (std::int32_t v = x[k]; v != 1; v = v % 2 ? 3 * v + 1 : v / 2) ++want;
                ASSERT_EQ(y[k], want) << k;
            }
            ASSERT_EQ(y[count], -5);
        }
    }
}

/// A padded read: lanes outside must not touch memory.
TEST(EmitControl, GuardedAccess) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto n = b.param(0), low = b.param(1);
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto at = b.apply(OpCode::subtract, i64, i, low);
        const auto inside =
            b.apply(OpCode::and_, boolean, b.compare(ir::Direction::ge, at, b.fixed_int(0)), b.compare(ir::Direction::lt, at, n));
        const auto v = b.variable(f64, b.literal(f64, 2));
        b.if_(inside);
        b.set(v, b.load(f64, b.buffer(0), at));
        b.store(f64, b.buffer(2), at, b.get(v));
        b.end();
        b.store(f64, b.buffer(1), i, b.get(v));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        for (std::int64_t count : {1, 8, 30}) {
            const std::int64_t pad = 11, total = count + 2 * pad;
            std::vector<double> x(static_cast<std::size_t>(count)), y(static_cast<std::size_t>(total)), z(x.size() + 1, -1);
            for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k) + 1;
            kernel({x.data(), y.data(), z.data()}, {count, pad, test::literal_bits(0.5)}, total);
            for (std::int64_t k = 0; k < total; ++k) {
                const bool in = k >= pad && k < pad + count;
                ASSERT_EQ(y[static_cast<std::size_t>(k)], in ? static_cast<double>(k - pad) + 1 : 0.5);
            }
            ASSERT_EQ(z[0], 1);
            ASSERT_EQ(z.back(), -1);
        }
    }
}

/// Carries as pointers that change places: y <- A x, again and again.
TEST(EmitControl, PointersChangePlaces) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto n = b.param(0);
        const auto from = b.pointer_variable(b.buffer(0)), to = b.pointer_variable(b.offset(b.buffer(1), b.param(2)));
        b.loop(LoopKind::serial, b.fixed_int(0), b.param(1));
        const auto now = b.get(from), next = b.get(to);
        const auto i = b.loop(LoopKind::vector, b.fixed_int(0), n);
        b.store(f64, next, i, b.apply(OpCode::add, f64, b.load(f64, now, i), b.fixed(f64, 0x3ff0000000000000u)));
        b.end();
        b.set(from, next);
        b.set(to, now);
        b.end();
        const auto last = b.get(from);
        const auto k = b.loop(LoopKind::parallel, b.fixed_int(0), n);
        b.store(f64, b.buffer(2), k, b.load(f64, last, k));
        b.end();
        const test::Kernel kernel(b.finish(), level);
        std::vector<double> x(11, 0.0), y(12), z(11);
        kernel({x.data(), y.data(), z.data()}, {11, 5, 8});
        for (double v : z) EXPECT_EQ(v, 5);
    }
}

std::int32_t take_all(runtime::Runtime*, double* out, std::int64_t n, double x, float y, std::int32_t z, std::int8_t w, bool p) {
    if (n < 0) return 77;
    *out = static_cast<double>(n) + x + static_cast<double>(y) + z + w + (p ? 1000 : 0);
    return 0;
}

TEST(EmitControl, CallsAndTheirStatus) {
    test::test_symbols()["test_take_all"] = reinterpret_cast<void*>(&take_all);
    for (const auto& level : test::levels()) {
        NestBuilder b;
        b.call("test_take_all",
               {b.buffer(0), b.param(0), b.literal(f64, 1), b.literal(f32, 2), b.literal(i32, 3), b.literal(i8, 4), b.literal(boolean, 5)});
        b.store(f64, b.buffer(1), b.fixed_int(0), b.load(f64, b.buffer(0), b.fixed_int(0)));
        const test::Kernel kernel(b.finish(), level);
        double out = 0, copied = 0;
        const std::vector<std::int64_t> params = {
            10, test::literal_bits(0.5), test::literal_bits(0.25f), -3, test::literal_bits(std::int8_t{-2}), 1};
        EXPECT_EQ(kernel({&out, &copied}, params), 0);
        EXPECT_EQ(copied, 10 + 0.5 + 0.25 - 3 - 2 + 1000);
        auto bad = params;
        bad[0] = -1;
        copied = 4;
        EXPECT_EQ(kernel({&out, &copied}, bad), 77);
        EXPECT_EQ(copied, 4);
    }
}

/// A loop whose iterations the runtime spreads over threads: what it uses from outside comes along.
TEST(EmitControl, ParallelLoops) {
    for (const auto& level : test::levels()) {
        NestBuilder b;
        const auto rows = b.param(0), columns = b.param(1);
        const auto total = b.reduction(OpCode::add, f64, b.literal(f64, 2));
        b.accumulate(total, b.literal(f64, 3));
        const auto scale = b.variable(f32, b.literal(f32, 4));
        const auto place = b.pointer_variable(b.buffer(1));
        b.loop(LoopKind::serial, b.fixed_int(0), b.fixed_int(2));
        const auto r = b.loop(LoopKind::parallel, b.fixed_int(1), b.add(rows, b.fixed_int(1)));
        const auto at = b.mul(b.apply(OpCode::subtract, i64, r, b.fixed_int(1)), columns);
        const auto sum = b.reduction(OpCode::add, f64, b.get(total));
        const auto j = b.loop(LoopKind::vector, b.fixed_int(0), columns);
        b.accumulate(sum, b.load(f64, b.buffer(0), b.add(at, j)));
        b.end();
        const auto scaled = b.apply(OpCode::multiply, f64, b.get(sum), b.apply(OpCode::convert, f64, b.get(scale)));
        b.store(f64, b.get(place), b.apply(OpCode::subtract, i64, r, b.fixed_int(1)), scaled);
        b.call("test_fail_at", {r, b.param(5)});
        b.end();
        b.set(scale, b.apply(OpCode::multiply, f32, b.get(scale), b.literal(f32, 4)));
        b.end();
        test::test_symbols()["test_fail_at"] =
            reinterpret_cast<void*>(+[](runtime::Runtime*, std::int64_t r1, std::int64_t bad) { return r1 == bad ? 44 : 0; });
        const test::Kernel kernel(b.finish(), level);
        std::vector<double> x(40 * 19, 1.0), y(40);
        std::vector<std::int64_t> params = {40, 19, test::literal_bits(2.0), test::literal_bits(0.5), test::literal_bits(3.0f), -1};
        EXPECT_EQ(kernel({x.data(), y.data()}, params), 0);
        for (double v : y) EXPECT_EQ(v, (19 + 2.5) * 9);
        params[5] = 17;
        EXPECT_EQ(kernel({x.data(), y.data()}, params), 44);
    }
}

/// Every reduction, over lengths with and without tails.
TEST(EmitControl, Reductions) {
    const std::vector<OpCode> ops = {OpCode::add,  OpCode::multiply, OpCode::minimum, OpCode::maximum,
                                     OpCode::and_, OpCode::or_,      OpCode::xor_};
    for (const auto& level : test::levels()) {
        NestBuilder b;
        std::vector<NestValue> totals;
        for (OpCode op : ops) totals.push_back(b.reduction(op, i32, b.literal(i32, totals.size())));
        for (NestValue& r : totals) {
            const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
            b.accumulate(r, b.load(i32, b.buffer(0), i));
            b.end();
        }
        const auto most = b.reduction(OpCode::maximum, f64, b.fixed(f64, 0xfff0000000000000u)),
                   sum = b.reduction(OpCode::add, f64, b.fixed(f64, 0));
        const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
        const auto x = b.load(f64, b.buffer(2), i);
        b.accumulate(most, x);
        b.accumulate(sum, b.apply(OpCode::multiply, f64, x, x));
        b.end();
        for (std::size_t k = 0; k < totals.size(); ++k)
            b.store(i32, b.buffer(1), b.fixed_int(static_cast<std::int64_t>(k)), b.get(totals[k]));
        b.store(f64, b.buffer(3), b.fixed_int(0), b.get(most));
        b.store(f64, b.buffer(3), b.fixed_int(1), b.get(sum));
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t n : {0u, 1u, 2u, 31u, 64u, 71u, 200u}) {
            std::vector<std::int32_t> x1(n + 1), got(7);
            std::vector<double> x2(n + 1, NAN), got2(2);
            const std::vector<std::int64_t> first = {5, 3, 1000, -7, -1, 0, 9};
            std::vector<std::uint32_t> want;
            for (auto f : first) want.push_back(static_cast<std::uint32_t>(f));
            double squares = 0, largest = -INFINITY;
            for (std::size_t k = 0; k < n; ++k) {
                x1[k] = static_cast<std::int32_t>((k * 2654435761u) >> 3) | 0x10;
                const auto u = static_cast<std::uint32_t>(x1[k]);
                want[0] += u;
                want[1] *= u;
                want[2] = static_cast<std::uint32_t>(std::min(static_cast<std::int32_t>(want[2]), x1[k]));
                want[3] = static_cast<std::uint32_t>(std::max(static_cast<std::int32_t>(want[3]), x1[k]));
                want[4] &= u;
                want[5] |= u;
                want[6] ^= u;
                x2[k] = static_cast<double>(k % 17) - 5;
                squares += x2[k] * x2[k];
                largest = std::max(largest, x2[k]);
            }
            kernel({x1.data(), got.data(), x2.data(), got2.data()}, first, static_cast<std::int64_t>(n));
            for (std::size_t k = 0; k < 7; ++k)
                ASSERT_EQ(static_cast<std::uint32_t>(got[k]), want[k]) << ir::name(ops[k]) << " " << n << " " << level.cpu;
            ASSERT_EQ(got2[0], largest);
            ASSERT_EQ(got2[1], squares);
            if (n > 3) {
                x2[n - 2] = NAN;
                kernel({x1.data(), got.data(), x2.data(), got2.data()}, first, static_cast<std::int64_t>(n));
                ASSERT_TRUE(std::isnan(got2[0]));
            }
        }
    }
}

/// Main loop, tail and their border at every length.
template <class T>
void check_sums(const cpu::TargetOptions& level) {
    const DType t = dtype_of<T>;
    NestBuilder b;
    const auto r = b.reduction(OpCode::add, t, b.fixed(t, 0));
    const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
    b.accumulate(r, b.load(t, b.buffer(0), i));
    b.end();
    b.store(t, b.buffer(1), b.fixed_int(0), b.get(r));
    const test::Kernel kernel(b.finish(), level);
    for (std::size_t n = 0; n < 300; ++n) {
        std::vector<T> x(n + 1, T{100});
        T want = 0, got = 7;
        for (std::size_t k = 0; k < n; ++k) {
            x[k] = static_cast<T>(k % 5);
            want = static_cast<T>(want + x[k]);
        }
        kernel({x.data(), &got}, {}, static_cast<std::int64_t>(n));
        ASSERT_EQ(got, want) << n << " " << level.cpu;
    }
}

TEST(EmitControl, SumsOfEveryLength) {
    for (const auto& level : test::levels()) {
        check_sums<std::int8_t>(level);
        check_sums<std::uint16_t>(level);
        check_sums<float>(level);
        check_sums<double>(level);
    }
}

/// Compilations at the same time do not disturb each other.
TEST(EmitControl, CompilesOnSeveralThreads) {
    std::vector<std::thread> threads;
    std::array<int, 4> wrong{};
    for (std::size_t n = 0; n < 4; ++n) {
        threads.emplace_back([&wrong, n] {
            for (int round = 0; round < 3; ++round) {
                NestBuilder b;
                const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
                auto x = b.load(f64, b.buffer(0), i);
                for (std::size_t k = 0; k <= n; ++k) x = b.apply(OpCode::add, f64, x, b.literal(f64, 0));
                b.store(f64, b.buffer(0), i, x);
                b.end();
                const test::Kernel kernel(b.finish(), test::levels().back());
                std::vector<double> data(50, 1.0);
                kernel({data.data()}, {test::literal_bits(2.0)}, 50);
                for (double v : data) wrong[n] += v != 1 + 2 * static_cast<double>(n + 1);
            }
        });
    }
    for (auto& t : threads) t.join();
    for (int count : wrong) EXPECT_EQ(count, 0);
}

TEST(EmitControl, ReductionsOfBools) {
    const std::vector<OpCode> ops = {OpCode::add,  OpCode::multiply, OpCode::minimum, OpCode::maximum,
                                     OpCode::and_, OpCode::or_,      OpCode::xor_};
    for (const auto& level : test::levels()) {
        NestBuilder b;
        std::vector<NestValue> totals;
        for (OpCode op : ops) totals.push_back(b.reduction(op, boolean, b.literal(boolean, totals.size())));
        for (NestValue r : totals) {
            const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
            b.accumulate(r, b.load(boolean, b.buffer(0), i));
            b.end();
        }
        for (std::size_t k = 0; k < ops.size(); ++k)
            b.store(boolean, b.buffer(1), b.fixed_int(static_cast<std::int64_t>(k)), b.get(totals[k]));
        const test::Kernel kernel(b.finish(), level);
        for (std::size_t n : {0u, 1u, 40u, 64u, 131u}) {
            for (unsigned pattern = 0; pattern < 4; ++pattern) {
                std::vector<unsigned char> x(n + 1), got(ops.size());
                unsigned ones = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    x[k] = pattern == 1 || (pattern == 2 && k == n / 2) || (pattern == 3 && k != n / 2);
                    ones += x[k];
                }
                kernel({x.data(), got.data()}, {0, 1, 1, 0, 1, 0, 0}, static_cast<std::int64_t>(n));
                const bool some = ones > 0, all = ones == n;
                const std::vector<unsigned char> want = {some, all, all, some, all, some, ones % 2 == 1};
                ASSERT_EQ(got, want) << n << " " << pattern << " " << level.cpu;
            }
        }
    }
}

TEST(EmitControl, TextsOnDemand) {
    NestBuilder b;
    b.store(f64, b.buffer(0), b.fixed_int(0), b.literal(f64, 0));
    auto options = test::levels().back();
    options.want_ir = options.want_assembly = true;
    options.entry = "my_name";
    const auto result = cpu::compile_nest(b.finish(), options);
    EXPECT_NE(result.ir.find("define i32 @my_name"), std::string::npos);
    EXPECT_NE(result.assembly.find("my_name:"), std::string::npos);
    EXPECT_FALSE(result.object.empty());
}

} // namespace
