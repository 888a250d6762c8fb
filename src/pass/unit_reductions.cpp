#include "pass/unit_reductions.hpp"

#include "pass/rewrite.hpp"

#include <algorithm>

namespace stithy::pass {

namespace {

/// Whether a reduction runs over axes of extent 1 only.
bool is_unit(const Shape& shape, const Op& op) {
    const Dims& dims = op.get<ir::DimsAttr>().dims;
    return std::all_of(dims.begin(), dims.end(), [&](std::int64_t d) { return shape[static_cast<std::size_t>(d)] == 1; });
}

class UnitReductions final : public Rewriter {
    bool rewrite(Builder&, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if (op.code != OpCode::reduce || operands.size() != 2) return false;
        if (!is_unit(operands[0].shape(), op)) return false;
        const auto combine = ops::combiner_of(*op.regions[0]);
        if (!combine) return false;
        const Value x = ops::reshape(operands[0], types[0].shape());
        const Value init = ops::broadcast_in_dim(operands[1], types[0].shape(), Dims());
        results = {ops::binary(*combine, init, x)};
        return true;
    }
};

bool has_unit_reduction(const Function& f) {
    for (const Op& op : f.ops()) {
        if (op.code == OpCode::reduce && is_unit(f.type(op.operands[0]).shape(), op)) return true;
        if (op.code == OpCode::reduce || op.code == OpCode::scatter) continue;
        for (const FunctionPtr& r : op.regions)
            if (has_unit_reduction(*r)) return true;
    }
    return false;
}

} // namespace

ir::FunctionPtr settle_unit_reductions(const ir::FunctionPtr& f) { return has_unit_reduction(*f) ? UnitReductions().run(f) : f; }

} // namespace stithy::pass
