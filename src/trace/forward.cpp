#include "trace/forward.hpp"

#include "ops/rules.hpp"
#include "trace/replay.hpp"
#include "transform/jvp.hpp"

namespace stithy::detail {

Array ForwardTrace::attach(const Array& x, Array tangent, const Location& location) {
    const ArrayNode& n = node(x);
    tangents_.push_back(std::move(tangent));
    return make_traced(Ref<Trace>(this), n.dtype(), n.shape(), n.device(), static_cast<std::uint32_t>(tangents_.size() - 1), x, location);
}

Array ForwardTrace::input(const Array& x, Array tangent, const Location& location) { return attach(x, std::move(tangent), location); }

Array ForwardTrace::below(const Array& x) const { return node(x).trace() == this ? node(x).below() : x; }

Array ForwardTrace::tangent(const Array& x) const {
    const ArrayNode& n = node(x);
    return n.trace() == this ? tangents_[n.id()] : make_splat(n.dtype(), n.shape(), 0);
}

Arrays ForwardTrace::bind(const Operation& operation) {
    ir::Op op;
    op.code = operation.code;
    op.attr = operation.attr;
    op.regions.assign(operation.regions.begin(), operation.regions.end());
    op.location = operation.location;
    op.effect = operation.effect;
    std::vector<ir::Type> types;
    std::vector<bool> active;
    Arrays arguments, tangents;
    for (const Array& x : operation.operands) {
        arguments.push_back(below(x));
        types.push_back(node(x).type());
        active.push_back(node(x).trace() == this);
        if (active.back()) tangents.push_back(tangents_[node(x).id()]);
    }
    arguments.insert(arguments.end(), tangents.begin(), tangents.end());
    const ops::Types results = ops::infer(operation.code, types, op.attr, op.regions, operation.declared, op.location);
    const transform::JvpFunction derivative = transform::jvp(as_function(op, types, {results.data(), results.size()}), active);
    Arrays out = replay(derivative.function, std::move(arguments));
    std::size_t at = results.size();
    for (std::size_t r = 0; r < results.size(); ++r)
        if (derivative.active_results[r]) out[r] = attach(out[r], out[at++], operation.location);
    out.resize(results.size());
    return out;
}

} // namespace stithy::detail
