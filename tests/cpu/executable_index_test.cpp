#include "compare.hpp"

namespace stithy::testing {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;

ir::DotAttr dot(std::initializer_list<std::int64_t> lb, std::initializer_list<std::int64_t> rb, std::initializer_list<std::int64_t> lc,
                std::initializer_list<std::int64_t> rc) {
    return {dims(lb), dims(rb), dims(lc), dims(rc)};
}

TEST(ExecutableIndex, SlicesPadsReversesConcatenations) {
    check({Type(f64, {9, 7}), Type(f64, {})}, [](ir::Builder&, const Values& x) {
        const Value s = ops::slice(x[0], dims({1, 0}), dims({8, 7}), dims({2, 3}));
        const Value p = ops::pad(ops::exp(s), x[1], dims({1, -1}), dims({2, 3}), dims({0, 1}));
        const Value r = ops::reverse(ops::transpose(x[0], dims({1, 0})), dims({0}));
        const std::vector<Value> parts{x[0], ops::reverse(x[0], dims({1})), x[0] * 2.0};
        return Values{s * 2.0, p + 1.0, r - 1.0, ops::concatenate(parts, 0), ops::concatenate(parts, 1) * 3.0, ops::reshape(r, {63}) + 0.5};
    });
}

TEST(ExecutableIndex, TransposesOfManyElements) {
    for (const DType t : {f64, f32, i8})
        for (const Shape& s : {Shape{37, 131}, Shape{131, 37}, Shape{64, 64}, Shape{1, 200}}) {
            check({Type(t, s), Type(t, {s[1], s[0]})}, [](ir::Builder&, const Values& x) {
                const Value turned = ops::transpose(x[0], dims({1, 0}));
                return Values{turned, turned + x[1], ops::reduce_sum(turned * x[1], dims({0}))};
            });
        }
    for (const Dims& order : {dims({0, 2, 1}), dims({2, 1, 0}), dims({1, 2, 0}), dims({2, 0, 1})})
        check({Type(f64, {19, 20, 70})}, [&](ir::Builder&, const Values& x) { return Values{ops::transpose(x[0] * 2.0, order)}; });
}

TEST(ExecutableIndex, ReshapesOfMovedValues) {
    check({Type(f64, {6, 4}), Type(f64, {8, 3})}, [](ir::Builder&, const Values& x) {
        const Value t = ops::reshape(ops::transpose(x[0], dims({1, 0})), {8, 3});
        const Value u = ops::reshape(ops::slice(x[0], dims({0, 1}), dims({6, 3})), {3, 4});
        return Values{t + x[1], ops::reduce_sum(u, dims({1})), ops::reshape(ops::reshape(x[0], {2, 3, 4}) * 2.0, {12, 2})};
    });
}

TEST(ExecutableIndex, DynamicSlicesClamp) {
    check({Type(f64, {9, 7}), Type(i32, {}), Type(i64, {}), Type(f64, {2, 3})}, [](ir::Builder&, const Values& x) {
        const std::vector<Value> starts{x[1], ops::convert(x[2], i32)};
        const Value s = ops::dynamic_slice(x[0], starts, dims({2, 3}));
        const Value u = ops::dynamic_update_slice(x[0], x[3] + s, starts);
        return Values{s * 2.0, u, ops::dynamic_update_slice(u * 2.0, x[3], starts)};
    });
}

TEST(ExecutableIndex, UpdateReadsWhatItOverwrites) {
    check({Type(f64, {20}), Type(i32, {})}, [](ir::Builder& b, const Values& x) {
        const Value zero = ops::scalar(b, i32, 0);
        const std::vector<Value> at{x[1]}, begin{zero};
        const Value y = x[0] * 2.0;
        const Value moved = ops::dynamic_update_slice(y, ops::slice(y, dims({0}), dims({10})) + 1.0, at);
        const Value again = ops::dynamic_update_slice(moved, ops::dynamic_slice(moved, at, dims({5})) * 3.0, at);
        const Value first = ops::dynamic_update_slice(again, ops::reverse(ops::slice(again, dims({3}), dims({9})), dims({0})), begin);
        return Values{first, ops::reduce_sum(moved, dims({0}))};
    });
}

TEST(ExecutableIndex, Gathers) {
    check({Type(f64, {6, 5}), Type(i32, {4, 1}), Type(i64, {3, 2})}, [](ir::Builder& b, const Values& x) {
        ir::GatherAttr rows;
        rows.offset_dims = dims({1});
        rows.collapsed_slice_dims = dims({0});
        rows.start_index_map = dims({0});
        rows.index_vector_dim = 1;
        rows.slice_sizes = dims({1, 5});
        ir::GatherAttr windows;
        windows.offset_dims = dims({1, 2});
        windows.start_index_map = dims({1, 0});
        windows.index_vector_dim = 1;
        windows.slice_sizes = dims({2, 3});
        const std::vector<Value> a{x[0], x[1]}, c{x[0], x[2]};
        return Values{ops::emit1(b, OpCode::gather, a, ir::make_attr(rows)) * 2.0,
                      ops::emit1(b, OpCode::gather, c, ir::make_attr(windows))};
    });
}

TEST(ExecutableIndex, Scatters) {
    check({Type(f64, {6, 5}), Type(i32, {4, 1}), Type(f64, {4, 5}), Type(f64, {4})}, [](ir::Builder& b, const Values& x) {
        ir::ScatterAttr rows;
        rows.update_window_dims = dims({1});
        rows.inserted_window_dims = dims({0});
        rows.scatter_dims_to_operand_dims = dims({0});
        rows.index_vector_dim = 1;
        ir::ScatterAttr single = rows;
        single.update_window_dims = dims({});
        single.inserted_window_dims = dims({0});
        const Value flat = ops::reshape(x[0], {30});
        const std::vector<Value> a{x[0], x[1], x[2]}, c{flat, x[1], x[3]};
        return Values{ops::emit1(b, OpCode::scatter, a, ir::make_attr(rows), {ops::combiner_region(OpCode::add, f64)}),
                      ops::emit1(b, OpCode::scatter, a, ir::make_attr(rows), {ops::second_region(f64)}),
                      ops::emit1(b, OpCode::scatter, c, ir::make_attr(single), {ops::combiner_region(OpCode::multiply, f64)})};
    });
}

TEST(ExecutableIndex, Products) {
    for (const auto& [m, k, n] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {2, 3, 4}, {1, 40, 30}, {30, 40, 1}, {17, 33, 29}, {5, 0, 3}, {0, 3, 2}, {1, 300, 1}}) {
        for (const DType dtype : {f64, f32, i32}) {
            check(
                {Type(dtype, {m, k}), Type(dtype, {k, n}), Type(dtype, {k, m}), Type(dtype, {n, k})},
                [&](ir::Builder&, const Values& x) {
                    ir::DotAttr plain = dot({}, {}, {1}, {0}), lt = dot({}, {}, {0}, {0}), rt = dot({}, {}, {1}, {1}),
                                both = dot({}, {}, {0}, {1});
                    return Values{ops::dot_general(x[0], x[1], plain), ops::dot_general(x[2], x[1], lt), ops::dot_general(x[0], x[3], rt),
                                  ops::dot_general(x[2], x[3], both)};
                },
                1e-11);
            if (HasFailure()) return;
        }
    }
    check(
        {Type(f64, {3, 8, 9}), Type(f64, {3, 9, 7}), Type(f64, {9, 3, 7})},
        [](ir::Builder&, const Values& x) {
            return Values{ops::dot_general(x[0], x[1], dot({0}, {0}, {2}, {1})), ops::dot_general(x[0], x[2], dot({0}, {1}, {2}, {0})),
                          ops::dot_general(x[0], x[1], dot({}, {}, {0, 2}, {0, 1}))};
        },
        1e-11);
}

TEST(ExecutableIndex, AttentionLayouts) {
    check(
        {Type(f64, {2, 9, 3, 8}), Type(f64, {2, 7, 3, 8}), Type(f64, {2, 3, 9, 7})},
        [](ir::Builder&, const Values& x) {
            return Values{ops::dot_general(x[0], x[1], dot({0, 2}, {0, 2}, {3}, {3})),
                          ops::dot_general(x[2], x[1], dot({0, 1}, {0, 2}, {3}, {1})),
                          ops::dot_general(x[0], x[1], dot({2, 0}, {2, 0}, {3}, {3}))};
        },
        1e-11);
    check({Type(i32, {5, 40}), Type(i32, {40, 30})},
          [](ir::Builder&, const Values& x) { return Values{ops::dot_general(x[0], x[1], dot({}, {}, {1}, {0}))}; });
}

} // namespace
} // namespace stithy::testing
