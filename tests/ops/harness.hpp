#pragma once
#include "ops/build.hpp"
#include "ops/rules.hpp"
#include "reference/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

/// Tests of the rules of operations: a program is built by a lambda, run by the reference interpreter, and its derivatives, transposes and
/// batched forms, made by small drivers that walk straight-line functions, are compared with differences, inner products and loops over the
/// batch.
namespace stithy::test {

using ir::FunctionPtr;
using ir::Literal;
using ops::Builder;
using ops::Op;
using ops::OpCode;
using ops::Type;
using ops::Value;
using ops::Values;
using Arguments = std::vector<Literal>;
using Program = std::function<Values(Builder&, std::span<const Value>)>;

// ---- literals ----

/// A literal of numbers converted to the dtype (f64 unless told), row-major.
inline Literal literal(const Shape& shape, const std::vector<double>& numbers, DType dtype = f64) {
    std::vector<std::byte> bytes;
    for (double v : numbers) {
        const std::uint64_t bits = dtype.is_unsigned() ? ir::bits_of(dtype, static_cast<std::uint64_t>(v)) : ir::bits_of(dtype, v);
        for (std::size_t b = 0; b < dtype.size(); ++b) bytes.push_back(static_cast<std::byte>(bits >> (8 * b)));
    }
    return Literal::dense(Type(dtype, shape), std::move(bytes));
}
inline Literal literal(double number, DType dtype = f64) { return literal(Shape{}, {number}, dtype); }

inline std::vector<double> numbers(const Literal& l) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < l.type().elements(); ++i) out.push_back(l.element_as_double(i));
    return out;
}

/// Numbers in [low, high), the same for the same seed; integers for integer types.
inline Literal random_literal(const Type& type, unsigned seed, double low = -1.5, double high = 1.5) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> draw(low, high);
    std::vector<double> v(static_cast<std::size_t>(type.elements()));
    for (double& x : v) {
        x = draw(engine);
        if (type.dtype().is_bool())
            x = x > (low + high) / 2 ? 1 : 0;
        else if (!type.dtype().is_floating())
            x = std::floor(x);
    }
    return literal(type.shape(), v, type.dtype());
}
inline Literal random_f64(const Shape& shape, unsigned seed, double low = -1.5, double high = 1.5) {
    return random_literal(Type(f64, shape), seed, low, high);
}

inline Literal combine(const Literal& a, const Literal& b, double scale) {
    std::vector<double> v = numbers(a), w = numbers(b);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += scale * w[i];
    return literal(a.type().shape(), v, a.type().dtype());
}
inline double dot(const Literal& a, const Literal& b) {
    double sum = 0;
    std::vector<double> v = numbers(a), w = numbers(b);
    for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * w[i];
    return sum;
}

/// Equal to a relative error (of numbers below 1: absolute); NaN equals NaN.
inline void expect_near(const Literal& got, const Literal& expected, double tolerance, const std::string& what) {
    ASSERT_EQ(got.type().str(), expected.type().str()) << what;
    for (std::int64_t i = 0; i < got.type().elements(); ++i) {
        const double g = got.element_as_double(i), e = expected.element_as_double(i);
        if (std::isnan(g) && std::isnan(e)) continue;
        if (g == e) continue;
        ASSERT_LE(std::abs(g - e), tolerance * std::max(1.0, std::abs(e))) << what << ", element " << i << ": " << g << " for " << e;
    }
}

// ---- programs ----

inline FunctionPtr build(const std::vector<Type>& parameters, const Program& program) {
    Builder builder;
    Values values;
    for (const Type& t : parameters) values.emplace_back(builder, builder.parameter(t));
    std::vector<ir::ValueId> results;
    for (const Value& v : program(builder, values)) results.push_back(v.id());
    return builder.finish(results);
}
inline FunctionPtr build(const Arguments& arguments, const Program& program) {
    std::vector<Type> types;
    for (const Literal& l : arguments) types.push_back(l.type());
    return build(types, program);
}
inline Arguments run(const FunctionPtr& f, const Arguments& arguments) { return reference::evaluate(*f, arguments); }
inline Literal run1(const Program& program, const Arguments& arguments) { return run(build(arguments, program), arguments).at(0); }

