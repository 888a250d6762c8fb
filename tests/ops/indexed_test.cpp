// gather, scatter and the dynamic slices: shapes, errors, values at the edges, derivatives, batching.
#include "ops/harness.hpp"
#include "ops/windows.hpp"

namespace stithy::test {
namespace {

Dims dims(std::initializer_list<std::int64_t> list) {
    Dims out;
    for (std::int64_t v : list) out.push_back(v);
    return out;
}

// ---- gather ----

struct GatherCase {
    const char* name;
    Shape operand;
    Literal indices;
    ir::GatherAttr attr;
    std::vector<double> expected; ///< of an operand that counts 0, 1, 2, ...
};

ir::GatherAttr gather_attr(Dims offset, Dims collapsed, Dims map, std::int64_t vector_dim, Dims sizes, Dims operand_batch = {},
                           Dims indices_batch = {}) {
    ir::GatherAttr g;
    g.offset_dims = offset;
    g.collapsed_slice_dims = collapsed;
    g.start_index_map = map;
    g.index_vector_dim = vector_dim;
    g.slice_sizes = sizes;
    g.operand_batching_dims = operand_batch;
    g.start_indices_batching_dims = indices_batch;
    return g;
}

std::vector<GatherCase> gather_cases() {
    return {
        {"elements, repeated and clamped",
         {5},
         literal({4, 1}, {0, 3, 3, 9}, i32),
         gather_attr({}, dims({0}), dims({0}), 1, dims({1})),
         {0, 3, 3, 4}},
        {"negative indices clamp to zero", {5}, literal({2, 1}, {-4, 1}, i64), gather_attr({}, dims({0}), dims({0}), 1, dims({1})), {0, 1}},
        {"a scalar index", {4, 3}, literal(2, i32), gather_attr(dims({0}), dims({0}), dims({0}), 0, dims({1, 3})), {6, 7, 8}},
        {"rows", {4, 3}, literal({2}, {3, 1}, i32), gather_attr(dims({1}), dims({0}), dims({0}), 1, dims({1, 3})), {9, 10, 11, 3, 4, 5}},
        {"columns, window first",
         {3, 4},
         literal({2}, {3, 1}, i32),
         gather_attr(dims({0}), dims({1}), dims({1}), 1, dims({3, 1})),
         {3, 1, 7, 5, 11, 9}},
        {"windows that stick out",
         {6},
         literal({3, 1}, {0, 5, 3}, i32),
         gather_attr(dims({1}), {}, dims({0}), 1, dims({3})),
         {0, 1, 2, 3, 4, 5, 3, 4, 5}},
        {"points of a matrix, components swapped",
         {3, 4},
         literal({2, 2}, {1, 2, 3, 0}, i32),
         gather_attr({}, dims({0, 1}), dims({1, 0}), 1, dims({1, 1})),
         {9, 3}},
        {"index vector in front",
         {3, 4},
         literal({2, 3}, {0, 1, 2, 3, 2, 1}, i32),
         gather_attr({}, dims({0, 1}), dims({0, 1}), 0, dims({1, 1})),
         {3, 6, 9}},
        {"batching axes",
         {2, 4},
         literal({2, 3, 1}, {0, 1, 2, 3, 3, 0}, i32),
         gather_attr({}, dims({1}), dims({1}), 2, dims({1, 1}), dims({0}), dims({0})),
         {0, 1, 2, 7, 7, 4}},
        {"batching axes in other places",
         {4, 2},
         literal({3, 2, 1}, {0, 3, 1, 3, 2, 0}, i32),
         gather_attr(dims({0}), {}, dims({0}), 2, dims({2, 1}), dims({1}), dims({1})),
         {0, 5, 2, 5, 4, 1, 2, 7, 4, 7, 6, 3}},
        {"unsigned indices", {5}, literal({2, 1}, {4, 2}, u32), gather_attr({}, dims({0}), dims({0}), 1, dims({1})), {4, 2}},
        {"no index", {5}, literal({0, 1}, {}, i32), gather_attr({}, dims({0}), dims({0}), 1, dims({1})), {}},
    };
}

TEST(Gather, ValuesDerivativesBatches) {
    for (const GatherCase& c : gather_cases()) {
        SCOPED_TRACE(c.name);
        const Program gather = [&](Builder& b, std::span<const Value> x) {
            return Values{ops::emit1(b, OpCode::gather, {x[0], x[1]}, ir::make_attr(c.attr))};
        };
        std::vector<double> counted;
        for (std::int64_t i = 0; i < c.operand.elements(); ++i) counted.push_back(static_cast<double>(i));
        EXPECT_EQ(numbers(run1(gather, {literal(c.operand, counted), c.indices})), c.expected);
        const Program squared = [&](Builder& b, std::span<const Value> x) {
            return Values{ops::emit1(b, OpCode::gather, {x[0] * x[0], x[1]}, ir::make_attr(c.attr))};
        };
        check_program({random_f64(c.operand, 3), c.indices}, squared, {}, c.name);
    }
}

TEST(Gather, Errors) {
    const auto gather = [](ir::GatherAttr g) {
        return [g](Builder& b, std::span<const Value> x) { return Values{ops::emit1(b, OpCode::gather, {x[0], x[1]}, ir::make_attr(g))}; };
    };
    const std::vector<Type> types{Type(f64, {4, 3}), Type(i32, {2, 1})};
    const ir::GatherAttr good = gather_attr(dims({1}), dims({0}), dims({0}), 1, dims({1, 3}));
    EXPECT_EQ(error_of(types, gather(good)), "");
    ir::GatherAttr g = good;
    g.index_vector_dim = 3;
    expect_error(types, gather(g), {"gather", "index_vector_dim 3", "i32[2,1]"});
    g = good;
    g.start_index_map = dims({0, 1});
    expect_error(types, gather(g), {"gather", "start_index_map [0,1]", "expected 1"});
    g = good;
    g.slice_sizes = dims({1, 4});
    expect_error(types, gather(g), {"gather", "slice_sizes [1,4]", "f64[4,3]"});
    g = good;
    g.slice_sizes = dims({2, 3});
    expect_error(types, gather(g), {"gather", "at most 1"});
    g = good;
    g.offset_dims = {};
    expect_error(types, gather(g), {"gather", "offset_dims", "expected 1"});
    g = good;
    g.offset_dims = dims({2});
    expect_error(types, gather(g), {"gather", "offset_dims", "out of range"});
    expect_error({types[0], Type(f64, {2, 1})}, gather(good), {"gather", "indices f64[2,1]", "integers"});
    g = good;
    g.operand_batching_dims = dims({0});
    expect_error(types, gather(g), {"gather", "operand_batching_dims"});
}

// ---- scatter ----

enum class Combine { set, add, subtract, multiply, minimum, maximum };
FunctionPtr region_of(Combine c, DType t) {
    switch (c) {
    case Combine::set: return ops::second_region(t);
    case Combine::add: return ops::combiner_region(OpCode::add, t);
    case Combine::subtract: return ops::combiner_region(OpCode::subtract, t);
    case Combine::multiply: return ops::combiner_region(OpCode::multiply, t);
    case Combine::minimum: return ops::combiner_region(OpCode::minimum, t);
    case Combine::maximum: return ops::combiner_region(OpCode::maximum, t);
    }
    return nullptr;
}

struct ScatterCase {
    const char* name;
    Shape input;
    Literal indices;
    Shape updates;
    ir::ScatterAttr attr;
};

ir::ScatterAttr scatter_attr(Dims window, Dims inserted, Dims map, std::int64_t vector_dim, Dims input_batch = {},
                             Dims indices_batch = {}) {
    ir::ScatterAttr s;
    s.update_window_dims = window;
    s.inserted_window_dims = inserted;
    s.scatter_dims_to_operand_dims = map;
    s.index_vector_dim = vector_dim;
    s.input_batching_dims = input_batch;
    s.scatter_indices_batching_dims = indices_batch;
    return s;
}

std::vector<ScatterCase> scatter_cases() {
    return {
        {"elements, one dropped", {5}, literal({3, 1}, {0, 7, 3}, i32), {3}, scatter_attr({}, dims({0}), dims({0}), 1)},
        {"repeated", {4}, literal({4, 1}, {2, 1, 2, 2}, i32), {4}, scatter_attr({}, dims({0}), dims({0}), 1)},
        {"negative is dropped", {4}, literal({2, 1}, {-1, 1}, i64), {2}, scatter_attr({}, dims({0}), dims({0}), 1)},
        {"rows", {4, 3}, literal({2}, {3, 1}, i32), {2, 3}, scatter_attr(dims({1}), dims({0}), dims({0}), 1)},
        {"a scalar index", {4, 3}, literal(2, i32), {3}, scatter_attr(dims({0}), dims({0}), dims({0}), 0)},
        {"windows, one sticks out, two overlap", {6}, literal({3, 1}, {0, 5, 1}, i32), {3, 3}, scatter_attr(dims({1}), {}, dims({0}), 1)},
        {"points, components swapped",
         {3, 4},
         literal({3, 2}, {1, 2, 3, 0, 1, 2}, i32),
         {3},
         scatter_attr({}, dims({0, 1}), dims({1, 0}), 1)},
        {"batching axes",
         {2, 4},
         literal({2, 3, 1}, {0, 1, 0, 3, 3, 9}, i32),
         {2, 3},
         scatter_attr({}, dims({1}), dims({1}), 2, dims({0}), dims({0}))},
        {"no update", {5}, literal({0, 1}, {}, i32), {0}, scatter_attr({}, dims({0}), dims({0}), 1)},
    };
}

class Scatter : public testing::TestWithParam<Combine> {};

TEST_P(Scatter, DerivativesAndBatches) {
    const Combine combine = GetParam();
    for (const ScatterCase& c : scatter_cases()) {
        SCOPED_TRACE(c.name);
        const Program scatter = [&](Builder& b, std::span<const Value> x) {
            return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(c.attr), {region_of(combine, f64)})};
        };
        const Arguments x{random_f64(c.input, 3, 0.4, 1.6), c.indices, random_f64(c.updates, 4, 0.4, 1.6)};
        const FunctionPtr f = build(x, scatter);
        CheckOptions options;
        options.second = combine != Combine::minimum && combine != Combine::maximum;
        check_derivatives(f, x, options, c.name);
        check_batch(
            f, [&](std::size_t i, const Type& type, unsigned seed) { return i == 1 ? c.indices : random_literal(type, seed, 0.4, 1.6); });
    }
}
INSTANTIATE_TEST_SUITE_P(Combines, Scatter,
                         testing::Values(Combine::set, Combine::add, Combine::subtract, Combine::multiply, Combine::minimum,
                                         Combine::maximum));

