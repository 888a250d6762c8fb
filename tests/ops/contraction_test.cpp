// dot_general and reduce: shapes, errors, derivatives, batching.
#include "ops/harness.hpp"

namespace stithy::test {
namespace {

Dims dims(std::initializer_list<std::int64_t> list) {
    Dims out;
    for (std::int64_t v : list) out.push_back(v);
    return out;
}

Program dot(ir::DotAttr d) {
    return [d](Builder&, std::span<const Value> x) { return Values{ops::dot_general(x[0], x[1], d)}; };
}

TEST(DotGeneral, AxesInEveryOrder) {
    struct Case {
        Shape a, b;
        ir::DotAttr d;
        Shape result;
    };
    const Case cases[] = {
        {{3}, {3}, {{}, {}, dims({0}), dims({0})}, {}},
        {{2}, {3}, {{}, {}, {}, {}}, {2, 3}},
        {{2, 3}, {3, 4}, {{}, {}, dims({1}), dims({0})}, {2, 4}},
        {{3, 2}, {4, 3}, {{}, {}, dims({0}), dims({1})}, {2, 4}},
        {{2, 3, 4}, {4, 3}, {{}, {}, dims({1, 2}), dims({1, 0})}, {2}},
        {{2, 3, 4}, {3, 4, 2}, {{}, {}, dims({2, 0}), dims({1, 2})}, {3, 3}},
        {{2, 3, 4}, {2, 4, 5}, {dims({0}), dims({0}), dims({2}), dims({1})}, {2, 3, 5}},
        {{3, 4, 2}, {5, 2, 4}, {dims({2}), dims({1}), dims({1}), dims({2})}, {2, 3, 5}},
        {{2, 3, 4, 2}, {2, 2, 4}, {dims({3, 0}), dims({0, 1}), dims({2}), dims({2})}, {2, 2, 3}},
        {{2, 3}, {2, 3}, {dims({0, 1}), dims({0, 1}), {}, {}}, {2, 3}},
        {{0, 3}, {3, 2}, {{}, {}, dims({1}), dims({0})}, {0, 2}},
        {{2, 0}, {0, 3}, {{}, {}, dims({1}), dims({0})}, {2, 3}},
        {{}, {}, {{}, {}, {}, {}}, {}},
        {{}, {3}, {{}, {}, {}, {}}, {3}},
    };
    int n = 0;
    for (const Case& c : cases) {
        SCOPED_TRACE("case " + std::to_string(n++));
        const Arguments x{random_f64(c.a, 1), random_f64(c.b, 2)};
        EXPECT_EQ(build(x, dot(c.d))->result_types()[0].shape(), c.result);
        check_program(x, dot(c.d));
    }
}

TEST(DotGeneral, ACotangentNeedsNoTransposition) {
    for (bool left : {true, false}) { // K x and x K
        const ir::DotAttr d = left ? ir::DotAttr{{}, {}, dims({1}), dims({0})} : ir::DotAttr{{}, {}, dims({0}), dims({0})};
        const FunctionPtr f = left ? build(std::vector{Type(f64, {3}), Type(f64, {2, 3})},
                                           [&](Builder&, std::span<const Value> x) { return Values{ops::dot_general(x[1], x[0], d)}; })
                                   : build(std::vector{Type(f64, {3}), Type(f64, {3, 2})},
                                           [&](Builder&, std::span<const Value> x) { return Values{ops::dot_general(x[0], x[1], d)}; });
        for (const Op& op : transpose_of(*f, 1)->ops()) EXPECT_NE(op.code, OpCode::transpose);
    }
}

TEST(DotGeneral, AResultOfAnotherDtype) {
    const Type wide(f64, {2, 2});
    const auto f = [&](Builder& b, std::span<const Value> x) {
        return Values{
            ops::emit1(b, OpCode::dot_general, {x[0], x[1]}, ir::make_attr(ir::DotAttr{{}, {}, dims({1}), dims({0})}), {}, {&wide, 1})};
    };
    const Literal out = run1(f, {literal({2, 2}, {1, 2, 3, 4}, f32), literal({2, 2}, {1, 0, 0, 1}, f32)});
    EXPECT_EQ(out, literal({2, 2}, {1, 2, 3, 4}, f64));
    CheckOptions options;
    options.tolerance = 1e-3;
    options.step = 1e-2;
    options.second = false;
    options.product = 1e-5;
    check_derivatives(build(std::vector{Type(f32, {2, 2}), Type(f32, {2, 2})}, f),
                      {literal({2, 2}, {1, 2, 3, 4}, f32), literal({2, 2}, {2, 1, 0, 1}, f32)}, options, "wide");
    EXPECT_EQ(run1(dot({{}, {}, dims({0}), dims({0})}), {literal({3}, {1, 2, 3}, i32), literal({3}, {1, 2, 3}, i32)}), literal(14, i32));
}

TEST(DotGeneral, Errors) {
    const std::vector<Type> types{Type(f64, {2, 3}), Type(f64, {4, 5})};
    expect_error(types, dot({{}, {}, dims({1}), dims({0})}), {"dot_general", "f64[2,3]", "f64[4,5]", "differ in extent"});
    expect_error(types, dot({{}, {}, dims({2}), dims({0})}), {"dot_general", "out of range"});
    expect_error(types, dot({dims({0}), dims({0}), dims({0}), dims({1})}), {"dot_general", "both batching and contracted"});
    expect_error(types, dot({{}, {}, dims({1}), {}}), {"dot_general", "differ"});
    expect_error({Type(f64, {2}), Type(f32, {2})}, dot({{}, {}, dims({0}), dims({0})}), {"dot_general", "one dtype"});
}

// ---- reduce ----

TEST(Reduce, DerivativesAndBatches) {
    for (OpCode code : {OpCode::add, OpCode::multiply, OpCode::minimum, OpCode::maximum})
        for (const Dims& axes : {dims({}), dims({0}), dims({1}), dims({0, 2}), dims({2, 1, 0})}) {
            SCOPED_TRACE(std::string(ir::name(code)));
            CheckOptions options;
            options.second = code == OpCode::add || code == OpCode::multiply;
            const Program f = [&](Builder&, std::span<const Value> x) { return Values{ops::reduce(code, x[0] * x[0], axes)}; };
            check_program({random_f64({2, 3, 2}, 5)}, f, options);
        }
}

TEST(Reduce, AnInitialValueThatIsDifferentiated) {
    for (OpCode code : {OpCode::add, OpCode::multiply, OpCode::minimum, OpCode::maximum}) {
        const Program f = [&](Builder& b, std::span<const Value> x) {
            return Values{
                ops::emit1(b, OpCode::reduce, {x[0], x[1]}, ir::make_attr(ir::DimsAttr{dims({1})}), {ops::combiner_region(code, f64)})};
        };
        CheckOptions options;
        options.second = code == OpCode::add || code == OpCode::multiply;
        check_program({literal({2, 3}, {0.5, 2, 3, 1.5, 4, 0.7}), literal(1.1)}, f, options, std::string(ir::name(code)));
    }
}

TEST(Reduce, ProductsWithZeros) {
    const Program f = [](Builder&, std::span<const Value> x) { return Values{ops::reduce(OpCode::multiply, x[0], dims({1}))}; };
    CheckOptions options;
    options.second = false;
    check_derivatives(build(std::vector{Type(f64, {3, 3})}, f), {literal({3, 3}, {2, 0, 3, 0, 0, 1, 2, 2, 2})}, options, "zeros");
}

TEST(Reduce, ZeroSizes) {
    const Program sum = [](Builder&, std::span<const Value> x) { return Values{ops::reduce_sum(x[0] * x[0], dims({0}))}; };
    check_program({literal({0, 2}, {})}, sum);
    EXPECT_EQ(run1(sum, {literal({0, 2}, {})}), literal({2}, {0, 0}));
    const Literal top = run1([](Builder&, std::span<const Value> x) { return Values{ops::reduce(OpCode::maximum, x[0], dims({0}))}; },
                             {literal(Shape{0}, std::vector<double>{})});
    EXPECT_EQ(numbers(top)[0], -std::numeric_limits<double>::infinity());
}

/// A region of its own: (a, i), (b, j) -> the greater with its place.
FunctionPtr argmax_region() {
    Builder b("argmax");
    const Value a(b, b.parameter(Type(f64, {}))), i(b, b.parameter(Type(i32, {}))), x(b, b.parameter(Type(f64, {}))),
        j(b, b.parameter(Type(i32, {})));
    const Value greater = ops::compare(a, x, ir::Direction::ge);
    return b.finish({ops::select(greater, a, x).id(), ops::select(greater, i, j).id()});
}

TEST(Reduce, SeveralOperandsDifferentiateForwards) {
    const FunctionPtr region = argmax_region();
    const Program f = [&](Builder& b, std::span<const Value> x) {
        const Value places = ops::iota(b, Type(i32, x[0].shape()), 1);
        return ops::emit(b, OpCode::reduce, std::vector<Value>{x[0], places, ops::scalar(b, f64, -1e9), ops::scalar(b, i32, 0)},
                         ir::make_attr(ir::DimsAttr{dims({1})}), {region});
    };
    const Literal x = literal({2, 3}, {1, 5, 2, 7, 0, 3});
    const Arguments out = run(build(std::vector{x.type()}, f), {x});
    EXPECT_EQ(numbers(out[1]), (std::vector<double>{1, 0}));
    CheckOptions options;
    options.reverse = options.second = false;
    check_derivatives(build(std::vector{x.type()}, f), {x}, options, "argmax");
    check_batch(build(std::vector{x.type()}, f), [](std::size_t, const Type& t, unsigned seed) { return random_literal(t, seed); });
    const FunctionPtr j = jvp_of(*build(std::vector{x.type()}, f), {true}, false);
    try {
        transpose_of(*j, 1);
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("differentiates forwards only"), std::string::npos);
    }
}

TEST(Reduce, Errors) {
    const auto reduce = [](Dims axes) {
        return [axes](Builder&, std::span<const Value> x) { return Values{ops::reduce_sum(x[0], axes)}; };
    };
    expect_error({Type(f64, {2, 3})}, reduce(dims({2})), {"reduce", "axis 2 is out of range for rank 2"});
    expect_error({Type(f64, {2, 3})}, reduce(dims({1, 1})), {"reduce", "axis 1 is given twice"});
    expect_error({Type(f64, {2}), Type(f32, {})},
                 [](Builder& b, std::span<const Value> x) {
                     return Values{ops::emit1(b, OpCode::reduce, {x[0], x[1]}, ir::make_attr(ir::DimsAttr{dims({0})}),
                                              {ops::combiner_region(OpCode::add, f64)})};
                 },
                 {"reduce", "initial value f32[]", "f64[2]"});
    expect_error({Type(f64, {2}), Type(f64, {})},
                 [](Builder& b, std::span<const Value> x) {
                     return Values{ops::emit1(b, OpCode::reduce, {x[0], x[1]}, ir::make_attr(ir::DimsAttr{dims({0})}),
                                              {ops::combiner_region(OpCode::add, f32)})};
                 },
                 {"reduce", "region works on f32[]"});
}

// ---- accumulators ----

TEST(Accumulators, DifferentiateAndBatch) {
    const ir::ScatterAttr s = [] {
        ir::ScatterAttr a;
        a.inserted_window_dims = a.scatter_dims_to_operand_dims = dims({0});
        a.index_vector_dim = 1;
        return a;
    }();
    const Program f = [&](Builder& b, std::span<const Value> x) {
        const Value starts[] = {x[2]};
        Value acc = ops::accumulator_zeros(b, Type(f64, {5}));
        acc = ops::accumulator_add_at(acc, x[1] * x[1], starts);
        acc = ops::accumulator_scatter_add(acc, x[3], ops::sin(x[1]), s);
        acc = ops::accumulator_add(acc, x[0]);
        return Values{ops::freeze(acc)};
    };
    const Arguments x{random_f64({5}, 1), random_f64({2}, 2), literal(4, i32), literal({2, 1}, {1, 9}, i32)};
    check_derivatives(build(x, f), x, {}, "accumulators");
    check_batch(build(x, f),
                [](std::size_t, const Type& t, unsigned seed) { return random_literal(t, seed, -1, t.dtype() == i32 ? 6 : 1); });
}

TEST(Accumulators, Errors) {
    const auto add = [](const Type& what) {
        return [what](Builder& b, std::span<const Value>) {
            return Values{ops::accumulator_add(ops::accumulator_zeros(b, Type(f64, {2})), ops::zeros(b, what))};
        };
    };
    EXPECT_EQ(error_of({}, add(Type(f64, {2}))), "");
    expect_error({}, add(Type(f64, {3})), {"accumulator_add", "f64[3]", "accumulator f64[2]"});
    expect_error({}, add(Type(f32, {2})), {"accumulator_add", "f32[2]"});
}

} // namespace
} // namespace stithy::test