/// The message of the Error that building a program throws; "" when it throws none.
inline std::string error_of(const std::vector<Type>& parameters, const Program& program) {
    try {
        build(parameters, program);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}
inline void expect_error(const std::vector<Type>& parameters, const Program& program, std::initializer_list<std::string_view> parts) {
    const std::string text = error_of(parameters, program);
    for (std::string_view part : parts) EXPECT_NE(text.find(part), std::string::npos) << "missing \"" << part << "\" in: " << text;
}

// ---- drivers over rules ----

struct Emitted {
    Builder builder;
    Values map;      ///< by value of the source
    Values tangents; ///< by value of the source; none for zero
};

inline Values pick(std::span<const ir::ValueId> ids, const Values& from) {
    Values out;
    for (ir::ValueId v : ids) out.push_back(from[v]);
    return out;
}
inline std::vector<Type> result_types(const ir::Function& f, const Op& op) {
    std::vector<Type> types;
    for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(f.type(op.result(r)));
    return types;
}

/// Parameters: those of f, then a tangent for each active one. Results: those of f (when asked for), then a tangent of each floating
/// result.
inline FunctionPtr jvp_of(const ir::Function& f, const std::vector<bool>& active, bool with_results) {
    Builder builder;
    Values map(f.value_count()), tangents(f.value_count());
    for (std::size_t i = 0; i < f.parameter_count(); ++i) map[i] = {builder, builder.parameter(f.type(static_cast<ir::ValueId>(i)))};
    for (std::size_t i = 0; i < f.parameter_count(); ++i)
        if (active[i]) tangents[i] = {builder, builder.parameter(f.type(static_cast<ir::ValueId>(i)))};
    for (const Op& op : f.ops()) {
        const Values operands = pick(op.operands, map), given = pick(op.operands, tangents);
        const Values results = ops::emit_like(builder, op, operands, result_types(f, op));
        for (std::uint32_t r = 0; r < op.result_count; ++r) map[op.result(r)] = results[r];
        const bool any = std::any_of(given.begin(), given.end(), [](const Value& t) { return bool(t); });
        if (!any || ops::rule(op.code).jvp == nullptr) continue;
        const Values out = ops::rule(op.code).jvp({builder, op, operands, results, given});
        EXPECT_EQ(out.size(), op.result_count) << ir::name(op.code);
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            tangents[op.result(r)] = out[r];
            if (!out[r]) continue;
            EXPECT_EQ(out[r].type().str(), results[r].type().str()) << "tangent of " << ir::name(op.code);
        }
    }
    std::vector<ir::ValueId> ids;
    if (with_results)
        for (ir::ValueId v : f.results()) ids.push_back(map[v].id());
    for (ir::ValueId v : f.results())
        if (ops::is_differentiable(f.type(v))) ids.push_back((tangents[v] ? tangents[v] : ops::zeros_like(map[v])).id());
    return builder.finish(ids);
}

/// Transposes a function in its parameters from `first_linear` on. Parameters: the others, then a cotangent for each result; results: the
/// cotangents of the linear ones.
inline FunctionPtr transpose_of(const ir::Function& f, std::size_t first_linear) {
    Builder builder;
    Values map(f.value_count()), cotangents(f.value_count());
    std::vector<bool> linear(f.value_count());
    for (std::size_t i = 0; i < f.parameter_count(); ++i) {
        linear[i] = i >= first_linear;
        if (!linear[i]) map[i] = {builder, builder.parameter(f.type(static_cast<ir::ValueId>(i)))};
    }
    Values seeds;
    for (ir::ValueId v : f.results()) seeds.emplace_back(builder, builder.parameter(f.type(v)));
    for (const Op& op : f.ops()) { // what is known, forward
        const bool any = std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return linear[v]; });
        for (std::uint32_t r = 0; r < op.result_count; ++r) linear[op.result(r)] = any;
        if (any) continue;
        const Values results = ops::emit_like(builder, op, pick(op.operands, map), result_types(f, op));
        for (std::uint32_t r = 0; r < op.result_count; ++r) map[op.result(r)] = results[r];
    }
    for (std::size_t r = 0; r < f.results().size(); ++r)
        if (const ir::ValueId v = f.results()[r]; linear[v]) cotangents[v] = ops::add_any(cotangents[v], seeds[r]);
    for (auto op = f.ops().rbegin(); op != f.ops().rend(); ++op) { // what is linear, backward
        if (op->result_count == 0 || !linear[op->first_result]) continue;
        Values given, operands;
        for (std::uint32_t r = 0; r < op->result_count; ++r) given.push_back(cotangents[op->result(r)]);
        if (std::none_of(given.begin(), given.end(), [](const Value& v) { return bool(v); })) continue;
        std::vector<Type> types;
        std::unique_ptr<bool[]> flags(new bool[op->operands.size()]);
        for (std::size_t i = 0; i < op->operands.size(); ++i) {
            flags[i] = linear[op->operands[i]];
            types.push_back(f.type(op->operands[i]));
            operands.push_back(flags[i] ? Value() : map[op->operands[i]]);
        }
        EXPECT_NE(ops::rule(op->code).transpose, nullptr) << ir::name(op->code) << " has no transpose";
        if (ops::rule(op->code).transpose == nullptr) continue;
        const Values out = ops::rule(op->code).transpose({builder, *op, operands, types, {flags.get(), types.size()}, given});
        EXPECT_EQ(out.size(), types.size()) << ir::name(op->code);
        for (std::size_t i = 0; i < types.size(); ++i) {
            if (!out[i]) continue;
            EXPECT_TRUE(flags[i]) << "cotangent of a known operand of " << ir::name(op->code);
            EXPECT_EQ(out[i].type().as_tensor().str(), types[i].as_tensor().str()) << "cotangent of " << ir::name(op->code);
            cotangents[op->operands[i]] = ops::add_any(cotangents[op->operands[i]], out[i]);
        }
    }
    std::vector<ir::ValueId> ids;
    for (std::size_t i = first_linear; i < f.parameter_count(); ++i)
        ids.push_back((cotangents[i] ? cotangents[i] : ops::zeros(builder, f.type(static_cast<ir::ValueId>(i)))).id());
    return builder.finish(ids);
}

