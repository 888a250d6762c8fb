#include "compare.hpp"

namespace stithy::testing {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;

ir::FunctionPtr region(const std::vector<Type>& parameters, const Build& build) { return function_of(parameters, build); }

Values emitted(ir::Builder& b, OpCode code, const Values& operands, ir::AttrPtr attr, std::vector<ir::FunctionPtr> regions) {
    const auto results = ops::emit(b, code, operands, std::move(attr), std::move(regions));
    return {results.begin(), results.end()};
}

struct Groups {
    Values invariants, carries, accumulators, xs;
};

/// A counted loop; the body's parameter types follow from the operands.
Values loop(ir::Builder& b, std::int64_t length, const Groups& g, std::int64_t ys, const Build& body, bool reverse = false,
            Value trips = {}) {
    ir::LoopAttr attr;
    attr.invariants = static_cast<std::int64_t>(g.invariants.size());
    attr.carries = static_cast<std::int64_t>(g.carries.size());
    attr.accumulators = static_cast<std::int64_t>(g.accumulators.size());
    attr.xs = static_cast<std::int64_t>(g.xs.size());
    attr.ys = ys;
    attr.length = trips ? -1 : length;
    attr.reverse = reverse;
    std::vector<Type> types{Type(i64, {})};
    Values operands;
    if (trips) operands.push_back(trips);
    for (const Values* list : {&g.invariants, &g.carries, &g.accumulators})
        for (const Value& v : *list) {
            types.push_back(v.type());
            operands.push_back(v);
        }
    for (const Value& v : g.xs) {
        Dims d = v.shape().dims();
        d.erase(0);
        types.emplace_back(v.dtype(), Shape(d));
        operands.push_back(v);
    }
    return emitted(b, OpCode::loop, operands, ir::make_attr(attr), {region(types, body)});
}

TEST(ExecutableLoop, ScalarRecurrence) {
    for (const std::int64_t n : {0, 1, 7, 100})
        check({Type(f64, {}), Type(f64, {})}, [&](ir::Builder& b, const Values& x) {
            return loop(b, n, {{x[1]}, {x[0]}, {}, {}}, 1, [](ir::Builder&, const Values& p) {
                const Value next = ops::sin(p[2]) + p[1] * ops::convert(p[0], f64);
                return Values{next, next * 0.5};
            });
        });
}

TEST(ExecutableLoop, VectorsSwapAndStack) {
    for (const std::int64_t n : {1, 2, 5})
        for (const std::int64_t size : {3, 20})
            check(
                {Type(f64, {size}), Type(f64, {size}), Type(f64, {size, size}), Type(f64, {n, size})},
                [&](ir::Builder& b, const Values& x) {
                    const Values r = loop(b, n, {{x[2]}, {x[0], x[1]}, {}, {x[3]}}, 2, [](ir::Builder&, const Values& p) {
                        const Value v = p[3] + ops::dot_general(p[1], p[2], {{}, {}, dims({1}), dims({0})}) * 0.1;
                        const Value q = ops::tanh(p[2] + v * 0.1 + p[4]);
                        return Values{q, v, q, ops::reduce_sum(v, dims({0}))};
                    });
                    return Values{r[0], r[1], r[2], r[3], x[0]};
                },
                1e-10);
}

TEST(ExecutableLoop, CarriesChangePlaces) {
    for (const std::int64_t n : {0, 1, 2, 3, 4})
        for (const std::int64_t size : {1, 4, 100})
            check({Type(f64, {size}), Type(f64, {size}), Type(f64, {size})}, [&](ir::Builder& b, const Values& x) {
                return loop(b, n, {{x[2]}, {x[0], x[1], x[0]}, {}, {}}, 1, [](ir::Builder&, const Values& p) {
                    return Values{p[3], p[2], p[1], p[3]}; // two exchanged, one replaced by an invariant
                });
            });
}

TEST(ExecutableLoop, UpdatesInPlaceAndBackwards) {
    check({Type(f64, {9, 4}), Type(f64, {9, 4})}, [&](ir::Builder& b, const Values& x) {
        const Value acc = ops::accumulator_add(ops::accumulator_zeros(b, Type(f64, {9, 4})), x[1]);
        Values r = loop(
            b, 9, {{}, {x[0]}, {acc}, {x[1]}}, 0,
            [](ir::Builder& c, const Values& p) {
                const std::vector<Value> at{p[0], ops::scalar(c, i64, 0)};
                const Value row = ops::dynamic_slice(p[1], at, dims({1, 4}));
                const Value next = ops::dynamic_update_slice(p[1], ops::exp(row * -0.1) + ops::reshape(p[3], {1, 4}), at);
                return Values{next, ops::accumulator_add_at(p[2], row * 2.0, at)};
            },
            true);
        r[1] = ops::freeze(r[1]);
        return r;
    });
}

TEST(ExecutableLoop, SmallMatricesInRegisters) {
    check({Type(f64, {2, 2}), Type(f64, {2, 2}), Type(f64, {6})}, [&](ir::Builder& b, const Values& x) {
        return loop(b, 6, {{x[0]}, {x[1]}, {}, {x[2]}}, 1, [](ir::Builder&, const Values& p) {
            const Value m =
                ops::dot_general(ops::dot_general(p[1], p[2], {{}, {}, dims({1}), dims({0})}), p[1], {{}, {}, dims({1}), dims({1})});
            const Value c = ops::slice(m, dims({0, 1}), dims({2, 2}));
            const Value n =
                m * 0.1 + ops::broadcast_in_dim(p[3], {2, 2}, {}) - ops::dot_general(c, c, {{}, {}, dims({1}), dims({1})}) * 0.01;
            return Values{n, ops::reduce_sum(n, dims({0, 1}))};
        });
    });
}

TEST(ExecutableLoop, TripCountFromData) {
    check({Type(f64, {50}), Type(i64, {})}, [&](ir::Builder& b, const Values& x) {
        return loop(
            b, 0, {{}, {x[0]}, {}, {}}, 0, [](ir::Builder&, const Values& p) { return Values{ops::sin(p[1])}; }, false, x[1] + x[1]);
    });
}

TEST(ExecutableLoop, LoopsInLoopsAndBranches) {
    check({Type(f64, {30}), Type(f64, {})}, [&](ir::Builder& b, const Values& x) {
        return loop(b, 4, {{}, {x[0], x[1]}, {}, {}}, 1, [](ir::Builder& c, const Values& p) {
            const Values inner = loop(c, 3, {{p[2]}, {p[1]}, {}, {}}, 1, [](ir::Builder&, const Values& q) {
                const Value v = ops::sin(q[2]) + ops::broadcast_in_dim(q[1], {30}, {});
                return Values{v, ops::reduce_sum(v, dims({0}))};
            });
            const Value sum = ops::reduce_sum(inner[1], dims({0}));
            const std::vector<Type> captured{Type(f64, {30}), Type(f64, {})};
            const auto yes = region(captured, [](ir::Builder&, const Values& q) { return Values{q[0] * 0.5, q[1]}; });
            const auto no = region(captured, [](ir::Builder&, const Values& q) { return Values{q[0], ops::cos(q[1])}; });
            const std::vector<Value> operands{ops::compare(sum, 3.0, ir::Direction::gt), inner[0], p[2]};
            const Values r = emitted(c, OpCode::if_, operands, nullptr, {yes, no});
            return Values{r[0], r[1], sum};
        });
    });
}

TEST(ExecutableLoop, WhileLoops) {
    check({Type(f64, {}), Type(f64, {12}), Type(i32, {})}, [&](ir::Builder& b, const Values& x) {
        const std::vector<Type> types{Type(f64, {}), Type(i32, {}), Type(f64, {12})};
        const auto condition = region(types, [](ir::Builder& c, const Values& p) {
            return Values{ops::and_(ops::compare(p[1], ops::scalar(c, i32, 20), ir::Direction::lt),
                                    ops::compare(ops::reduce(OpCode::maximum, p[2], dims({0})), 0.05, ir::Direction::gt))};
        });
        const auto body = region(types, [](ir::Builder& c, const Values& p) {
            return Values{p[1] + ops::scalar(c, i32, 1), ops::sin(p[2]) * 0.9 - ops::broadcast_in_dim(p[0], {12}, {}) * 0.01};
        });
        const std::vector<Value> operands{x[0], x[2], x[1]};
        return emitted(b, OpCode::while_, operands, ir::make_attr(ir::WhileAttr{1}), {condition, body});
    });
}

TEST(ExecutableLoop, BranchesUpdateWhatTheyCapture) {
    check({Type(f64, {40}), Type(f64, {40})}, [&](ir::Builder& b, const Values& x) {
        return loop(b, 12, {{}, {x[0], x[1]}, {}, {}}, 0, [](ir::Builder& c, const Values& p) {
            const std::vector<Type> captured{Type(f64, {40}), Type(i64, {}), Type(f64, {40})};
            const auto yes = region(captured, [](ir::Builder&, const Values& q) {
                const std::vector<Value> at{q[1]};
                const Value row = ops::dynamic_slice(q[0], at, dims({1}));
                const Value second = ops::dynamic_update_slice(q[0], row * 0.5 + 1.0, at);
                return Values{ops::dynamic_update_slice(second, ops::slice(second, dims({3}), dims({6})), at), q[0] * 0.1};
            });
            const auto no = region(captured, [](ir::Builder&, const Values& q) { return Values{q[0], q[2]}; });
            const std::vector<Value> operands{
                ops::compare(ops::remainder(p[0], ops::scalar(c, i64, 3)), ops::scalar(c, i64, 1), ir::Direction::eq), p[1], p[0], p[2]};
            return emitted(c, OpCode::if_, operands, nullptr, {yes, no});
        });
    });
}

TEST(ExecutableLoop, CasesAndTopLevelBranches) {
    for (const int k : {-1, 0, 1, 2, 7}) {
        const auto f = function_of({Type(i32, {}), Type(f64, {5}), Type(f64, {})}, [](ir::Builder& b, const Values& x) {
            const std::vector<Type> types{Type(f64, {5}), Type(f64, {})};
            const auto a = region(types, [](ir::Builder&, const Values& p) { return Values{p[0] * 2.0, p[1]}; });
            const auto c = region(types, [](ir::Builder&, const Values& p) { return Values{p[0], ops::reduce_sum(p[0], dims({0}))}; });
            const auto d =
                region(types, [](ir::Builder&, const Values& p) { return Values{ops::broadcast_in_dim(p[1], {5}, {}), p[1] - 1.0}; });
            const std::vector<Value> operands{x[0], x[1], x[2]};
            return emitted(b, OpCode::case_, operands, nullptr, {a, c, d});
        });
        check(f, {ir::Literal::splat(Type(i32, {}), k), sample(Type(f64, {5}), 1), sample(Type(f64, {}), 2)});
    }
}

} // namespace
} // namespace stithy::testing
