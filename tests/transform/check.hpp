#pragma once
#include "transform/dce.hpp"
#include "transform/jvp.hpp"
#include "transform/linearize.hpp"
#include "transform/structured.hpp"
#include "transform/transpose.hpp"
#include "transform/vmap.hpp"

/// Checks of whole programs under the transformations, against differences, inner products and loops over examples.
namespace stithy::test {

using transform::Mask;

/// Parameters: those of f, then a cotangent for each result that depends on the active ones. Results: f's, then a cotangent for each active
/// parameter.
inline FunctionPtr pullback_of(const FunctionPtr& f, const Mask& active) {
    const transform::Linearized l = transform::linearize(f, active);
    verify(l.primal);
    verify(l.linear);
    Mask linear(l.residuals.size(), false);
    linear.resize(l.linear->parameter_count(), true);
    const FunctionPtr back = transform::transpose(l.linear, linear, Mask(l.linear->results().size(), true));
    verify(back);
    Builder b(f->name() + "_pullback");
    Values parameters, cotangents;
    for (const Type& t : f->parameter_types()) parameters.emplace_back(b, b.parameter(t));
    for (const Type& t : l.linear->result_types()) cotangents.emplace_back(b, b.parameter(t));
    const Values primal = ops::inline_call(b, *l.primal, parameters);
    Values arguments;
    for (const Value& v : transform::residual_values<Value>(l, parameters, primal)) arguments.push_back(v);
    append(arguments, cotangents);
    Values results(primal.begin(), primal.begin() + static_cast<std::ptrdiff_t>(f->results().size()));
    for (const Value& v : ops::inline_call(b, *back, arguments)) results.push_back(v);
    return b.finish(ids(results));
}

inline Mask differentiable_parameters(const ir::Function& f) {
    Mask active;
    for (const Type& t : f.parameter_types()) active.push_back(ops::is_differentiable(t));
    return active;
}

inline double total(const Arguments& a, const Arguments& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
}

/// jvp by differences, linearize by jvp, transpose by inner products, its own transpose by the linear function; then the same for the
/// derivative functions.
inline void check_transforms(const FunctionPtr& f, const Arguments& x, const std::string& what, int order = 2, double tolerance = 2e-6) {
    SCOPED_TRACE(what);
    verify(f);
    const Mask active = differentiable_parameters(*f);
    const transform::JvpFunction forward = transform::jvp(f, active);
    verify(forward.function);
    Arguments directions, all = x, tangents_in;
    for (std::size_t i = 0; i < x.size(); ++i) {
        directions.push_back(active[i] ? random_literal(x[i].type(), 31 + static_cast<unsigned>(i), -1, 1) : x[i]);
        if (active[i]) tangents_in.push_back(directions.back());
    }
    all.insert(all.end(), tangents_in.begin(), tangents_in.end());
    const Arguments values = run(f, x), both = run(forward.function, all), expected = differences(f, x, directions, 1e-3);
    Arguments tangents; // of active results
    std::size_t next = values.size(), floats = 0;
    for (std::size_t r = 0; r < values.size(); ++r) {
        expect_near(both[r], values[r], 1e-12, "value of jvp");
        if (!values[r].type().dtype().is_floating()) continue;
        const Literal zero =
            literal(values[r].type().shape(), std::vector<double>(numbers(values[r]).size(), 0.0), values[r].type().dtype());
        const Literal& t = forward.active_results[r] ? both.at(next) : zero;
        if (forward.active_results[r]) {
            tangents.push_back(t);
            ++next;
        }
        expect_near(t, expected.at(floats++), tolerance, "jvp of result " + std::to_string(r));
    }

    const transform::Linearized l = transform::linearize(f, active);
    verify(l.primal);
    verify(l.linear);
    const Arguments primal = run(l.primal, x);
    for (std::size_t r = 0; r < values.size(); ++r) expect_near(primal[r], values[r], 1e-12, "value of linearize");
    Arguments residuals = transform::residual_values<Literal>(l, x, primal), linear_in = residuals;
    linear_in.insert(linear_in.end(), tangents_in.begin(), tangents_in.end());
    const Arguments pushed = run(l.linear, linear_in);
    ASSERT_EQ(pushed.size(), tangents.size());
    for (std::size_t r = 0; r < pushed.size(); ++r) expect_near(pushed[r], tangents[r], 1e-9, "linear function");

    Mask linear(residuals.size(), false);
    linear.resize(l.linear->parameter_count(), true);
    const FunctionPtr back = transform::transpose(l.linear, linear, Mask(pushed.size(), true));
    verify(back);
    Arguments weights, back_in = residuals;
    for (std::size_t r = 0; r < pushed.size(); ++r)
        weights.push_back(random_literal(pushed[r].type(), 91 + static_cast<unsigned>(r), -1, 1));
    back_in.insert(back_in.end(), weights.begin(), weights.end());
    const Arguments cotangents = run(back, back_in);
    const double left = total(weights, tangents), right = total(cotangents, tangents_in);
    EXPECT_LE(std::abs(left - right), 1e-9 * std::max(1.0, std::abs(left))) << "transpose: " << left << " and " << right;

    Mask again(residuals.size(), false);
    again.resize(back->parameter_count(), true);
    const FunctionPtr twice = transform::transpose(back, again, Mask(cotangents.size(), true));
    verify(twice);
    const Arguments same = run(twice, linear_in);
    ASSERT_EQ(same.size(), pushed.size());
    for (std::size_t r = 0; r < same.size(); ++r) expect_near(same[r], pushed[r], 1e-9, "transpose of transpose");

    if (order < 2) return;
    check_transforms(forward.function, all, "forward", order - 1, 10 * tolerance);
    const FunctionPtr pullback = pullback_of(f, active);
    Arguments seeded = x;
    seeded.insert(seeded.end(), weights.begin(), weights.end());
    check_transforms(pullback, seeded, "reverse", order - 1, 10 * tolerance);
}

/// A number for another example.
inline double varied(double v, DType dtype, double example) {
    if (dtype.is_floating()) return v * (1 - 0.1 * example) - 0.07 * example;
    return dtype.is_bool() ? std::fmod(v + example, 2) : v + example;
}

/// vmap against f on each example, for every choice of batched parameters.
inline void check_vmap(const FunctionPtr& f, const Arguments& x, const std::string& what, std::int64_t size = 3) {
    SCOPED_TRACE(what);
    const std::size_t n = f->parameter_count();
    for (unsigned choice = 1; choice < (1U << n); ++choice) {
        Mask batched;
        Arguments arguments;
        for (std::size_t i = 0; i < n; ++i) {
            batched.push_back((choice >> i) & 1U);
            if (!batched[i]) {
                arguments.push_back(x[i]);
                continue;
            }
            std::vector<double> all;
            for (std::int64_t b = 0; b < size; ++b)
                for (double v : numbers(x[i])) all.push_back(varied(v, x[i].type().dtype(), static_cast<double>(b)));
            Shape shape = x[i].type().shape();
            shape.dims().insert(0, size);
            arguments.push_back(literal(shape, all, x[i].type().dtype()));
        }
        const transform::BatchedFunction mapped = transform::vmap(f, batched, size, Mask(f->results().size(), true));
        verify(mapped.function);
        const Arguments got = run(mapped.function, arguments);
        for (std::int64_t b = 0; b < size; ++b) {
            Arguments one;
            for (std::size_t i = 0; i < n; ++i) one.push_back(batched[i] ? slice_of(arguments[i], b) : arguments[i]);
            const Arguments expected = run(f, one);
            for (std::size_t r = 0; r < got.size(); ++r)
                expect_near(slice_of(got[r], b), expected[r], 1e-11,
                            "choice " + std::to_string(choice) + ", example " + std::to_string(b) + ", result " + std::to_string(r));
        }
    }
}

} // namespace stithy::test
