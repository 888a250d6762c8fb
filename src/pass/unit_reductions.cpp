#include "pass/unit_reductions.hpp"

#include "pass/rewrite.hpp"

namespace stithy::pass {

namespace {

class UnitReductions final : public Rewriter {
    bool rewrite(Builder&, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if (op.code != OpCode::reduce || operands.size() != 2) return false;
        const Shape shape = operands[0].shape();
        for (std::int64_t d : op.get<ir::DimsAttr>().dims)
            if (shape[static_cast<std::size_t>(d)] != 1) return false;
        const auto combine = ops::combiner_of(*op.regions[0]);
        if (!combine) return false;
        const Value x = ops::reshape(operands[0], types[0].shape());
        const Value init = ops::broadcast_in_dim(operands[1], types[0].shape(), Dims());
        results = {ops::binary(*combine, init, x)};
        return true;
    }
};

bool has_reduction(const Function& f) {
    for (const Op& op : f.ops()) {
        if (op.code == OpCode::reduce) return true;
        for (const FunctionPtr& r : op.regions)
            if (op.code != OpCode::scatter && has_reduction(*r)) return true;
    }
    return false;
}

} // namespace

ir::FunctionPtr settle_unit_reductions(const ir::FunctionPtr& f) { return has_reduction(*f) ? UnitReductions().run(f) : f; }

} // namespace stithy::pass
