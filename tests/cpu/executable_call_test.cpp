#include "compare.hpp"
#include "runtime/parallel.hpp"
#include "runtime/queue.hpp"
#include "runtime/stats.hpp"

namespace stithy::testing {
namespace {

using ir::Type;
using ops::Value;
using runtime::Buffer;
using Values = std::vector<Value>;
using Buffers = std::vector<Ref<Buffer>>;

Ref<Buffer> filled(std::int64_t n, double value) {
    Ref<Buffer> b = Buffer::allocate(static_cast<std::size_t>(n) * 8);
    for (std::int64_t i = 0; i < n; ++i) static_cast<double*>(b->data())[i] = value;
    return b;
}

double at(const Ref<Buffer>& b, std::int64_t i) {
    b->wait();
    return static_cast<const double*>(b->data())[i];
}

Ref<cpu::Executable> doubled(std::int64_t n, int threads = 0) {
    cpu::CompileOptions options;
    options.threads = threads;
    return cpu::Executable::make(function_of({Type(f64, {n})}, [](ir::Builder&, const Values& x) { return Values{x[0] * 2.0}; }), options);
}

TEST(ExecutableCall, DyingInputsAreReused) {
    const auto e = doubled(100);
    Buffers in{filled(100, 3)}, out(1);
    void* const memory = in[0]->data();
    e->call(std::span<Ref<Buffer>>(in), 1, out);
    EXPECT_EQ(out[0]->data(), memory);
    EXPECT_EQ(at(out[0], 99), 6);
    // Somebody else holds it: its value stays.
    in[0] = filled(100, 3);
    const Ref<Buffer> other = in[0];
    e->call(std::span<Ref<Buffer>>(in), 1, out);
    EXPECT_NE(out[0]->data(), other->data());
    EXPECT_EQ(at(other, 5), 3);
    EXPECT_EQ(at(out[0], 5), 6);
}

TEST(ExecutableCall, LongCallsQueueAndReuseToo) {
    constexpr std::int64_t n = 3000000;
    const auto e = doubled(n);
    ASSERT_GT(e->plan().estimate_us, 100);
    Buffers in{filled(n, 3)}, out(1);
    void* const memory = in[0]->data();
    e->call(std::span<Ref<Buffer>>(in), 1, out);
    EXPECT_FALSE(in[0]);
    Buffers next{out[0]}, last(1);
    e->call(std::span<const Ref<Buffer>>(next), 0, last); // perhaps on a pending input
    EXPECT_EQ(at(out[0], n - 1), 6);
    EXPECT_EQ(at(last[0], 0), 12);
    EXPECT_EQ(out[0]->data(), memory);
}

TEST(ExecutableCall, FailedInputsFailTheResults) {
    const auto e = doubled(10);
    Ref<runtime::Failure> why;
    try {
        fail("test", "on purpose");
    } catch (...) {
        why = make_ref<runtime::Failure>(std::current_exception());
    }
    Buffers in{Buffer::make_failed(80, why)}, out(1);
    e->call(std::span<const Ref<Buffer>>(in), 0, out);
    EXPECT_THROW(out[0]->wait(), Error);
}

TEST(ExecutableCall, BitsDoNotDependOnThreads) {
    const auto f = function_of({Type(f32, {300000}), Type(f32, {400, 500})}, [](ir::Builder&, const Values& x) {
        return Values{ops::reduce_sum(ops::exp(x[0]) * x[0], dims({0})), ops::reduce_sum(ops::sin(x[1]), dims({1})),
                      ops::reduce_sum(x[1], dims({0})), ops::tanh(x[0])};
    });
    const std::vector<ir::Literal> arguments{sample(Type(f32, {300000}), 1), sample(Type(f32, {400, 500}), 2)};
    std::vector<std::vector<ir::Literal>> results;
    for (const int threads : {0, 1, 2}) {
        cpu::CompileOptions options;
        options.threads = threads;
        results.push_back(run(*cpu::Executable::make(f, options), arguments));
    }
    for (std::size_t r = 0; r < results[0].size(); ++r) {
        EXPECT_TRUE(results[0][r] == results[1][r]) << r;
        EXPECT_TRUE(results[0][r] == results[2][r]) << r;
    }
}

TEST(ExecutableCall, NewLengthsCompileNothing) {
    const auto make = [](std::int64_t n, double literal) {
        const auto f = function_of({Type(f64, {n})}, [&](ir::Builder&, const Values& x) {
            return Values{ops::reduce_sum(ops::exp(-x[0] * x[0]) * ops::sin(x[0]) + literal, dims({0})), x[0] * literal};
        });
        check(f, {sample(Type(f64, {n}), 1)}, 1e-10);
    };
    for (const std::int64_t n : {1, 8, 100, 1000}) make(n, 0.5);
    const auto before = runtime::counters().kernels_compiled.load() + runtime::counters().disk_cache_hits.load();
    for (std::int64_t n = 1001; n < 1020; ++n) make(n, 0.25 + static_cast<double>(n));
    EXPECT_EQ(runtime::counters().kernels_compiled.load() + runtime::counters().disk_cache_hits.load(), before);
}

TEST(ExecutableCall, AccumulatorsAreTensorsThatGrow) {
    const auto f = function_of({Type(f64, {6}), Type(f64, {2}), Type(i32, {})}, [](ir::Builder& b, const Values& x) {
        Value a = ops::accumulator_zeros(b, Type(f64, {6}));
        a = ops::accumulator_add(a, x[0]);
        const std::vector<Value> starts{x[2]};
        a = ops::accumulator_add_at(a, x[1], starts);
        a = ops::accumulator_add_at(a, x[1] * 3.0, starts);
        return Values{ops::freeze(a)};
    });
    check(f, {sample(Type(f64, {6}), 1), sample(Type(f64, {2}), 2), sample(Type(i32, {}), 3)});
}

TEST(ExecutableCall, ManyArguments) {
    const std::vector<Type> types(70, Type(f64, {5}));
    check(types, [](ir::Builder&, const Values& x) {
        Values r;
        for (std::size_t i = 0; i < x.size(); ++i) r.push_back(x[i] + x[(i + 1) % x.size()]);
        return r;
    });
}

} // namespace
} // namespace stithy::testing
