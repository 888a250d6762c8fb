#include "trace/staging.hpp"

#include "base/small_vector.hpp"
#include "ops/rules.hpp"

#include <algorithm>

namespace stithy::detail {

Array StagingTrace::result(std::uint32_t id, const Location& location) {
    const ir::Type& t = types_[id];
    internal_check(t.is_tensor(), "a staged value that is not a tensor");
    return make_traced(Ref<Trace>(this), t.dtype(), t.shape(), Device(), id, Array(), location);
}

Array StagingTrace::parameter(const ir::Type& type, const Location& location) {
    internal_check(ops_.empty(), "a parameter after an operation");
    types_.push_back(type);
    return result(static_cast<std::uint32_t>(parameters_++), location);
}

std::uint32_t StagingTrace::id_of(const Array& x) {
    const ArrayNode& n = node(x);
    if (n.trace() == this) return n.id();
    if (n.is_splat() && !n.traced()) { // known without reading: a constant
        ir::Op op;
        op.code = ir::OpCode::constant;
        op.attr = ir::make_attr(ir::ConstantAttr{n.splat_literal()});
        op.location = n.location();
        op.first_result = static_cast<std::uint32_t>(types_.size());
        types_.push_back(n.type());
        ops_.push_back(std::move(op));
        return ops_.back().first_result;
    }
    auto [place, is_new] = capture_of_.emplace(&n, static_cast<std::uint32_t>(captures_.size()));
    if (is_new) {
        captures_.push_back(x);
        capture_types_.push_back(n.type());
    }
    return place->second | capture_bit;
}

const ir::Literal* StagingTrace::literal_of(const Array& x) const {
    const std::uint32_t id = node(x).id();
    const auto after =
        std::upper_bound(ops_.begin(), ops_.end(), id, [](std::uint32_t v, const ir::Op& op) { return v < op.first_result; });
    if (id < parameters_ || after == ops_.begin() || std::prev(after)->code != ir::OpCode::constant) return nullptr;
    return &std::prev(after)->get<ir::ConstantAttr>().value;
}

Arrays StagingTrace::bind(const Operation& operation) {
    ir::Op op;
    op.code = operation.code;
    op.effect = operation.effect;
    op.attr = operation.attr;
    op.regions.assign(operation.regions.begin(), operation.regions.end());
    op.location = operation.location;
    op.operands.reserve(operation.operands.size());
    for (const Array& x : operation.operands) op.operands.push_back(id_of(x));
    SmallVector<const ir::Type*, 8> refs;
    for (std::uint32_t id : op.operands) refs.push_back(&type(id));
    const ops::Types types =
        ops::infer({op.code, ops::TypeRefs({refs.data(), refs.size()}), op.attr, op.regions, op.location, operation.declared});
    op.first_result = static_cast<std::uint32_t>(types_.size());
    op.result_count = static_cast<std::uint32_t>(types.size());
    for (const ir::Type& t : types) types_.push_back(t);
    const std::uint32_t first = op.first_result, count = op.result_count;
    ops_.push_back(std::move(op));
    Arrays results;
    results.reserve(count);
    for (std::uint32_t r = 0; r < count; ++r) results.push_back(result(first + r, operation.location));
    return results;
}

Arrays StagingTrace::inline_function(const ir::Function& f, std::span<const Array> arguments) {
    std::vector<std::uint32_t> map(f.value_count());
    for (std::size_t p = 0; p < arguments.size(); ++p) map[p] = id_of(arguments[p]);
    for (const ir::Op& op : f.ops()) {
        ir::Op copy = op;
        for (ir::ValueId& v : copy.operands) v = map[v];
        copy.first_result = static_cast<std::uint32_t>(types_.size());
        for (std::uint32_t r = 0; r < op.result_count; ++r) {
            map[op.result(r)] = static_cast<std::uint32_t>(types_.size());
            types_.push_back(f.type(op.result(r)));
        }
        ops_.push_back(std::move(copy));
    }
    Arrays results;
    for (std::size_t r = 0; r < f.results().size(); ++r) {
        const std::uint32_t id = map[f.results()[r]];
        if (id & capture_bit)
            results.push_back(captures_[id & ~capture_bit]);
        else
            results.push_back(result(id, Location()));
    }
    return results;
}

void StagingTrace::take_results(std::span<const Array> results) {
    for (const Array& x : results) {
        check_usable(x, name().c_str(), Location());
        id_of(x);
    }
}

ir::FunctionPtr StagingTrace::finish(std::span<const Array> results, std::size_t captures_at, const Arrays& captures) {
    std::vector<std::uint32_t> result_ids;
    result_ids.reserve(results.size());
    for (const Array& x : results) result_ids.push_back(id_of(x)); // may add a constant
    if (captures.empty() && captures_.empty())
        return ir::Builder::assemble(name(), parameters_, std::move(types_), std::move(ops_), std::move(result_ids));
    ir::Builder builder(name());
    builder.reserve(types_.size() + captures.size(), ops_.size());
    std::vector<ir::ValueId> map(types_.size()), capture_map(captures_.size(), ir::no_value);
    for (std::size_t p = 0; p < captures_at; ++p) map[p] = builder.parameter(types_[p]);
    auto add_capture = [&](const Array& x) {
        const ir::ValueId id = builder.parameter(node(x).type());
        if (auto found = capture_of_.find(&node(x)); found != capture_of_.end()) capture_map[found->second] = id;
    };
    for (const Array& x : captures) add_capture(x);
    for (std::size_t p = captures_at; p < parameters_; ++p) map[p] = builder.parameter(types_[p]);
    auto mapped = [&](std::uint32_t id) { return id & capture_bit ? capture_map[id & ~capture_bit] : map[id]; };
    for (ir::Op& op : ops_) {
        for (ir::ValueId& v : op.operands) v = mapped(v);
        const std::uint32_t first = op.first_result, count = op.result_count;
        std::span<const ir::Type> types;
        if (count > 0) types = {&types_[first], count};
        const ir::ValueId made = builder.append(std::move(op), types);
        for (std::uint32_t r = 0; r < count; ++r) map[first + r] = made + r;
    }
    ops_.clear();
    std::vector<ir::ValueId> ids;
    for (std::uint32_t id : result_ids) ids.push_back(mapped(id));
    return builder.finish(std::move(ids));
}

} // namespace stithy::detail
