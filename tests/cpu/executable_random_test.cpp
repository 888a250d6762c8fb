#include "compare.hpp"

namespace stithy::testing {
namespace {

using ir::OpCode;
using ir::Type;
using ops::Value;
using Values = std::vector<Value>;

/// Makes programs of random operations on f64 arrays, values kept small.
class Program {
public:
    explicit Program(std::uint32_t seed) : random_(seed) {}

    ir::FunctionPtr make(int operations) {
        ir::Builder b("random");
        b_ = &b;
        for (const Shape& s : {Shape{6, 4}, Shape{4}, Shape{}, Shape{24}, Shape{3, 4, 2}}) pool_.emplace_back(b, b.parameter(Type(f64, s)));
        index_ = Value(b, b.parameter(Type(i32, {})));
        for (int i = 0; i < operations; ++i) {
            const Value v = step();
            if (v && v.type().elements() <= 400) pool_.push_back(v);
        }
        std::vector<ir::ValueId> results;
        for (int i = 0; i < 4; ++i) results.push_back(pick().id());
        results.push_back(pool_.back().id());
        return b.finish(std::move(results));
    }

    /// A loop (with a branch in it now and then) around a random body: carries of several shapes, one stacked output.
    ir::FunctionPtr make_loop(int operations) {
        const std::vector<Type> carried{Type(f64, {6, 4}), Type(f64, {4}), Type(f64, {}), Type(f64, {24}), Type(f64, {2, 2})};
        const std::int64_t length = below(5);
        std::vector<Type> body_types{Type(i64, {}), Type(f64, {4})};
        body_types.insert(body_types.end(), carried.begin(), carried.end());
        body_types.emplace_back(f64, Shape{3});
        const bool branch = below(2) == 0;
        std::vector<Type> results = carried;
        results.emplace_back(f64, below(2) ? Shape{4} : Shape{});
        const ir::FunctionPtr body = region(body_types, results, operations, branch);
        ir::LoopAttr attr;
        attr.invariants = 1;
        attr.carries = 5;
        attr.xs = attr.ys = 1;
        attr.length = length;
        attr.reverse = below(2) == 0;
        ir::Builder b("loops");
        Values operands{Value(b, b.parameter(Type(f64, {4})))};
        for (const Type& t : carried) operands.emplace_back(b, b.parameter(t));
        operands.emplace_back(b, b.parameter(Type(f64, {length, 3})));
        const Value extra = ops::broadcast_in_dim(operands[3], {24}, {});
        Values given = operands;
        given[4] = operands[4] * extra; // an operand that dies
        const auto r = ops::emit(b, OpCode::loop, given, ir::make_attr(attr), {body});
        std::vector<ir::ValueId> ids;
        for (const Value& v : r) ids.push_back(v.id());
        ids.push_back((operands[2] + 1.0).id());
        return b.finish(std::move(ids));
    }

private:
    ir::FunctionPtr region(const std::vector<Type>& types, const std::vector<Type>& results, int operations, bool branch) {
        ir::Builder b("body");
        ir::Builder* const outside = std::exchange(b_, &b);
        const Values pool = std::exchange(pool_, {});
        const Value index = index_;
        std::vector<Value> parameters;
        for (const Type& t : types) parameters.emplace_back(b, b.parameter(t));
        index_ = ops::convert(parameters[0], i32);
        pool_.assign(parameters.begin() + 1, parameters.end());
        for (int i = 0; i < operations; ++i) {
            const Value v = step();
            if (v && v.type().elements() <= 400) pool_.push_back(v);
        }
        if (branch) {
            std::vector<Type> captured;
            Values operands{ops::compare(like(Shape{}), 0.1, ir::Direction::lt), ops::convert(parameters[0], i64)};
            captured.push_back(Type(i64, {}));
            for (std::size_t i = 1; i < parameters.size(); ++i) {
                captured.push_back(parameters[i].type());
                operands.push_back(parameters[i]);
            }
            const std::vector<Type> made{captured[2], captured[4], Type(f64, {5})};
            const ir::FunctionPtr yes = region(captured, made, 5, false), no = region(captured, made, 2, false);
            const auto r = ops::emit(b, OpCode::if_, operands, nullptr, {yes, no});
            for (const Value& v : r) pool_.push_back(v);
        }
        std::vector<ir::ValueId> ids;
        for (const Type& t : results) {
            Value v = below(4) == 0 ? like(t.shape()) : Value();
            for (std::size_t i = parameters.size(); !v && i-- > 0;)
                if (below(3) == 0 && parameters[i].type() == t) v = parameters[i];
            if (!v) v = like(t.shape());
            ids.push_back(v.id());
        }
        b_ = outside;
        pool_ = pool;
        index_ = index;
        return b.finish(std::move(ids));
    }

    int below(int n) { return n <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(n)); }
    Value pick() {
        const int n = static_cast<int>(pool_.size()), recent = below(3) ? std::min(n, 6) : n;
        return pool_[static_cast<std::size_t>(n - 1 - below(recent))];
    }
    std::int64_t extent(Value x, std::size_t d) { return x.shape()[d]; }

    /// Another value brought to the shape, however that goes.
    Value like(const Shape& s) {
        for (int i = 0; i < 20; ++i) {
            const Value y = pick();
            if (y.shape() == s) return y;
            if (y.rank() == 0) return ops::broadcast_in_dim(y, s, {});
            if (y.rank() == 1 && s.rank() >= 1)
                for (std::size_t d = 0; d < s.rank(); ++d)
                    if (s[d] == y.shape()[0]) return ops::broadcast_in_dim(y, s, dims({static_cast<std::int64_t>(d)}));
            if (y.type().elements() == s.elements()) return ops::reshape(y, s);
        }
        return ops::full(*b_, Type(f64, s), 0.25);
    }