/// The batched function; results that stayed without a batch are broadcast.
inline FunctionPtr batch_of(const ir::Function& f, const std::vector<bool>& batched, std::int64_t size) {
    Builder builder;
    Values map(f.value_count());
    std::vector<bool> wide(f.value_count());
    for (std::size_t i = 0; i < f.parameter_count(); ++i) {
        Type type = f.type(static_cast<ir::ValueId>(i));
        wide[i] = batched[i];
        Shape shape = type.shape();
        if (wide[i]) shape.dims().insert(0, size);
        map[i] = {builder, builder.parameter(type.is_accumulator() ? Type::accumulator(type.dtype(), shape) : Type(type.dtype(), shape))};
    }
    for (const Op& op : f.ops()) {
        const Values operands = pick(op.operands, map);
        const std::vector<Type> types = result_types(f, op);
        std::unique_ptr<bool[]> flags(new bool[operands.size()]);
        bool any = false;
        for (std::size_t i = 0; i < operands.size(); ++i) any |= flags[i] = wide[op.operands[i]];
        std::vector<bool> out(op.result_count, false);
        const Values results = any ? ops::rule(op.code).batch({builder, op, operands, {flags.get(), operands.size()}, size, out, types})
                                   : ops::emit_like(builder, op, operands, types);
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            map[op.result(r)] = results[r];
            wide[op.result(r)] = out[r];
        }
    }
    std::vector<ir::ValueId> ids;
    for (ir::ValueId v : f.results()) ids.push_back((wide[v] ? map[v] : ops::broadcast_batch(map[v], size)).id());
    return builder.finish(ids);
}

// ---- checks ----

struct CheckOptions {
    double tolerance = 1e-7; ///< of derivatives by differences
    double step = 1e-3;
    double product = 1e-9;         ///< tolerance of <w, J v> against <J'w, v>, relative to the cotangents
    bool reverse = true;           ///< check the transpose too
    bool second = true;            ///< check derivatives of derivatives
    std::vector<bool> active = {}; ///< parameters to differentiate; empty: all floating ones
};

/// The directional derivative by central differences of order four.
inline Arguments differences(const FunctionPtr& f, const Arguments& x, const Arguments& direction, double h) {
    auto at = [&](double scale) {
        Arguments moved = x;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i].type().dtype().is_floating()) moved[i] = combine(x[i], direction[i], scale);
        return run(f, moved);
    };
    const Arguments a = at(-2 * h), b = at(-h), c = at(h), d = at(2 * h);
    Arguments out;
    for (std::size_t r = 0; r < a.size(); ++r) {
        if (!a[r].type().dtype().is_floating()) continue;
        std::vector<double> va = numbers(a[r]), vb = numbers(b[r]), vc = numbers(c[r]), vd = numbers(d[r]);
        for (std::size_t i = 0; i < va.size(); ++i) va[i] = (va[i] - vd[i] + 8 * (vc[i] - vb[i])) / (12 * h);
        out.push_back(literal(a[r].type().shape(), va, a[r].type().dtype()));
    }
    return out;
}

inline std::vector<bool> active_parameters(const FunctionPtr& f, const CheckOptions& options) {
    std::vector<bool> active = options.active;
    for (std::size_t i = active.size(); i < f->parameter_count(); ++i)
        active.push_back(ops::is_differentiable(f->type(static_cast<ir::ValueId>(i))));
    return active;
}

