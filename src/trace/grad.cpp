#include "stithy/grad.hpp"

#include "array/bind.hpp"
#include "trace/forward.hpp"
#include "trace/recording.hpp"

namespace stithy::detail {

namespace {

/// Tangents and cotangents have the shape and dtype of what they belong to.
void check_like(const char* name, const char* what, const Arrays& given, std::span<const ir::Type> expected, const Location& at) {
    if (given.size() != expected.size())
        fail(name, std::to_string(given.size()) + " arrays given as " + what + ", expected " + std::to_string(expected.size()), at);
    for (std::size_t i = 0; i < given.size(); ++i) {
        check_usable(given[i], i, what[0] == 't' ? "the tangents" : "the cotangents", name, at);
        const ArrayNode& n = node(given[i]);
        if (!(n.type() == expected[i]))
            fail(name, std::string(what) + " " + std::to_string(i) + " is " + made_at(n) + ", expected " + expected[i].str(), at);
    }
}

void check_inputs(const char* name, const std::vector<Array>& inputs, const Location& at) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        check_usable(inputs[i], i, "the differentiated arguments", name, at);
        const ArrayNode& n = node(inputs[i]);
        if (!n.dtype().is_floating())
            fail(name,
                 "array " + std::to_string(i) + " of the differentiated arguments is " + made_at(n) +
                     ", expected a floating dtype; convert it with astype(f64)",
                 at);
    }
}

/// What the linear program holds must still be there: the traces that it comes from.
void check_residuals(const char* name, const LinearProgram& program, const Location& at) {
    for (const Array& x : program.residuals) check_usable(x, name, at);
}

/// Error unless x is one floating number: what a gradient is of.
void check_scalar(const char* name, const Array& x, const Location& at) {
    check_usable(x, name, at);
    const ArrayNode& n = node(x);
    if (n.shape().rank() != 0)
        fail(name, "the function returned " + made_at(n) + ", expected a scalar (rank 0); sum() it, or use vjp or jacrev", at);
    if (!n.dtype().is_floating()) fail(name, "the function returned " + made_at(n) + ", expected a floating dtype", at);
}

} // namespace

std::vector<Array> LinearMap::push(const std::vector<Array>& tangents, const std::source_location& location) const {
    const auto& program = *static_cast<const LinearProgram*>(program_.get());
    check_like("linearize", "tangent", tangents, program.inputs, location);
    check_residuals("linearize", program, location);
    return program.push(tangents);
}

std::vector<Array> LinearMap::pull(const std::vector<Array>& cotangents, const std::source_location& location) const {
    const auto& program = *static_cast<const LinearProgram*>(program_.get());
    check_like("vjp", "cotangent", cotangents, program.outputs, location);
    check_residuals("vjp", program, location);
    return program.pull(cotangents);
}

namespace {
/// Outputs of f below, and the linear program of the first `differentiated` ones.
Arrays recorded(const char* name, const Arrays& inputs, ArraysFunction f, LinearProgram& program, std::size_t differentiated,
                const Location& at) {
    check_inputs(name, inputs, at);
    auto trace = make_ref<RecordingTrace>(name);
    Arrays outputs, active;
    {
        TraceScope scope(*trace);
        Arrays given;
        for (const Array& x : inputs) given.push_back(trace->input(x, node(x).location()));
        outputs = f(given);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            check_usable(outputs[i], i, "the result", name, at);
            if (i < differentiated) active.push_back(outputs[i]);
        }
    }
    program = trace->finish(active);
    for (Array& x : outputs) x = trace->below(x);
    return outputs;
}
} // namespace

std::vector<Array> record(const char* name, const std::vector<Array>& inputs, ArraysFunction f, LinearMap& map,
                          const std::source_location& location) {
    auto program = std::make_shared<LinearProgram>();
    Arrays outputs = recorded(name, inputs, f, *program, ~std::size_t{0}, location);
    map = LinearMap(std::move(program));
    return outputs;
}

std::vector<Array> differentiate(const char* name, const std::vector<Array>& inputs, ArraysFunction f, std::vector<Array>& gradients,
                                 const std::source_location& location) {
    LinearProgram program;
    auto checked = [&](const Arrays& given) {
        Arrays outputs = f(given);
        check_scalar(name, outputs[0], location);
        return outputs;
    };
    Arrays outputs = recorded(name, inputs, checked, program, 1, location);
    const DType dtype = node(outputs[0]).dtype();
    gradients = program.pull({make_splat(dtype, Shape(), ir::bits_of(dtype, 1.0), location)});
    return outputs;
}

std::vector<Array> push_forward(const char* name, const std::vector<Array>& inputs, const std::vector<Array>& tangents, ArraysFunction f,
                                const std::source_location& location) {
    check_inputs(name, inputs, location);
    std::vector<ir::Type> types;
    types.reserve(inputs.size());
    for (const Array& x : inputs) types.push_back(node(x).type());
    check_like(name, "tangent", tangents, types, location);
    auto trace = make_ref<ForwardTrace>(name);
    Arrays outputs;
    {
        TraceScope scope(*trace);
        Arrays given;
        for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(trace->input(inputs[i], tangents[i], node(inputs[i]).location()));
        outputs = f(given);
        for (std::size_t i = 0; i < outputs.size(); ++i) check_usable(outputs[i], i, "the result", name, location);
    }
    const std::size_t n = outputs.size();
    for (std::size_t i = 0; i < n; ++i) outputs.push_back(trace->tangent(outputs[i]));
    for (std::size_t i = 0; i < n; ++i) outputs[i] = trace->below(outputs[i]);
    return outputs;
}

} // namespace stithy::detail