TEST(ScatterIndices, MayDifferByExample) {
    const ir::ScatterAttr s = scatter_attr({}, dims({0}), dims({0}), 1);
    const FunctionPtr f = build(std::vector{Type(f64, {4}), Type(i32, {2, 1}), Type(f64, {2})}, [&](Builder& b, std::span<const Value> x) {
        return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {ops::combiner_region(OpCode::add, f64)})};
    });
    check_batch(f, [](std::size_t, const Type& type, unsigned seed) {
        return random_literal(type, seed, type.dtype() == i32 ? 0 : -1, type.dtype() == i32 ? 5 : 1);
    });
    const FunctionPtr g = build(std::vector{Type(f64, {4, 2}), Type(i32, {3, 1})}, [&](Builder& b, std::span<const Value> x) {
        return Values{
            ops::emit1(b, OpCode::gather, {x[0], x[1]}, ir::make_attr(gather_attr(dims({1}), dims({0}), dims({0}), 1, dims({1, 2}))))};
    });
    check_batch(g,
                [](std::size_t, const Type& type, unsigned seed) { return random_literal(type, seed, -1, type.dtype() == i32 ? 5 : 1); });
}

TEST(ScatterMultiply, ZerosAmongTheFactors) {
    const ir::ScatterAttr s = scatter_attr({}, dims({0}), dims({0}), 1);
    const Program f = [&](Builder& b, std::span<const Value> x) {
        return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {ops::combiner_region(OpCode::multiply, f64)})};
    };
    // places with one zero, two, three (the input's own among them), four, and one whose only zero is the input's
    const Arguments x{literal({5}, {2, 3, 0, 1, 0}), literal({13, 1}, {0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4}, i32),
                      literal({13}, {0, 4, 0, 0, 5, 0, 0, 0, 0, 0, 0, 2, 3})};
    check_derivatives(build(x, f), x, {}, "zeros");
}

