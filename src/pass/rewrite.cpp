#include "pass/rewrite.hpp"

#include <algorithm>

namespace stithy::pass {

FunctionPtr Rewriter::run(const FunctionPtr& f, std::int64_t context) {
    for (auto [at, end] = done_.equal_range(f.get()); at != end; ++at)
        if (at->second.context == context) return at->second.after;
    // regions first, so that tables of passes belong to one function at a time
    std::vector<std::vector<FunctionPtr>> regions; // by operation; empty when no operation has any
    bool changed = false;
    for (std::size_t i = 0; i < f->ops().size(); ++i) {
        const Op& op = f->ops()[i];
        if (op.regions.empty() || !into_regions(op)) continue;
        if (regions.empty()) regions.resize(f->ops().size());
        for (const FunctionPtr& r : op.regions) {
            regions[i].push_back(run(r, context_of(op)));
            changed = changed || regions[i].back() != r;
        }
    }
    const bool quiet = !changed && std::none_of(f->ops().begin(), f->ops().end(), [&](const Op& op) { return handles(op); });
    FunctionPtr out = complete(quiet ? f : rebuild(f, context, regions, changed));
    done_.emplace(f.get(), Done{f, out, context});
    return out;
}

FunctionPtr Rewriter::rebuild(const FunctionPtr& f, std::int64_t context, std::vector<std::vector<FunctionPtr>>& regions, bool changed) {
    enter(*f, context);
    Builder builder(f->name());
    Values table(f->value_count());
    for (std::size_t p = 0; p < f->parameter_count(); ++p)
        table[p] = Value(builder, builder.parameter(f->type(static_cast<ValueId>(p)), f->is_linear(p)));
    Values operands, results;
    for (std::size_t i = 0; i < f->ops().size(); ++i) {
        Op op = f->ops()[i];
        if (!regions.empty() && !regions[i].empty()) op.regions = std::move(regions[i]);
        operands.clear();
        for (ValueId& v : op.operands) {
            operands.push_back(table[v]);
            v = table[v].id();
        }
        std::span<const Type> types;
        if (op.result_count > 0) types = {&f->type(op.first_result), op.result_count};
        const ValueId first_old = op.first_result;
        const std::uint32_t n = op.result_count;
        results.clear();
        ops::LocationScope scope(op.location);
        if (handles(op) && rewrite(builder, op, operands, types, results)) {
            changed = true;
        } else {
            const ValueId first = builder.append(std::move(op), types);
            results.clear();
            for (std::uint32_t r = 0; r < n; ++r) results.emplace_back(builder, first + r);
        }
        for (std::uint32_t r = 0; r < n; ++r) table[first_old + r] = results[r];
    }
    leave();
    if (!changed) return f;
    std::vector<ValueId> ids;
    for (ValueId v : f->results()) ids.push_back(table[v].id());
    return builder.finish(std::move(ids));
}

const Op* definition(const Builder& builder, ValueId v) {
    if (v < builder.parameter_count()) return nullptr;
    const auto ops = builder.ops();
    auto after = std::upper_bound(ops.begin(), ops.end(), v, [](ValueId id, const Op& op) { return id < op.first_result; });
    while (after != ops.begin()) {
        --after;
        if (after->result_count > 0) return v < after->first_result + after->result_count ? &*after : nullptr;
    }
    return nullptr;
}

const ir::Literal* constant_of(const Builder& builder, ValueId v) {
    const Op* op = definition(builder, v);
    return op && op->code == OpCode::constant ? &op->get<ir::ConstantAttr>().value : nullptr;
}

} // namespace stithy::pass
