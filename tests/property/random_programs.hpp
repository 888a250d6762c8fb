#pragma once
#include "transform/samples.hpp"

#include <random>

/// Random programs: elementwise chains, windows, reductions, products, loops in loops, branches, calls. Smooth, with values kept small.
namespace stithy::test {

class RandomProgram {
public:
    explicit RandomProgram(unsigned seed) : random_(seed) {}

    Sample make(int operations) {
        const Arguments arguments{random_f64({4, 3}, 1, -0.9, 0.9), random_f64({3}, 2, -0.9, 0.9), random_f64({}, 3, 0.1, 0.9),
                                  random_f64({5, 3}, 4, -0.9, 0.9)};
        const FunctionPtr f = build(arguments, [&](Builder& b, View v) {
            Values pool;
            append(pool, v);
            grow(b, pool, operations, 0);
            Values results;
            for (int i = 0; i < 3; ++i) results.push_back(pick(pool));
            results.push_back(pool[pool.size() - 1]);
            return results;
        });
        return {"random", arguments, f};
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    Value pick(const Values& pool) {
        const int n = static_cast<int>(pool.size()), recent = below(2) ? std::min(n, 5) : n;
        return pool[static_cast<std::size_t>(n - 1 - below(recent))];
    }
    /// A value of the pool in this shape, or made to fit.
    Value like(Builder& b, const Values& pool, const Shape& shape) {
        for (int i = 0; i < 12; ++i) {
            const Value x = pick(pool);
            if (x.shape() == shape) return x;
            if (x.rank() == 0 || (x.rank() == 1 && shape.rank() == 2 && shape[1] == x.shape()[0])) return ops::broadcast_to(x, shape);
        }
        return ops::full(b, Type(f64, shape), 0.3);
    }
    static Value tame(Value x) { return ops::tanh(x); }

    void grow(Builder& b, Values& pool, int operations, int depth) {
        for (int i = 0; i < operations; ++i) {
            const int kind = below(depth < 2 ? 16 : 10);
            if (kind < 10) {
                const Value v = plain(b, pool, kind);
                if (v && v.type().elements() > 0 && v.type().elements() < 100) pool.push_back(v);
            } else {
                append(pool, structured(b, pool, kind, depth));
            }
        }
    }

    Value plain(Builder& b, const Values& pool, int kind) {
        const Value x = pick(pool);
        const Shape s = x.shape();
        switch (kind) {
        case 0: return ops::sin(x);
        case 1: return tame(x * like(b, pool, s));
        case 2: return x - like(b, pool, s) * 0.5;
        case 3: return ops::exp(-(x * x));
        case 4: return ops::sqrt(x * x + 1.0) / (like(b, pool, s) * like(b, pool, s) + 0.5);
        case 5: return s.rank() == 0 ? Value() : tame(ops::reduce_sum(x, Dims(1, below(static_cast<int>(s.rank())))));
        case 6: {
            if (s.rank() == 0 || s[0] < 2) return {};
            Dims start(s.rank(), 0), limit = s.dims();
            start[0] = 1;
            return ops::concatenate(std::vector<Value>{ops::slice(x, start, limit), ops::slice(x, Dims(s.rank(), 0),
                                                                                               [&] {
                                                                                                   Dims one = s.dims();
                                                                                                   one[0] = 1;
                                                                                                   return one;
                                                                                               }())},
                                    0);
        }
        case 7: return s.rank() != 2 || s[1] != 3 ? Value() : tame(samples::mat_vec(x, like(b, pool, {3})));
        case 8: return s.rank() == 0 ? Value() : ops::reverse(x, Dims(1, 0));
        default: return ops::select(ops::compare(x, 5.0, ir::Direction::gt), x, ops::cos(x)); // never at the border
        }
    }

    Values structured(Builder& b, const Values& pool, int kind, int depth) {
        const int inner = 2 + below(4);
        if (kind == 15) {
            const Values captures{pick(pool), pick(pool), like(b, pool, {3})};
            return call(b, captures, [&](Builder& c, View v) {
                Values mine;
                append(mine, v);
                grow(c, mine, inner, depth + 1);
                return Values{mine[mine.size() - 1], tame(v[2])};
            });
        }
        if (kind == 14) {
            const Values captures{like(b, pool, {3}), pick(pool)};
            const Value selector = below(2) ? ops::constant(b, literal({}, {static_cast<double>(below(4))}, i32))
                                            : ops::compare(like(b, pool, {}), 5.0, ir::Direction::lt);
            std::vector<Branch> branches;
            for (int k = 0; k < (selector.dtype().is_bool() ? 2 : 3); ++k)
                branches.push_back([&](Builder& c, View v) {
                    Values mine;
                    append(mine, v);
                    grow(c, mine, inner, depth + 1);
                    return Values{tame(like(c, mine, {3})), like(c, mine, {})};
                });
            return branch(b, selector, captures, branches);
        }
        const std::int64_t length = below(5) == 0 ? below(2) : 2 + below(4);
        LoopOperands operands{.invariants = {pick(pool), like(b, pool, {5, 3})}, .carries = {like(b, pool, {3}), like(b, pool, {})}};
        if (length == 5 && below(2)) operands.xs = {like(b, pool, {5, 3})};
        const bool reads = below(2) == 0, scans = below(2) == 0;
        return loop(
            b, length, operands,
            [&](const LoopView& l) {
                Values mine;
                append(mine, l.invariants);
                append(mine, l.carries);
                append(mine, l.xs);
                if (reads) mine.push_back(row(l.invariants[1], l.counter));
                if (below(3) == 0) mine.push_back(samples::real(l.counter) * 0.1);
                grow(l.builder, mine, inner, depth + 1);
                Values out{tame(like(l.builder, mine, {3}) + l.carries[0]), tame(like(l.builder, mine, {}) * l.carries[1])};
                if (scans) out.push_back(like(l.builder, mine, {3}));
                return out;
            },
            below(3) == 0);
    }

    std::mt19937 random_;
};

} // namespace stithy::test
