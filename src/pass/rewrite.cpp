#include "pass/rewrite.hpp"

#include <algorithm>

namespace stithy::pass {

bool is_reducer(const Op& op) { return !is_structured(op.code) && op.regions.size() == 1 && ops::combiner_of(*op.regions[0]).has_value(); }

FunctionPtr Rewriter::region(const FunctionPtr& f, std::int64_t context) {
    for (auto [at, end] = done_.equal_range(f.get()); at != end; ++at)
        if (at->second.context == context) return at->second.after;
    FunctionPtr out = rewritten(f, context);
    done_.emplace(f.get(), Done{f, out, context});
    return out;
}

FunctionPtr Rewriter::rewritten(const FunctionPtr& f, std::int64_t context) {
    // regions first, so that tables of passes belong to one function at a time
    std::vector<ir::Regions> regions; // by operation; empty when none changed
    bool handled = false;
    const std::span<const Op> ops = f->ops();
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const Op& op = ops[i];
        handled = handled || handles(op);
        if (op.regions.empty() || is_reducer(op) || !into_regions(op)) continue;
        for (std::size_t k = 0; k < op.regions.size(); ++k) {
            FunctionPtr after = region(op.regions[k], context_of(op));
            if (after == op.regions[k]) continue;
            if (regions.empty()) regions.resize(ops.size());
            if (regions[i].empty()) regions[i] = op.regions;
            regions[i][k] = std::move(after);
        }
    }
    return complete(handled || !regions.empty() ? rebuild(f, context, regions) : f);
}

FunctionPtr Rewriter::rebuild(const FunctionPtr& f, std::int64_t context, std::vector<ir::Regions>& regions) {
    bool changed = !regions.empty();
    enter(*f, context);
    Builder builder(f->name());
    builder.reserve(f->value_count() + 4, f->ops().size() + 4);
    SmallVector<ValueId, 64> table(f->value_count());
    for (std::size_t p = 0; p < f->parameter_count(); ++p) table[p] = builder.parameter(f->type(static_cast<ValueId>(p)), f->is_linear(p));
    Values operands, results;
    for (std::size_t i = 0; i < f->ops().size(); ++i) {
        Op op = f->ops()[i];
        if (!regions.empty() && !regions[i].empty()) op.regions = std::move(regions[i]);
        for (ValueId& v : op.operands) v = table[v];
        std::span<const Type> types;
        if (op.result_count > 0) types = {&f->type(op.first_result), op.result_count};
        const ValueId first_old = op.first_result;
        const std::uint32_t n = op.result_count;
        bool done = false;
        if (handles(op)) {
            operands.clear();
            results.clear();
            for (const ValueId v : op.operands) operands.emplace_back(builder, v);
            const ops::LocationScope scope(op.location);
            done = rewrite(builder, op, operands, types, results);
        }
        if (done) {
            changed = true;
            for (std::uint32_t r = 0; r < n; ++r) table[first_old + r] = results[r].id();
        } else {
            const ValueId first = builder.append(std::move(op), types);
            for (std::uint32_t r = 0; r < n; ++r) table[first_old + r] = first + r;
        }
    }
    leave();
    if (!changed) return f;
    std::vector<ValueId> ids;
    ids.reserve(f->results().size());
    for (ValueId v : f->results()) ids.push_back(table[v]);
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
