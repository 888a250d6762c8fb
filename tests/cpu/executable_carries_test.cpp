// Carries that take over one another's memory.
#include "compare.hpp"

#include <algorithm>

namespace stithy::testing {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;

/// What each carry becomes: one carry as it came (source >= 0), or something computed from all (-1), or 2 carry[-2 - source].
using Sources = std::vector<int>;

Values step(const Sources& sources, const Values& carries) {
    Values next;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i] >= 0)
            next.push_back(carries[static_cast<std::size_t>(sources[i])]);
        else if (sources[i] == -1) {
            Value sum = carries[i] * (0.1 * static_cast<double>(i + 1));
            for (const Value& c : carries) sum = sum + c * 0.25;
            next.push_back(ops::sin(sum));
        } else
            next.push_back(carries[static_cast<std::size_t>(-2 - sources[i])] * 2.0);
    }
    return next;
}

Values as_loop(ir::Builder& b, std::int64_t length, const Sources& sources, const Values& start) {
    ir::LoopAttr attr;
    attr.carries = static_cast<std::int64_t>(start.size());
    attr.length = length;
    std::vector<Type> types{Type(i64, {})};
    for (const Value& v : start) types.push_back(v.type());
    const ir::FunctionPtr body = function_of(types, [&](ir::Builder&, const Values& p) { return step(sources, {p.begin() + 1, p.end()}); });
    const auto out = ops::emit(b, OpCode::loop, start, ir::make_attr(attr), {body});
    return {out.begin(), out.end()};
}

Values as_while(ir::Builder& b, std::int64_t length, const Sources& sources, const Values& start) {
    Values operands{ops::constant(b, ir::Literal::splat(Type(f64, {}), 0))};
    operands.insert(operands.end(), start.begin(), start.end());
    std::vector<Type> types;
    for (const Value& v : operands) types.push_back(v.type());
    const double last = static_cast<double>(length);
    const ir::FunctionPtr condition =
        function_of(types, [&](ir::Builder&, const Values& p) { return Values{ops::compare(p[0], last, ir::Direction::lt)}; });
    const ir::FunctionPtr body = function_of(types, [&](ir::Builder&, const Values& p) {
        Values next = step(sources, {p.begin() + 1, p.end()});
        next.insert(next.begin(), p[0] + 1.0);
        return next;
    });
    const auto out = ops::emit(b, OpCode::while_, operands, ir::make_attr(ir::WhileAttr{0}), {condition, body});
    return {out.begin() + 1, out.end()};
}

void check_sources(const Sources& sources, std::int64_t extent) {
    std::string text;
    for (int s : sources) text += std::to_string(s) + " ";
    SCOPED_TRACE("sources " + text + "extent " + std::to_string(extent));
    const std::vector<Type> types(sources.size(), Type(f64, Shape{extent}));
    for (std::int64_t n : {0, 1, 2, 3, 4, 5, 12}) {
        check(types, [&](ir::Builder& b, const Values& x) { return as_loop(b, n, sources, x); });
        if (n % 2) check(types, [&](ir::Builder& b, const Values& x) { return as_while(b, n, sources, x); });
    }
    // inside another loop, and all from one value
    check(types, [&](ir::Builder& b, const Values& x) {
        ir::LoopAttr attr;
        attr.carries = static_cast<std::int64_t>(x.size());
        attr.length = 3;
        std::vector<Type> inner{Type(i64, {})};
        inner.insert(inner.end(), types.begin(), types.end());
        const ir::FunctionPtr body =
            function_of(inner, [&](ir::Builder& in, const Values& p) { return as_loop(in, 5, sources, {p.begin() + 1, p.end()}); });
        const auto out = ops::emit(b, OpCode::loop, x, ir::make_attr(attr), {body});
        return Values(out.begin(), out.end());
    });
    check({types[0]}, [&](ir::Builder& b, const Values& x) { return as_loop(b, 5, sources, Values(sources.size(), x[0])); });
}

TEST(ExecutableCarries, Exchanged) { check_sources({1, 0}, 100); }
TEST(ExecutableCarries, History) {
    check_sources({1, -1}, 100);    // leapfrog
    check_sources({-1, 0, 1}, 100); // the last three
    check_sources({1, 2, -3}, 100);
}
TEST(ExecutableCarries, TakenTwice) {
    check_sources({1, -1, 1}, 100);
    check_sources({0, 0}, 100);
    check_sources({1, 1, 0}, 100);
}
TEST(ExecutableCarries, SmallOnes) { check_sources({1, 2, -1, 3}, 5); }
TEST(ExecutableCarries, AnySources) {
    std::mt19937 random(3);
    for (int round = 0; round < 25; ++round) {
        const int count = 2 + static_cast<int>(random() % 4);
        Sources sources;
        for (int i = 0; i < count; ++i) {
            const int kind = static_cast<int>(random() % 5), which = static_cast<int>(random() % static_cast<unsigned>(count));
            sources.push_back(kind < 3 ? which : kind == 3 ? -1 : -2 - which);
        }
        check_sources(sources, 70 + round);
    }
}

/// e / sum of e over the last axis.
Value shared(Value e) {
    const auto last = static_cast<std::int64_t>(e.rank()) - 1;
    Dims kept;
    for (std::int64_t d = 0; d < last; ++d) kept.push_back(d);
    return e / ops::broadcast_in_dim(ops::reduce_sum(e, dims({last})), e.shape(), kept);
}

TEST(ExecutableCarries, RowsThatAreReadTwiceAndUpdateTheCarry) {
    const std::vector<std::function<Value(Value)>> bodies{
        [](Value c) { return c + shared(ops::exp(c)); },
        [](Value c) { return c * shared(ops::exp(c)); },
        [](Value c) { return c * 0.5 + shared(ops::tanh(c) + 2.0); },
        [](Value c) {
            const Value f = ops::sin(c);
            return c * (shared(f + 2.0) * 0.1 + f);
        },
        [](Value c) { return ops::select(ops::compare(c, 0.0, ir::Direction::gt), shared(ops::exp(c)), c); },
        [](Value c) { return ops::tanh(c + shared(ops::exp(shared(ops::exp(c))))); },
    };
    for (const Shape& shape : {Shape{3}, Shape{100}, Shape{2, 2}, Shape{5, 70}, Shape{1, 9}, Shape{9, 1}, Shape{3, 3000}})
        for (std::size_t k = 0; k < bodies.size(); ++k)
            for (std::int64_t n : {1, 2, 3}) {
                SCOPED_TRACE("body " + std::to_string(k) + ", shape " + shape.str() + ", steps " + std::to_string(n));
                check({Type(f64, shape)}, [&](ir::Builder& b, const Values& x) {
                    ir::LoopAttr attr;
                    attr.carries = 1;
                    attr.length = n;
                    const ir::FunctionPtr body = function_of({Type(i64, {}), Type(f64, shape)},
                                                             [&](ir::Builder&, const Values& p) { return Values{bodies[k](p[1])}; });
                    const auto out = ops::emit(b, OpCode::loop, x, ir::make_attr(attr), {body});
                    return Values(out.begin(), out.end());
                });
            }
}

} // namespace
} // namespace stithy::testing