    Value step() {
        const Value x = pick();
        const Shape s = x.shape();
        const std::size_t rank = x.rank();
        switch (below(18)) {
        case 0: return ops::sin(x);
        case 1: return ops::tanh(x) * 0.5;
        case 2: return ops::exp(-ops::abs(x));
        case 3: return x * like(s) * 0.5;
        case 4: return (x + like(s)) * 0.5;
        case 5: return ops::maximum(x, like(s));
        case 6: return ops::select(ops::compare(x, like(s), ir::Direction::lt), x * 0.5, like(s));
        case 7: {
            if (rank < 2) return {};
            Dims p;
            for (std::size_t d = rank; d-- > 0;) p.push_back(static_cast<std::int64_t>(d));
            return ops::transpose(x, p);
        }
        case 8: {
            if (rank == 0) return {};
            Dims a, e, t;
            for (std::size_t d = 0; d < rank; ++d) {
                a.push_back(std::min<std::int64_t>(below(2), extent(x, d)));
                e.push_back(std::max<std::int64_t>(a[d], extent(x, d) - below(2)));
                t.push_back(1 + below(2));
            }
            return ops::slice(x, a, e, t);
        }
        case 9: {
            Dims low, high, inner;
            for (std::size_t d = 0; d < rank; ++d) {
                low.push_back(below(3) - 1);
                high.push_back(below(3) - 1);
                inner.push_back(below(3) == 0 ? 1 : 0);
                if (extent(x, d) + low[d] + high[d] < 0) return {};
            }
            return ops::pad(x, ops::scalar(*b_, f64, 0.125), low, high, inner);
        }
        case 10: return rank == 0 ? Value() : ops::reverse(x, dims({below(static_cast<int>(rank))}));
        case 11: {
            if (rank == 0) return {};
            const std::vector<Value> parts{x, like(s), x * 0.5};
            return ops::concatenate(std::span(parts.data(), static_cast<std::size_t>(2 + below(2))), below(static_cast<int>(rank)));
        }
        case 12:
        case 13: {
            if (rank == 0) return {};
            Dims axes;
            for (std::size_t d = 0; d < rank; ++d)
                if (below(2)) axes.push_back(static_cast<std::int64_t>(d));
            const Value r = below(2) ? ops::reduce_sum(x, axes) * 0.1 : ops::reduce(OpCode::maximum, x, axes);
            if (below(2)) return r;
            Dims kept;
            for (std::size_t d = 0, k = 0; d < rank; ++d)
                if (k < axes.size() && axes[k] == static_cast<std::int64_t>(d))
                    ++k;
                else
                    kept.push_back(static_cast<std::int64_t>(d));
            return x - ops::broadcast_in_dim(r, s, kept);
        }
        case 14: {
            if (rank == 0) return {};
            std::vector<Value> starts(rank, index_);
            Dims sizes;
            for (std::size_t d = 0; d < rank; ++d) sizes.push_back(std::max<std::int64_t>(extent(x, d) - below(3), 0));
            return ops::dynamic_slice(x, starts, sizes);
        }
        case 15: {
            if (rank == 0) return {};
            std::vector<Value> starts(rank, index_);
            Dims sizes;
            for (std::size_t d = 0; d < rank; ++d) sizes.push_back(std::max<std::int64_t>(extent(x, d) - below(4), 0));
            return ops::dynamic_update_slice(x, like(Shape(sizes)), starts);
        }
        case 16: {
            if (rank != 2) return ops::reshape(x, Shape{x.type().elements()});
            const Value y = ops::transpose(x, dims({1, 0}));
            return ops::tanh(ops::dot_general(x, below(2) ? y : ops::sin(y), {{}, {}, dims({1}), dims({0})}));
        }
        default: return rank == 1 ? x + ops::iota(*b_, x.type(), 0) * 0.01 : ops::sqrt(ops::abs(x));
        }
    }

    std::mt19937 random_;
    ir::Builder* b_ = nullptr;
    Values pool_;
    Value index_;
};

/// Runs programs of several seeds; STITHY_RANDOM_SEED and STITHY_RANDOM_COUNT choose others.
void compare_programs(int default_count, const std::function<ir::FunctionPtr(std::uint32_t)>& make) {
    const char *wanted = std::getenv("STITHY_RANDOM_SEED"), *many = std::getenv("STITHY_RANDOM_COUNT");
    const std::uint32_t first = wanted ? static_cast<std::uint32_t>(std::atoi(wanted)) : 0;
    const auto count = static_cast<std::uint32_t>(wanted ? 1 : many ? std::atoi(many) : default_count);
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
        const ir::FunctionPtr f = make(seed);
        std::vector<ir::Literal> arguments;
        const std::vector<Type> types = f->parameter_types();
        for (std::size_t i = 0; i < types.size(); ++i) arguments.push_back(sample(types[i], seed * 10 + static_cast<std::uint32_t>(i)));
        check(f, arguments, 1e-9);
        if (::testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << seed;
            return;
        }
    }
}

TEST(ExecutableRandom, ProgramsAgreeWithTheReference) {
    compare_programs(12, [](std::uint32_t seed) { return Program(seed).make(6 + static_cast<int>(seed % 40)); });
}

TEST(ExecutableRandom, LoopsAgreeWithTheReference) {
    compare_programs(12, [](std::uint32_t seed) { return Program(seed + 1000).make_loop(2 + static_cast<int>(seed % 12)); });
}

} // namespace
} // namespace stithy::testing
