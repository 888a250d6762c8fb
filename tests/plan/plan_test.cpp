#include "ops/build.hpp"
#include "plan/plan.hpp"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>

namespace stithy::plan {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;
using Build = std::function<Values(ir::Builder&, const Values&)>;

Dims dims(std::initializer_list<std::int64_t> values) {
    Dims d;
    for (std::int64_t v : values) d.push_back(v);
    return d;
}

Plan plan_of(const std::vector<Type>& parameters, const Build& build) {
    ir::Builder b("f");
    Values values;
    for (const Type& t : parameters) values.emplace_back(b, b.parameter(t));
    std::vector<ir::ValueId> results;
    for (const Value& v : build(b, values)) results.push_back(v.id());
    Plan plan = make_plan(b.finish(std::move(results)));
    for (const Nest& n : plan.nests) verify(n);
    return plan;
}

Value softmax(Value x) {
    const Value m = ops::broadcast_in_dim(ops::reduce(OpCode::maximum, x, dims({1})), x.shape(), dims({0}));
    const Value e = ops::exp(x - m);
    return e / ops::broadcast_in_dim(ops::reduce_sum(e, dims({1})), x.shape(), dims({0}));
}

Value layer_norm(Value x) {
    const double n = static_cast<double>(x.shape()[1]);
    const Value c = x - ops::broadcast_in_dim(ops::reduce_sum(x, dims({1})) / n, x.shape(), dims({0}));
    const Value r = ops::rsqrt(ops::reduce_sum(c * c, dims({1})) / n + 1e-5);
    return c * ops::broadcast_in_dim(r, x.shape(), dims({0}));
}

TEST(Plan, RowsAreOneNestWithoutScratch) {
    for (const auto& f : {softmax, layer_norm}) {
        const Plan p = plan_of({Type(f32, {1000, 1000})}, [&](ir::Builder&, const Values& x) { return Values{f(x[0])}; });
        EXPECT_EQ(p.steps.size(), 1u) << print(p);
        EXPECT_EQ(p.arena_bytes, 0) << print(p);
    }
}

TEST(Plan, CodeDoesNotDependOnExtentsOrLiterals) {
    const auto with = [](std::int64_t n, std::int64_t m, double step) {
        return plan_of({Type(f64, {n, m}), Type(f64, {m})}, [&](ir::Builder&, const Values& x) {
            const Value y = softmax(x[0] * step) + ops::broadcast_in_dim(x[1], x[0].shape(), dims({1}));
            return Values{y, ops::reduce_sum(y, dims({0})), ops::slice(y, dims({1, 0}), dims({n, m - 1})),
                          ops::dot_general(y, y, {{}, {}, dims({1}), dims({1})})};
        });
    };
    const Plan a = with(50, 60, 0.3), b = with(80, 45, 0.7), c = with(60, 60, 0.5);
    EXPECT_TRUE(a.nests == b.nests) << print(a) << print(b);
    EXPECT_TRUE(a.nests == c.nests);
    EXPECT_EQ(a.steps.size(), b.steps.size());
}

TEST(Plan, LongChainsAreCutIntoEqualPieces) {
    const Plan p = plan_of({Type(f64, {100})}, [](ir::Builder&, const Values& x) {
        Value v = x[0];
        for (int i = 0; i < 1000; ++i) v = ops::sin(v) * 0.9;
        return Values{v};
    });
    EXPECT_EQ(p.steps.size(), 32u);
    EXPECT_LE(p.nests.size(), 2u);
    EXPECT_LE(p.arena_bytes, 2 * 832);
}

TEST(Plan, ViewsCostNothing) {
    const Plan p = plan_of({Type(f64, {6, 4})}, [](ir::Builder&, const Values& x) { return Values{ops::reshape(x[0], {24}), x[0]}; });
    EXPECT_TRUE(p.steps.empty());
    EXPECT_EQ(p.result_sources[0].kind, ResultSource::Kind::input);
    EXPECT_EQ(p.result_sources[1].kind, ResultSource::Kind::input);
}

TEST(Plan, DyingInputsMayBecomeResults) {
    const Plan p =
        plan_of({Type(f64, {64}), Type(f64, {64})}, [](ir::Builder&, const Values& x) { return Values{x[0] * 2.0 + x[1], x[1] - 1.0}; });
    ASSERT_EQ(p.donations.size(), 2u) << print(p);
    // The input is read at other places than the result is written: no.
    const Plan q =
        plan_of({Type(f64, {8, 8})}, [](ir::Builder&, const Values& x) { return Values{ops::transpose(x[0], dims({1, 0})) * 2.0}; });
    EXPECT_TRUE(q.donations.empty()) << print(q);
    // A result that is the input itself keeps it.
    const Plan r = plan_of({Type(f64, {8})}, [](ir::Builder&, const Values& x) { return Values{x[0] + 1.0, x[0]}; });
    EXPECT_TRUE(r.donations.empty()) << print(r);
}

TEST(Plan, UpdatesOfDyingValuesDoNotCopy) {
    const Plan p = plan_of({Type(f64, {1000}), Type(f64, {3}), Type(i32, {})}, [](ir::Builder&, const Values& x) {
        const std::vector<Value> at{x[2]};
        const Value y = ops::dynamic_update_slice(x[0] * 2.0, x[1], at);
        return Values{ops::dynamic_update_slice(y, ops::dynamic_slice(y, at, dims({3})) + 1.0, at)};
    });
    for (const Step& s : p.steps) EXPECT_EQ(s.kind, Step::Kind::nest) << print(p);
    EXPECT_EQ(p.arena_bytes, 0) << print(p);
}

/// `depth` loops inside one another.
ir::FunctionPtr nest_of_loops(int depth) {
    const Type type(f64, {4});
    ir::FunctionPtr body;
    for (int level = 0; level <= depth; ++level) {
        ir::Builder b("level");
        if (level < depth) b.parameter(Type(i64, {}));
        const Value x(b, b.parameter(type));
        if (level == 0) {
            body = b.finish({ops::sin(x).id()});
            continue;
        }
        ir::LoopAttr attr;
        attr.carries = 1;
        attr.length = 3;
        body = b.finish({ops::emit1(b, OpCode::loop, {x}, ir::make_attr(attr), {body}).id()});
    }
    return body;
}

TEST(Plan, NestedLoopsArePlannedUpToALimit) {
    EXPECT_LE(make_plan(nest_of_loops(300)).steps.size(), 2u);
    for (int depth : {600, 2000}) {
        try {
            make_plan(nest_of_loops(depth));
            FAIL() << "planned";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("nest more than 512 levels deep"), std::string::npos) << e.what();
        }
    }
}

TEST(Plan, ConstantsAreKeptOnce) {
    const Plan p = plan_of({Type(f64, {3})}, [](ir::Builder& b, const Values& v) {
        Values out;
        for (int i = 0; i < 8; ++i) {
            std::vector<std::byte> bytes(24);
            const double number = i % 4 + 1.0;
            for (int k = 0; k < 3; ++k) std::memcpy(bytes.data() + 8 * k, &number, 8);
            if (i % 2 != 0) bytes[16] = std::byte{1}; // no splat
            out.push_back(v[0] + ops::constant(b, ir::Literal::dense(Type(f64, {3}), std::move(bytes))));
        }
        return out;
    });
    for (std::size_t i = 0; i < p.constants.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(p.constants[i] == p.constants[k]);
}

TEST(Plan, EmptyArraysNeedNoSteps) {
    const Plan p = plan_of({Type(f64, {0, 3})},
                           [](ir::Builder&, const Values& x) { return Values{ops::exp(x[0]), ops::reduce_sum(x[0], dims({1}))}; });
    EXPECT_TRUE(p.steps.empty()) << print(p);
}

} // namespace
} // namespace stithy::plan
