#include "trace/recording.hpp"

#include "base/small_vector.hpp"
#include "ops/build.hpp"
#include "ops/rules.hpp"
#include "pass/counted_while.hpp"
#include "trace/replay.hpp"
#include "trace/tape.hpp"
#include "transform/transpose.hpp"

namespace stithy::detail {

using ir::OpCode;
using transform::is_structured;
using transform::Mask;

namespace {

/// A callee with its loops settled; kept with it.
ir::FunctionPtr settled(const ir::FunctionPtr& callee) {
    struct Made {
        ir::FunctionPtr function; ///< none: the callee as it is (a function that held itself would never go)
    };
    const auto made = callee->memo<Made>("settled", [&] {
        const ir::FunctionPtr f = pass::settle_loops(callee);
        return std::make_shared<const Made>(Made{f == callee ? nullptr : f});
    });
    return made->function ? made->function : callee;
}

/// Calls a function one level below.
Arrays call_below(const Operation& operation, const ir::FunctionPtr& f, const Arrays& arguments) {
    if (f->results().empty()) return {};
    Operation lower = operation;
    lower.operands = arguments;
    lower.regions = {&f, 1};
    lower.dying = 0;
    return detail::bind(lower);
}

Array zeros_of(const ir::Type& t) { return make_splat(t.dtype(), t.shape(), 0); }

} // namespace

Array RecordingTrace::input(const Array& x, const Location& location) {
    const ArrayNode& n = node_of(x, name().c_str(), location);
    tangent_of_.push_back(builder_.parameter(n.type(), true));
    return make_traced(Ref<Trace>(this), n.dtype(), n.shape(), n.device(), static_cast<std::uint32_t>(tangent_of_.size() - 1), x, location);
}

Array RecordingTrace::below(const Array& x) const { return node(x).trace() == this ? node(x).below() : x; }

ops::Value RecordingTrace::tangent(const Array& x) {
    const ArrayNode& n = node(x);
    return n.trace() == this ? ops::Value(builder_, tangent_of_[n.id()]) : ops::Value();
}

ops::Value RecordingTrace::stand_in(const Array& x) {
    if (auto known = seen_.find(&node(x)); known != seen_.end()) return {builder_, known->second};
    if (!node(x).traced() && node(x).is_splat()) return ops::constant(builder_, node(x).splat_literal());
    ir::Op op; // a custom_call without operands: replaced by a parameter when recording ends
    op.code = OpCode::custom_call;
    const ir::Type type = node(x).type();
    return {builder_, builder_.append(std::move(op), {&type, 1})};
}

void RecordingTrace::keep_used(std::size_t first_op, std::span<const ops::Value> values,
                               std::span<const std::pair<ops::Value, Array>> stand_ins) {
    auto keep = [&](ir::ValueId id) {
        for (const auto& [value, array] : stand_ins)
            if (value.id() == id && !kept_[id].defined()) {
                kept_[id] = array;
                seen_.emplace(&node(array), id);
            }
    };
    kept_.resize(builder_.value_count());
    const auto all = builder_.ops();
    for (std::size_t i = first_op; i < all.size(); ++i)
        for (ir::ValueId v : all[i].operands) keep(v);
    for (const ops::Value& v : values)
        if (v) keep(v.id());
}

Arrays RecordingTrace::attach(Arrays below, const ops::Values& tangents, const Location& location) {
    for (std::size_t r = 0; r < below.size(); ++r) {
        if (!tangents[r]) continue;
        const ArrayNode& n = node(below[r]);
        tangent_of_.push_back(tangents[r].id());
        below[r] = make_traced(Ref<Trace>(this), n.dtype(), n.shape(), n.device(), static_cast<std::uint32_t>(tangent_of_.size() - 1),
                               below[r], location);
    }
    return below;
}

Arrays RecordingTrace::bind(const Operation& operation) {
    if (is_structured(operation.code)) return bind_structured(operation);
    if (operation.code == OpCode::custom_call) fail("custom_call", "has no derivative", operation.location);
    SmallVector<Array, 4> below_operands;
    for (const Array& x : operation.operands) below_operands.push_back(below(x));
    const std::span<const Array> lowered(below_operands.data(), below_operands.size());
    Operation lower = operation;
    lower.operands = lowered;
    lower.dying = 0;
    Arrays results = detail::bind(lower);
    const ops::Rule& rule = ops::rule(operation.code);
    if (transform::has_zero_derivative(operation.code) || rule.jvp == nullptr) return results;

    SmallVector<ops::Value, 4> operands, tangents;
    SmallVector<std::pair<ops::Value, Array>, 4> stand_ins;
    for (std::size_t i = 0; i < lowered.size(); ++i) {
        operands.push_back(stand_in(lowered[i]));
        stand_ins.push_back({operands.back(), lowered[i]});
        tangents.push_back(tangent(operation.operands[i]));
    }
    ops::Values values;
    for (const Array& r : results) {
        values.push_back(stand_in(r));
        stand_ins.push_back({values.back(), r});
    }
    ir::Op op;
    op.code = operation.code;
    op.attr = operation.attr;
    op.regions.assign(operation.regions.begin(), operation.regions.end());
    op.location = operation.location;
    op.operands = transform::ids_of(operands);
    op.first_result = values.empty() ? 0 : values[0].id();
    op.result_count = static_cast<std::uint32_t>(values.size());
    const std::size_t first_op = builder_.ops().size();
    const ops::LocationScope scope(operation.location);
    const ops::Values out = rule.jvp({builder_, op, operands, values, tangents});
    keep_used(first_op, out, stand_ins);
    return attach(std::move(results), out, operation.location);
}

Arrays RecordingTrace::bind_structured(const Operation& operation) {
    Arrays lowered;
    std::vector<bool> active;
    for (const Array& x : operation.operands) {
        lowered.push_back(below(x));
        active.push_back(node(x).trace() == this);
    }
    ir::Op op;
    op.code = operation.code;
    op.attr = operation.attr;
    op.regions.assign(operation.regions.begin(), operation.regions.end());
    op.location = operation.location;
    op.effect = operation.effect;
    std::vector<ir::Type> types;
    for (const Array& x : lowered) types.push_back(node(x).type());
    const ops::Types results = ops::infer(operation.code, types, op.attr, op.regions, operation.declared, op.location);
    // a callee is the function itself, so that what is derived from it is made once
    const ir::FunctionPtr f = operation.code == OpCode::call
                                  ? settled(operation.regions[0])
                                  : pass::settle_loops(as_function(op, types, {results.data(), results.size()}, lowered));
    const transform::Linearized l = transform::linearize(f, active);
    Arrays out = operation.code == OpCode::call ? call_below(operation, l.primal, lowered) : replay(l.primal, lowered);
    const Arrays residuals = transform::residual_values<Array>(l, lowered, out);
    out.resize(l.active_results.size());

    ops::Values arguments;
    std::vector<std::pair<ops::Value, Array>> stand_ins;
    for (const Array& r : residuals) {
        arguments.push_back(stand_in(r));
        stand_ins.emplace_back(arguments.back(), r);
    }
    for (std::size_t i = 0; i < operation.operands.size(); ++i)
        if (active[i]) arguments.push_back(tangent(operation.operands[i]));
    const std::size_t first_op = builder_.ops().size();
    const ops::Values tangents = ops::inline_call(builder_, *l.linear, arguments);
    keep_used(first_op, tangents, stand_ins);
    ops::Values all(out.size());
    std::size_t at = 0;
    for (std::size_t r = 0; r < out.size(); ++r)
        if (l.active_results[r]) all[r] = tangents[at++];
    return attach(std::move(out), all, operation.location);
}

LinearProgram RecordingTrace::finish(const Arrays& outputs) {
    LinearProgram out;
    std::vector<ir::ValueId> results;
    for (const Array& x : outputs) {
        const bool mine = node(x).trace() == this;
        out.active.push_back(mine);
        out.outputs.push_back(node(x).type());
        if (mine) results.push_back(tangent_of_[node(x).id()]);
    }
    const std::size_t inputs = builder_.parameter_count();
    for (std::size_t p = 0; p < inputs; ++p) out.inputs.push_back(builder_.type(static_cast<ir::ValueId>(p)));
    const ir::FunctionPtr tape = builder_.finish(results);

    out.linear = cut_tape(*tape, inputs, kept_, out.residuals);
    kept_.clear();
    seen_.clear();
    return out;
}

Arrays LinearProgram::push(const Arrays& tangents) const {
    Arrays arguments = residuals;
    arguments.insert(arguments.end(), tangents.begin(), tangents.end());
    const Arrays found = replay(linear, std::move(arguments));
    Arrays out;
    std::size_t at = 0;
    for (std::size_t i = 0; i < active.size(); ++i) out.push_back(active[i] ? found[at++] : zeros_of(outputs[i]));
    return out;
}

Arrays LinearProgram::pull(const Arrays& cotangents) const {
    Mask linear_parameters(residuals.size(), false), given;
    linear_parameters.resize(residuals.size() + inputs.size(), true);
    Arrays arguments = residuals;
    for (std::size_t i = 0; i < active.size(); ++i) {
        if (!active[i]) continue;
        given.push_back(true);
        arguments.push_back(cotangents[i]);
    }
    return replay(transform::transpose(linear, linear_parameters, given), std::move(arguments));
}

} // namespace stithy::detail