TEST(ScatterMultiply, UniqueIndicesNeedNoDivision) {
    ir::ScatterAttr s = scatter_attr({}, dims({0}), dims({0}), 1);
    s.unique_indices = true;
    const Program f = [&](Builder& b, std::span<const Value> x) {
        return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {ops::combiner_region(OpCode::multiply, f64)})};
    };
    const Arguments x{literal({4}, {2, 0, 3, 0}), literal({4, 1}, {0, 1, 3, 7}, i32), literal({4}, {0, 4, 0, 5})};
    check_derivatives(build(x, f), x, {}, "unique");
}

TEST(ScatterRegion, AnyRegionDifferentiatesForwards) {
    Builder inner("half");
    const Value a(inner, inner.parameter(Type(f64, {}))), u(inner, inner.parameter(Type(f64, {})));
    const FunctionPtr region = inner.finish({(a * 0.5 + ops::sin(u)).id()});
    const ir::ScatterAttr s = scatter_attr({}, dims({0}), dims({0}), 1);
    const Program f = [&](Builder& b, std::span<const Value> x) {
        return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {region})};
    };
    const Arguments x{random_f64({3}, 1), literal({4, 1}, {0, 2, 2, 8}, i32), random_f64({4}, 2)};
    CheckOptions options;
    options.reverse = options.second = false;
    check_derivatives(build(x, f), x, options, "region");
}

