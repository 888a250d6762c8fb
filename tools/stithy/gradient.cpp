#include "gradient.hpp"

#include "ops/build.hpp"
#include "pass/optimize.hpp"
#include "transform/jvp.hpp"
#include "transform/linearize.hpp"
#include "transform/transpose.hpp"

#include <algorithm>
#include <numeric>

namespace stithy::tool {

using ir::FunctionPtr;
using ops::Value;
using ops::Values;
using transform::Mask;

namespace {
constexpr std::int64_t forward_limit = 4096; // elements that forward mode takes one at a time

Mask active_parameters(const ir::Function& f, std::span<const std::int64_t> wrt) {
    Mask active(f.parameter_count());
    for (std::int64_t given : wrt) {
        const auto i = static_cast<std::size_t>(given);
        if (given < 0 || i >= active.size())
            throw Error("--grad " + std::to_string(given) + ": @main has " + std::to_string(active.size()) +
                        (active.empty() ? " arguments" : " arguments, 0 to " + std::to_string(active.size() - 1)));
        const ir::Type& type = f.type(static_cast<ir::ValueId>(i));
        if (!type.dtype().is_floating())
            throw Error("--grad " + std::to_string(i) + ": the argument is " + type.str() + ", expected a floating dtype");
        active[i] = true;
    }
    return active;
}

Mask float_results(const ir::Function& f) {
    Mask mask;
    for (const ir::Type& t : f.result_types()) mask.push_back(t.dtype().is_floating());
    return mask;
}

Values parameters(ops::Builder& builder, const ir::Function& f) {
    Values values;
    for (const ir::Type& t : f.parameter_types()) values.emplace_back(builder, builder.parameter(t));
    return values;
}

/// Parameters of f, then tangents of the active ones -> the tangent of the sum of float results (rank 0, f64).
FunctionPtr tangent_of_sum(const FunctionPtr& f, const Mask& active) {
    const transform::JvpFunction derivative = transform::jvp(f, active);
    ops::Builder builder("tangent_of_sum");
    const Values results = ops::inline_call(builder, *derivative.function, parameters(builder, *derivative.function));
    Value sum = ops::scalar(builder, f64, 0);
    std::size_t tangent = f->results().size();
    for (bool is_active : derivative.active_results) {
        if (!is_active) continue;
        const Value t = results[tangent++];
        Dims axes(t.rank(), 0);
        std::iota(axes.begin(), axes.end(), 0);
        sum = sum + ops::reduce_sum(ops::convert(t, f64), axes);
    }
    return builder.finish({sum.id()});
}

std::vector<ir::Literal> forward_gradient(const FunctionPtr& f, std::span<const std::int64_t> wrt, std::span<const ir::Literal> arguments,
                                          Backend& backend) {
    const Mask active = active_parameters(*f, wrt);
    const FunctionPtr tangent = tangent_of_sum(f, active);
    std::vector<ir::Literal> given(arguments.begin(), arguments.end());
    std::vector<std::size_t> place(active.size());
    for (std::size_t i = 0; i < active.size(); ++i) {
        if (!active[i]) continue;
        place[i] = given.size();
        given.push_back(ir::Literal::splat(arguments[i].type(), 0));
    }
    std::vector<ir::Literal> gradients;
    for (std::int64_t argument : wrt) {
        const auto i = static_cast<std::size_t>(argument);
        const ir::Type& type = arguments[i].type();
        const std::size_t size = type.dtype().size();
        std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
        for (std::int64_t e = 0; e < type.elements(); ++e) {
            std::vector<std::byte> unit(bytes.size());
            const std::uint64_t one = ir::bits_of(type.dtype(), 1.0);
            std::memcpy(unit.data() + static_cast<std::size_t>(e) * size, &one, size);
            given[place[i]] = ir::Literal::dense(type, std::move(unit));
            const std::uint64_t bits = ir::bits_of(type.dtype(), backend.run(tangent, given)[0].element_as_double(0));
            std::memcpy(bytes.data() + static_cast<std::size_t>(e) * size, &bits, size);
        }
        given[place[i]] = ir::Literal::splat(type, 0);
        gradients.push_back(ir::Literal::dense(type, std::move(bytes)));
    }
    return gradients;
}
} // namespace

FunctionPtr gradient_function(const FunctionPtr& given, std::span<const std::int64_t> wrt) {
    // Counted whiles become loops, which have a reverse; what is moved out of loops needs no residuals. Products are gathered after
    // differentiation.
    const FunctionPtr function = pass::optimize(given, {"outer-products", nullptr});
    const Mask active = active_parameters(*function, wrt);
    const transform::Linearized l = transform::linearize(function, active, float_results(*function));
    ops::Builder builder("gradient");
    const Values arguments = parameters(builder, *function);
    Values gradients(active.size());
    const std::size_t outputs = l.linear->results().size();
    if (outputs != 0) {
        const Values primal = ops::inline_call(builder, *l.primal, arguments);
        Values known;
        for (const Value& v : transform::residual_values<Value>(l, arguments, primal)) known.push_back(v);
        Mask linear(l.linear->parameter_count(), true);
        std::fill_n(linear.begin(), l.residuals.size(), false);
        const FunctionPtr backward = transform::transpose(l.linear, linear, Mask(outputs, true));
        for (const ir::Type& t : l.linear->result_types()) known.push_back(ops::full(builder, t, 1));
        const Values cotangents = ops::inline_call(builder, *backward, known);
        std::size_t next = 0;
        for (std::size_t i = 0; i < active.size(); ++i)
            if (active[i]) gradients[i] = cotangents[next++];
    }
    std::vector<ir::ValueId> results;
    for (std::int64_t argument : wrt) {
        const auto i = static_cast<std::size_t>(argument);
        results.push_back((gradients[i] ? gradients[i] : ops::zeros_like(arguments[i])).id());
    }
    return builder.finish(std::move(results));
}

std::vector<ir::Literal> gradient(const FunctionPtr& function, std::span<const std::int64_t> wrt, std::span<const ir::Literal> arguments,
                                  Backend& backend) {
    FunctionPtr reverse;
    try {
        reverse = gradient_function(function, wrt);
    } catch (const Error&) {
        (void)active_parameters(*function, wrt);
        std::int64_t elements = 0;
        for (std::int64_t i : wrt) elements += arguments[static_cast<std::size_t>(i)].type().elements();
        if (elements > forward_limit) throw;
    }
    return reverse ? backend.run(reverse, arguments) : forward_gradient(function, wrt, arguments, backend);
}

} // namespace stithy::tool