/// Checks jvp by differences and, as options say, the transpose of the linear part, and both again for the derivative functions.
inline void check_derivatives(const FunctionPtr& f, const Arguments& x, CheckOptions options = {}, const std::string& what = "") {
    const std::vector<bool> active = active_parameters(f, options);
    Arguments direction, all = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        direction.push_back(active[i] ? random_literal(x[i].type(), 77 + static_cast<unsigned>(i), 0.3, 1.2)
                                      : literal(x[i].type().shape(), std::vector<double>(numbers(x[i]).size(), 0.0), x[i].type().dtype()));
        if (active[i]) all.push_back(direction.back());
    }
    const FunctionPtr jvp = jvp_of(*f, active, false);
    const Arguments tangents = run(jvp, all), expected = differences(f, x, direction, options.step);
    ASSERT_EQ(tangents.size(), expected.size()) << what;
    for (std::size_t r = 0; r < tangents.size(); ++r)
        expect_near(tangents[r], expected[r], options.tolerance, what + " jvp of result " + std::to_string(r));
    if (options.reverse) {
        const FunctionPtr transposed = transpose_of(*jvp, f->parameter_count());
        Arguments seeded = x, weights;
        for (std::size_t r = 0; r < tangents.size(); ++r)
            weights.push_back(random_literal(tangents[r].type(), 177 + static_cast<unsigned>(r)));
        seeded.insert(seeded.end(), weights.begin(), weights.end());
        const Arguments cotangents = run(transposed, seeded);
        double left = 0, right = 0, size = 1;
        for (std::size_t r = 0; r < weights.size(); ++r) left += dot(weights[r], tangents[r]);
        for (std::size_t i = 0, k = 0; i < x.size(); ++i)
            if (active[i]) right += dot(cotangents.at(k++), direction[i]);
        for (const Literal& c : cotangents)
            for (double v : numbers(c)) size = std::max(size, std::abs(v));
        EXPECT_LE(std::abs(left - right), options.product * size) << what << " transpose: " << left << " and " << right;
        if (options.second) {
            CheckOptions last = options;
            last.second = false;
            last.active = {};
            check_derivatives(transposed, seeded, last, what + " reverse,");
        }
    }
    if (options.second) {
        CheckOptions last = options;
        last.second = last.reverse = false;
        last.active = {};
        check_derivatives(jvp, all, last, what + " forward,");
    }
}

/// One slice of a batched literal.
inline Literal slice_of(const Literal& l, std::int64_t at) {
    Shape shape = l.type().shape();
    shape.dims().erase(0);
    const std::vector<double> all = numbers(l);
    const std::int64_t n = shape.elements();
    return literal(shape, {all.begin() + at * n, all.begin() + (at + 1) * n}, l.type().dtype());
}

/// Checks the batched form for every choice of batched parameters against the function on each slice. `make(type, seed)` makes arguments.
inline void check_batch(const FunctionPtr& f, const std::function<Literal(std::size_t parameter, const Type&, unsigned seed)>& make,
                        double tolerance = 1e-12, std::int64_t size = 3) {
    const std::size_t n = f->parameter_count();
    for (unsigned choice = 1; choice < (1U << n); ++choice) {
        std::vector<bool> batched;
        Arguments arguments;
        for (std::size_t i = 0; i < n; ++i) {
            batched.push_back((choice >> i) & 1U);
            const Type& type = f->type(static_cast<ir::ValueId>(i));
            if (!batched[i]) {
                arguments.push_back(make(i, type.as_tensor(), static_cast<unsigned>(10 * i)));
                continue;
            }
            std::vector<double> all;
            for (std::int64_t b = 0; b < size; ++b)
                for (double v : numbers(make(i, type.as_tensor(), static_cast<unsigned>(10 * i + 100) + static_cast<unsigned>(b))))
                    all.push_back(v);
            Shape shape = type.shape();
            shape.dims().insert(0, size);
            arguments.push_back(literal(shape, all, type.dtype()));
        }
        const Arguments got = run(batch_of(*f, batched, size), arguments);
        for (std::int64_t b = 0; b < size; ++b) {
            Arguments one;
            for (std::size_t i = 0; i < n; ++i) one.push_back(batched[i] ? slice_of(arguments[i], b) : arguments[i]);
            const Arguments expected = run(f, one);
            for (std::size_t r = 0; r < got.size(); ++r)
                expect_near(slice_of(got[r], b), expected[r], tolerance,
                            "batch choice " + std::to_string(choice) + ", result " + std::to_string(r));
        }
    }
}

/// All of it for a program of f64 arguments: derivatives, and batching with arguments near the given ones.
inline void check_program(const Arguments& arguments, const Program& program, CheckOptions options = {}, const std::string& what = "") {
    const FunctionPtr f = build(arguments, program);
    check_derivatives(f, arguments, options, what);
    check_batch(f, [&](std::size_t i, const Type& type, unsigned seed) {
        if (!type.dtype().is_floating()) return arguments[i];
        return combine(arguments[i], random_literal(type, seed, -0.05, 0.05), 1.0);
    });
}

} // namespace stithy::test