TEST(ScatterSet, TheLastOfRepeatedUpdatesStays) {
    const ir::ScatterAttr s = scatter_attr({}, dims({0}), dims({0}), 1);
    const Literal out = run1(
        [&](Builder& b, std::span<const Value> x) {
            return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {ops::second_region(f64)})};
        },
        {literal({3}, {0, 0, 0}), literal({3, 1}, {1, 1, 5}, i32), literal({3}, {7, 8, 9})});
    EXPECT_EQ(numbers(out), (std::vector<double>{0, 8, 0}));
}

TEST(Scatter, Errors) {
    const auto scatter = [](ir::ScatterAttr s) {
        return [s](Builder& b, std::span<const Value> x) {
            return Values{ops::emit1(b, OpCode::scatter, {x[0], x[1], x[2]}, ir::make_attr(s), {ops::combiner_region(OpCode::add, f64)})};
        };
    };
    const std::vector<Type> types{Type(f64, {4, 3}), Type(i32, {2, 1}), Type(f64, {2, 3})};
    const ir::ScatterAttr good = scatter_attr(dims({1}), dims({0}), dims({0}), 1);
    EXPECT_EQ(error_of(types, scatter(good)), "");
    ir::ScatterAttr s = good;
    s.index_vector_dim = 5;
    expect_error(types, scatter(s), {"scatter", "index_vector_dim 5"});
    s = good;
    s.inserted_window_dims = {};
    expect_error(types, scatter(s), {"scatter", "do not make up the rank of f64[4,3]"});
    s = good;
    s.scatter_dims_to_operand_dims = dims({4});
    expect_error(types, scatter(s), {"scatter", "scatter_dims_to_operand_dims", "out of range"});
    expect_error({types[0], types[1], Type(f64, {2, 4})}, scatter(good), {"scatter", "f64[2,4]", "do not fit into input f64[4,3]"});
    expect_error({types[0], types[1], Type(f64, {3, 3})}, scatter(good), {"scatter", "f64[3,3]", "do not match indices i32[2,1]"});
    expect_error({types[0], types[1], Type(f32, {2, 3})}, scatter(good), {"scatter", "equal dtypes"});
    expect_error({types[0], Type(f64, {2, 1}), types[2]}, scatter(good), {"scatter", "indices f64[2,1]"});
}

