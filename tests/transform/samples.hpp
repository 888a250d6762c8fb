#pragma once
#include "transform/structured.hpp"

/// Small programs of every structure, with arguments: the transformations, the passes and the executables are tested on all of them.
namespace stithy::test {

struct Sample {
    std::string name;
    Arguments arguments;
    FunctionPtr function;
};

/// Programs that differentiate both ways.
std::vector<Sample> smooth_samples();

/// x(i) of the leading axis at an i64 counter, without that axis.
inline Value row(Value x, Value i) {
    Dims sizes = x.shape().dims(), rest = sizes;
    sizes[0] = 1;
    rest.erase(0);
    Values starts{i};
    while (starts.size() < x.rank()) starts.push_back(ops::zeros_like(i));
    return ops::reshape(ops::dynamic_slice(x, starts, sizes), Shape(rest));
}

namespace samples {

inline Value vec_dot(Value a, Value b) {
    ir::DotAttr d;
    d.lhs_contract = d.rhs_contract = Dims(1, 0);
    return ops::dot_general(a, b, d);
}
inline Value mat_vec(Value a, Value b) {
    ir::DotAttr d;
    d.lhs_contract = Dims(1, 1);
    d.rhs_contract = Dims(1, 0);
    return ops::dot_general(a, b, d);
}
inline Value real(Value counter) { return ops::convert(counter, f64); }
inline Value scaled(Value x, Value s) { return x * ops::broadcast_to(s, x.shape()); }

class List {
public:
    void add(const std::string& name, Arguments arguments, const Program& program) {
        FunctionPtr f = build(arguments, program);
        out.push_back({name, std::move(arguments), std::move(f)});
    }
    std::vector<Sample> out;
};

inline Literal small(const Shape& shape, unsigned seed) { return random_f64(shape, seed, 0.3, 0.9); }

inline void straight(List& list) {
    list.add("chain", {small({3}, 1), small({3}, 2)},
             [](Builder&, View v) { return Values{ops::sin(v[0]) * v[1] + ops::exp(v[0] * v[1])}; });
    list.add("product", {small({2, 3}, 1), small({3}, 2)}, [](Builder&, View v) { return Values{ops::tanh(mat_vec(v[0], v[1])), v[1]}; });
    list.add("same result twice", {small({2}, 1)}, [](Builder&, View v) {
        const Value y = ops::sin(v[0]);
        return Values{y, y, v[0], y * y};
    });
    list.add("integers aside", {small({2}, 1), literal({2}, {2, 3}, i32)}, [](Builder&, View v) {
        return Values{v[0] * ops::convert(v[1], f64), v[1] + v[1], ops::compare(v[0], 0.5, ir::Direction::gt)};
    });
    list.add("windows", {small({6}, 1), literal({}, {2}, i32)}, [](Builder&, View v) {
        const Value i[] = {v[1]};
        const Value head = ops::slice(v[0], Dims(1, 0), Dims(1, 3)), tail = ops::slice(v[0], Dims(1, 3), Dims(1, 6));
        return Values{head * tail, ops::sin(ops::dynamic_slice(v[0], i, Dims(1, 2))), ops::dynamic_update_slice(v[0] * v[0], tail, i)};
    });
}

inline void counted(List& list) {
    for (std::int64_t n : {0, 1, 2, 7})
        list.add("power " + std::to_string(n), {small({2}, 3)}, [n](Builder& b, View v) {
            return loop(b, n, {.invariants = {v[0]}, .carries = {ops::full_like(v[0], 1)}},
                        [](const LoopView& l) { return Values{l.carries[0] * l.invariants[0]}; });
        });
    for (std::int64_t n : {0, 1, 5})
        for (bool reverse : {false, true})
            list.add("scan " + std::to_string(n) + (reverse ? " reversed" : ""), {small({2}, 3), small({n, 2}, 4)},
                     [=](Builder& b, View v) {
                         return loop(
                             b, n, {.carries = {v[0]}, .xs = {v[1]}},
                             [](const LoopView& l) {
                                 const Value next = ops::tanh(l.carries[0] * l.xs[0]);
                                 return Values{next, next * l.xs[0], l.xs[0]};
                             },
                             reverse);
                     });
    list.add("springs", {random_f64({3, 3}, 5), small({3}, 6)}, [](Builder& b, View v) {
        return loop(b, 6, {.invariants = {v[0]}, .carries = {v[1], ops::zeros_like(v[1])}}, [](const LoopView& l) {
            const Value velocity = l.carries[1] + mat_vec(l.invariants[0], l.carries[0]) * 0.1;
            return Values{l.carries[0] + velocity * 0.1, velocity};
        });
    });
    list.add("counter", {small({2}, 7)}, [](Builder& b, View v) {
        return loop(b, 4, {.carries = {v[0]}}, [](const LoopView& l) {
            const Value i = ops::broadcast_to(real(l.counter), {2});
            return Values{l.carries[0] * ops::sin(i * 0.3 + 1.0) + ops::cos(l.carries[0])};
        });
    });
    for (bool reverse : {false, true})
        list.add(reverse ? "rows by counter reversed" : "rows by counter", {small({5, 2}, 8), small({2}, 9)},
                 [reverse](Builder& b, View v) {
                     return loop(
                         b, 5, {.invariants = {v[0]}, .carries = {v[1]}},
                         [](const LoopView& l) {
                             return Values{l.carries[0] * ops::sin(row(l.invariants[0], l.counter)),
                                           row(l.invariants[0], l.counter) * l.carries[0]};
                         },
                         reverse);
                 });
    list.add("invariant work", {small({3}, 10), small({3}, 11)}, [](Builder& b, View v) {
        return loop(b, 3, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            return Values{l.carries[0] * ops::exp(l.invariants[0]) + ops::sin(l.invariants[0] * l.invariants[0])};
        });
    });
    list.add("trip count as data, linear", {small({2}, 12), literal({}, {3}, i64)}, [](Builder& b, View v) {
        return loop(b, -1, {.invariants = {v[0]}, .carries = {v[0]}, .trip = v[1]},
                    [](const LoopView& l) { return Values{l.carries[0] * 0.5 + l.invariants[0]}; });
    });
}

inline void tangled(List& list) {
    list.add("carries change places", {small({2}, 1), small({2}, 2)}, [](Builder& b, View v) {
        return loop(b, 5, {.carries = {v[0], v[1]}}, [](const LoopView& l) { return Values{l.carries[1], l.carries[0] * l.carries[1]}; });
    });
    list.add("a carry becomes active late", {small({2}, 1)}, [](Builder& b, View v) {
        const Value one = ops::full_like(v[0], 1.0);
        return loop(b, 4, {.invariants = {v[0]}, .carries = {one, one, one}}, [](const LoopView& l) {
            return Values{l.invariants[0] * 0.5, l.carries[0] * l.carries[1], l.carries[1] + l.carries[2]};
        });
    });
    list.add("carry unused and passed on", {small({2}, 1), small({2}, 2)}, [](Builder& b, View v) {
        const Values out = loop(b, 3, {.carries = {v[0], v[1], ops::constant(b, literal({}, {0}, i32))}}, [](const LoopView& l) {
            return Values{ops::sin(l.carries[0]), l.carries[1], l.carries[2] + 1.0, l.carries[1], ops::convert(l.carries[2], f64)};
        });
        return Values{out[0], out[2], out[3], out[4]};
    });
    list.add("only a stacked result", {small({2}, 1)}, [](Builder& b, View v) {
        return Values{
            loop(b, 3, {.carries = {v[0]}}, [](const LoopView& l) { return Values{ops::sin(l.carries[0]), ops::exp(l.carries[0])}; })[1]};
    });
    list.add("nested", {small({3, 2}, 1), small({2}, 2), random_f64({2, 2}, 3)}, [](Builder& b, View v) {
        return loop(b, 3, {.invariants = {v[2]}, .carries = {v[1]}, .xs = {v[0]}}, [](const LoopView& l) {
            const Values inner =
                loop(l.builder, 2, {.invariants = {l.invariants[0], l.xs[0], l.counter}, .carries = {l.carries[0]}}, [](const LoopView& k) {
                    const Value weight = ops::broadcast_to(real(k.counter + k.invariants[2]), {2}) * 0.2;
                    return Values{ops::tanh(mat_vec(k.invariants[0], k.carries[0])) * k.invariants[1] + weight,
                                  k.carries[0] * k.carries[0]};
                });
            return Values{inner[0], ops::reduce_sum(inner[1], Dims(1, 0))};
        });
    });
    list.add("nested reads by both counters", {small({3, 2, 2}, 1)}, [](Builder& b, View v) {
        return loop(b, 3, {.invariants = {v[0]}, .carries = {ops::full(b, Type(f64, {2}), 1.0)}}, [](const LoopView& l) {
            const Value page = row(l.invariants[0], l.counter);
            return loop(l.builder, 2, {.invariants = {page}, .carries = {l.carries[0]}}, [](const LoopView& k) {
                const Value r = row(k.invariants[0], k.counter);
                return Values{k.carries[0] * r + ops::sin(r)};
            });
        });
    });
    list.add("written in place", {small({4}, 1), small({}, 2)}, [](Builder& b, View v) {
        return loop(b, 4, {.invariants = {v[1]}, .carries = {v[0]}}, [](const LoopView& l) {
            const Value starts[] = {l.counter};
            const Value old = ops::dynamic_slice(l.carries[0], starts, Dims(1, 1));
            return Values{ops::dynamic_update_slice(l.carries[0], old * old * ops::broadcast_to(l.invariants[0], {1}), starts)};
        });
    });
    list.add("gather in a loop", {small({5}, 1), literal({3, 2}, {0, 4, 4, 4, 1, 9}, i32)}, [](Builder& b, View v) {
        return loop(b, 3, {.invariants = {v[0]}, .carries = {ops::full(b, Type(f64, {2}), 1.0)}, .xs = {v[1]}}, [](const LoopView& l) {
            ir::GatherAttr g;
            g.collapsed_slice_dims = g.start_index_map = Dims(1, 0);
            g.slice_sizes = Dims(1, 1);
            g.index_vector_dim = 1;
            const Value picked = ops::emit1(l.builder, OpCode::gather, {l.invariants[0], l.xs[0]}, ir::make_attr(g));
            return Values{l.carries[0] * picked};
        });
    });
    list.add("call in a loop", {small({4, 2}, 1), small({2}, 2)}, [](Builder& b, View v) {
        return loop(b, 3, {.invariants = {v[0]}, .carries = {v[1]}}, [](const LoopView& l) {
            return call(l.builder, {l.invariants[0], l.carries[0], l.counter},
                        [](Builder&, View a) { return Values{ops::sin(row(a[0], a[2])) * a[1]}; });
        });
    });
}

inline void branched(List& list) {
    for (double p : {0.0, 1.0})
        list.add("if " + std::to_string(p != 0), {small({2}, 1), literal({}, {p}, boolean)}, [](Builder& b, View v) {
            return branch(b, v[1], {v[0]},
                          {[](Builder&, View a) { return Values{ops::sin(a[0]) * a[0], a[0]}; },
                           [](Builder&, View a) { return Values{ops::full_like(a[0], 2.0), ops::exp(a[0])}; }});
        });
    for (double k : {0.0, 1.0, 2.0, 7.0})
        list.add("case " + std::to_string(static_cast<int>(k)), {small({2}, 1), small({2}, 2), literal({}, {k}, i32)},
                 [](Builder& b, View v) {
                     return branch(b, v[2], {v[0], v[1]},
                                   {[](Builder&, View a) { return Values{ops::exp(a[0]) * ops::exp(a[1])}; },
                                    [](Builder&, View a) { return Values{a[1]}; },
                                    [](Builder&, View a) { return Values{ops::reverse(ops::sin(a[0]), Dims(1, 0))}; }});
                 });
    list.add("branch by counter in a loop", {small({2}, 1)}, [](Builder& b, View v) {
        return loop(b, 5, {.invariants = {v[0]}, .carries = {v[0]}}, [](const LoopView& l) {
            const Value even = ops::compare(ops::remainder(l.counter, ops::full_like(l.counter, 2)), 0.0, ir::Direction::eq);
            return branch(
                l.builder, even, {l.carries[0], l.invariants[0]},
                {[](Builder&, View a) { return Values{ops::sin(a[0]) * a[1]}; }, [](Builder&, View a) { return Values{a[0] * a[0]}; }});
        });
    });
    list.add("branch by value in a loop", {literal(0.62)}, [](Builder& b, View v) {
        return loop(b, 6, {.invariants = {v[0]}, .carries = {v[0]}}, [](const LoopView& l) {
            const Value big = ops::compare(l.carries[0], 0.5, ir::Direction::gt);
            return branch(
                l.builder, big, {l.carries[0]},
                {[](Builder&, View a) { return Values{a[0] * a[0] * 0.9}; }, [](Builder&, View a) { return Values{a[0] * 1.7 + 0.1}; }});
        });
    });
    list.add("loop in a branch", {small({2}, 1), literal({}, {1}, boolean)}, [](Builder& b, View v) {
        return branch(b, v[1], {v[0]},
                      {[](Builder& r, View a) {
                           return loop(r, 3, {.carries = {a[0]}}, [](const LoopView& l) { return Values{ops::sin(l.carries[0])}; });
                       },
                       [](Builder&, View a) { return Values{a[0]}; }});
    });
    list.add("calls", {small({2}, 1), small({2}, 2)}, [](Builder& b, View v) {
        const Branch f = [](Builder& r, View a) {
            const Value inner = call(r, {a[0]}, [](Builder&, View c) { return Values{ops::exp(c[0]) * c[0]}; })[0];
            return Values{inner * a[1], a[0]};
        };
        const Values once = call(b, {v[0], v[1]}, f);
        return call(b, {once[0], once[1]}, f);
    });
}

inline void reducing(List& list) {
    list.add("sums in place", {small({4}, 1), small({3, 2}, 2)}, [](Builder& b, View v) {
        const Values out =
            loop(b, 3, {.carries = {}, .accumulators = {ops::accumulator_zeros(b, Type(f64, {4}))}, .xs = {v[1]}}, [](const LoopView& l) {
                const Value starts[] = {l.counter};
                const Value once = ops::accumulator_add_at(l.accumulators[0], ops::sin(l.xs[0]), starts);
                return Values{once};
            });
        return Values{ops::freeze(ops::accumulator_add(out[0], v[0] * v[0]))};
    });
    list.add("log sum exp", {small({3, 4}, 1)}, [](Builder&, View v) {
        const Value top = ops::reduce(OpCode::maximum, v[0], Dims(1, 1));
        const Value shifted = ops::exp(v[0] - ops::broadcast_in_dim(top, {3, 4}, Dims(1, 0)));
        return Values{ops::log(ops::reduce_sum(shifted, Dims(1, 1))) + top};
    });
}
} // namespace samples

inline std::vector<Sample> smooth_samples() {
    samples::List list;
    samples::straight(list);
    samples::counted(list);
    samples::tangled(list);
    samples::branched(list);
    samples::reducing(list);
    return std::move(list.out);
}

} // namespace stithy::test
