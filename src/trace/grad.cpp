#include "stithy/grad.hpp"

#include "array/bind.hpp"
#include "trace/forward.hpp"
#include "trace/recording.hpp"

namespace stithy::detail {

namespace {

/// Tangents and cotangents have the shape and dtype of what they belong to.
void check_like(const char* name, const char* what, const Arrays& given, std::span<const ir::Type> expected) {
    if (given.size() != expected.size())
        fail(name, std::to_string(given.size()) + " arrays given as " + what + ", expected " + std::to_string(expected.size()));
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ArrayNode& n = node_of(given[i], name);
        if (!(n.type() == expected[i]))
            fail(name, std::string(what) + " " + std::to_string(i) + " is " + n.type().str() + ", expected " + expected[i].str(),
                 n.location());
    }
}

void check_inputs(const char* name, const std::vector<Array>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ArrayNode& n = node_of(inputs[i], name);
        if (!n.dtype().is_floating())
            fail(name,
                 "array " + std::to_string(i) + " of the differentiated arguments is " + n.type().str() +
                     ", expected a floating dtype; convert it with astype(f64)",
                 n.location());
    }
}

} // namespace

std::vector<Array> LinearMap::push(const std::vector<Array>& tangents) const {
    const auto& program = *static_cast<const LinearProgram*>(program_.get());
    check_like("linearize", "tangent", tangents, program.inputs);
    return program.push(tangents);
}

std::vector<Array> LinearMap::pull(const std::vector<Array>& cotangents) const {
    const auto& program = *static_cast<const LinearProgram*>(program_.get());
    check_like("vjp", "cotangent", cotangents, program.outputs);
    return program.pull(cotangents);
}

std::vector<Array> record(const char* name, const std::vector<Array>& inputs, ArraysFunction f, LinearMap& map,
                          std::size_t differentiated) {
    check_inputs(name, inputs);
    auto trace = make_ref<RecordingTrace>(name);
    Arrays outputs, active;
    {
        TraceScope scope(*trace);
        Arrays recorded;
        for (const Array& x : inputs) recorded.push_back(trace->input(x, node(x).location()));
        outputs = f(recorded);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            check_usable(outputs[i], name, Location());
            if (i < differentiated) active.push_back(outputs[i]);
        }
    }
    auto program = std::make_shared<LinearProgram>(trace->finish(active));
    map = LinearMap(std::move(program));
    for (Array& x : outputs) x = trace->below(x);
    return outputs;
}

std::vector<Array> push_forward(const char* name, const std::vector<Array>& inputs, const std::vector<Array>& tangents, ArraysFunction f) {
    check_inputs(name, inputs);
    std::vector<ir::Type> types;
    for (const Array& x : inputs) types.push_back(node(x).type());
    check_like(name, "tangent", tangents, types);
    auto trace = make_ref<ForwardTrace>(name);
    Arrays outputs;
    {
        TraceScope scope(*trace);
        Arrays recorded;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            recorded.push_back(trace->input(inputs[i], tangents[i], node(inputs[i]).location()));
        outputs = f(recorded);
        for (const Array& x : outputs) check_usable(x, name, Location());
    }
    const std::size_t n = outputs.size();
    for (std::size_t i = 0; i < n; ++i) outputs.push_back(trace->tangent(outputs[i]));
    for (std::size_t i = 0; i < n; ++i) outputs[i] = trace->below(outputs[i]);
    return outputs;
}

void check_scalar(const char* name, const Array& x) {
    const ArrayNode& n = node_of(x, name);
    if (n.shape().rank() != 0)
        fail(name, "the function returned " + n.type().str() + ", expected a scalar (rank 0); sum() it, or use vjp or jacrev",
             n.location());
    if (!n.dtype().is_floating()) fail(name, "the function returned " + n.type().str() + ", expected a floating dtype", n.location());
}

Array ones_for(const Array& x) {
    const ArrayNode& n = node(x);
    return make_splat(n.dtype(), n.shape(), ir::bits_of(n.dtype(), 1.0));
}

} // namespace stithy::detail
