#include "compare.hpp"

namespace stithy::testing {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;

Value softmax(Value x, std::int64_t axis) {
    const Dims axes(1, axis);
    Dims kept;
    for (std::size_t i = 0; i < x.rank(); ++i)
        if (static_cast<std::int64_t>(i) != axis) kept.push_back(static_cast<std::int64_t>(i));
    const Value m = ops::broadcast_in_dim(ops::reduce(OpCode::maximum, x, axes), x.shape(), kept);
    const Value e = ops::exp(x - m);
    return e / ops::broadcast_in_dim(ops::reduce_sum(e, axes), x.shape(), kept);
}

TEST(ExecutableReduce, EveryShapeAndAxis) {
    for (const Shape& s :
         {Shape{7}, Shape{1000}, Shape{40, 3}, Shape{3, 40}, Shape{33, 70}, Shape{4, 5, 6}, Shape{1, 9, 1}, Shape{0, 3}, Shape{3, 0}}) {
        for (unsigned mask = 1; mask < (1u << s.rank()); ++mask) {
            Dims axes;
            for (std::size_t i = 0; i < s.rank(); ++i)
                if (mask >> i & 1) axes.push_back(static_cast<std::int64_t>(i));
            check({Type(f64, s), Type(i32, s)}, [&](ir::Builder&, const Values& x) {
                return Values{ops::reduce_sum(x[0] * x[0], axes) + 1.0, ops::reduce(OpCode::maximum, x[0], axes),
                              ops::reduce(OpCode::minimum, x[1], axes)};
            });
            if (HasFailure()) return;
        }
    }
}

TEST(ExecutableReduce, LongOnesInBlocks) {
    check(
        {Type(f64, {100003})}, [](ir::Builder&, const Values& x) { return Values{ops::sqrt(ops::reduce_sum(x[0] * x[0], dims({0})))}; },
        1e-10);
    check({Type(f32, {70000, 3})}, [](ir::Builder&, const Values& x) { return Values{ops::reduce(OpCode::maximum, x[0], dims({0}))}; });
    check({Type(f64, {3, 70000})}, [](ir::Builder&, const Values& x) { return Values{ops::reduce_sum(ops::exp(x[0]), dims({1}))}; }, 1e-10);
    check({Type(f64, {300, 700})}, [](ir::Builder&, const Values& x) { return Values{ops::reduce_sum(x[0], dims({0})) * 2.0}; }, 1e-10);
}

/// Equal numbers, whose roundings do not cancel: the error must not grow with the length.
TEST(ExecutableReduce, LongSumsStayExact) {
    for (const Shape& s : {Shape{3000001}, Shape{1500, 2000}, Shape{20, 30011}}) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(s.elements()) * sizeof(float));
        const float value = 0.1F;
        for (std::size_t i = 0; i < bytes.size(); i += sizeof value) std::memcpy(&bytes[i], &value, sizeof value);
        Dims axes;
        for (std::size_t i = 0; i < s.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        if (s[0] == 20) axes = dims({1});
        const auto f = function_of({Type(f32, s)}, [&](ir::Builder&, const Values& x) { return Values{ops::reduce_sum(x[0], axes)}; });
        const auto sum = run(*cpu::Executable::make(f), {ir::Literal::dense(Type(f32, s), std::move(bytes))});
        const double exact = static_cast<double>(value) * static_cast<double>(s.elements() / sum[0].type().elements());
        EXPECT_NEAR(sum[0].element_as_double(0), exact, exact * 4e-7) << s.str();
    }
}

TEST(ExecutableReduce, SoftmaxOverEachAxis) {
    for (const Shape& s : {Shape{50, 40}, Shape{40, 3}, Shape{3, 4, 50}, Shape{20, 20, 5}})
        for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(s.rank()); ++axis)
            check({Type(f64, s)}, [&](ir::Builder&, const Values& x) { return Values{softmax(x[0], axis)}; });
}

TEST(ExecutableReduce, LayerNormWithStatistics) {
    check({Type(f64, {30, 64}), Type(f64, {64})}, [](ir::Builder&, const Values& x) {
        const Shape s = x[0].shape();
        const Value mean = ops::reduce_sum(x[0], dims({1})) / 64.0;
        const Value centered = x[0] - ops::broadcast_in_dim(mean, s, dims({0}));
        const Value variance = ops::reduce_sum(centered * centered, dims({1})) / 64.0;
        const Value scale = ops::rsqrt(variance + 1e-5);
        return Values{centered * ops::broadcast_in_dim(scale, s, dims({0})) * ops::broadcast_in_dim(x[1], s, dims({1})), mean, scale};
    });
}

TEST(ExecutableReduce, PairwiseDistances) {
    check({Type(f64, {20, 3}), Type(f64, {30, 3})}, [](ir::Builder&, const Values& x) {
        const Shape s{20, 30, 3};
        const Value d = ops::broadcast_in_dim(x[0], s, dims({0, 2})) - ops::broadcast_in_dim(x[1], s, dims({1, 2}));
        return Values{ops::sqrt(ops::reduce_sum(d * d, dims({2})))};
    });
}

TEST(ExecutableReduce, GeneralReducerOfSeveralOperands) {
    ir::Builder r("argmax");
    Value a(r, r.parameter(Type(f64, {}))), ia(r, r.parameter(Type(i32, {}))), e(r, r.parameter(Type(f64, {}))),
        ie(r, r.parameter(Type(i32, {})));
    const Value take = ops::compare(e, a, ir::Direction::gt);
    const Value best = ops::select(take, e, a), where = ops::select(take, ie, ia);
    const ir::FunctionPtr region = r.finish({best.id(), where.id()});
    for (const Shape& s : {Shape{50}, Shape{20, 30}, Shape{30, 4}})
        for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(s.rank()); ++axis)
            check({Type(f64, s)}, [&](ir::Builder& b, const Values& x) {
                const std::vector<Value> operands{x[0], ops::iota(b, Type(i32, s), axis), ops::scalar(b, f64, -100),
                                                  ops::scalar(b, i32, -1)};
                const ops::Values both = ops::emit(b, OpCode::reduce, operands, ir::make_attr(ir::DimsAttr{Dims(1, axis)}), {region});
                return Values{both[0], both[1]};
            });
}

} // namespace
} // namespace stithy::testing