// ---- dynamic slices ----

TEST(DynamicSlice, ValuesClampAndDifferentiate) {
    const Program f = [](Builder&, std::span<const Value> x) {
        const Value starts[] = {x[1], x[2]};
        const Value part = ops::dynamic_slice(x[0] * x[0], starts, dims({2, 3}));
        return Values{part, ops::dynamic_update_slice(x[0], part * part, starts)};
    };
    for (double i : {-2.0, 0.0, 1.0, 7.0}) check_program({random_f64({4, 5}, 1), literal(i, i32), literal(1, i32)}, f);
    check_program({random_f64({3}, 1)}, [](Builder& b, std::span<const Value> x) {
        const Value zero[] = {ops::scalar(b, i32, 0)};
        return Values{ops::dynamic_slice(x[0] * x[0], zero, dims({0})),
                      ops::dynamic_update_slice(x[0], ops::zeros(b, Type(f64, {0})), zero)};
    });
    check_program({random_f64({}, 1)},
                  [](Builder&, std::span<const Value> x) { return Values{ops::dynamic_slice(ops::sin(x[0]), {}, {})}; });
}

TEST(DynamicSlice, StartsThatDifferByExample) {
    const FunctionPtr f = build(std::vector{Type(f64, {4, 3}), Type(i32, {}), Type(f64, {2, 1})}, [](Builder&, std::span<const Value> x) {
        const Value starts[] = {x[1], x[1]};
        return Values{ops::dynamic_slice(x[0], starts, dims({2, 1})), ops::dynamic_update_slice(x[0], x[2], starts)};
    });
    check_batch(f, [](std::size_t, const Type& type, unsigned seed) {
        return random_literal(type, seed, type.dtype() == i32 ? -2 : -1, type.dtype() == i32 ? 5 : 1);
    });
}

TEST(DynamicSlice, Errors) {
    const std::vector<Type> types{Type(f64, {4, 3}), Type(i32, {}), Type(f64, {})};
    const auto slice = [](Dims sizes, bool bad_start) {
        return [=](Builder&, std::span<const Value> x) {
            const Value starts[] = {x[1], bad_start ? x[2] : x[1]};
            return Values{ops::dynamic_slice(x[0], starts, sizes)};
        };
    };
    EXPECT_EQ(error_of(types, slice(dims({4, 3}), false)), "");
    expect_error(types, slice(dims({5, 3}), false), {"dynamic_slice", "f64[4,3]"});
    expect_error(types, slice(dims({1}), false), {"dynamic_slice"});
    expect_error(types, slice(dims({1, 1}), true), {"dynamic_slice", "f64[]"});
    expect_error({Type(f64, {2}), Type(f64, {3}), Type(i32, {})},
                 [](Builder&, std::span<const Value> x) {
                     const Value starts[] = {x[2]};
                     return Values{ops::dynamic_update_slice(x[0], x[1], starts)};
                 },
                 {"dynamic_update_slice", "f64[3]", "does not fit into f64[2]"});
}

} // namespace
} // namespace stithy::test
