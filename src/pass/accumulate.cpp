#include "pass/accumulate.hpp"

#include "pass/rewrite.hpp"

#include <algorithm>
#include <numeric>

namespace stithy::pass {

namespace {

/// Finds `accumulator_add(a, freeze(chain))` where the chain of additions and loops begins with accumulator_zeros after `a` is there.
class Join {
public:
    explicit Join(const Function& f) : f_(f), into_(f.value_count()), uses_(count_uses(f)) {
        std::iota(into_.begin(), into_.end(), ValueId{0});
        for (const Op& op : f.ops())
            if (op.code == OpCode::accumulator_add) try_join(op);
    }

    [[nodiscard]] bool found() const { return found_; }

    FunctionPtr rebuild() const {
        Builder builder(f_.name());
        Values table(f_.value_count());
        for (std::size_t p = 0; p < f_.parameter_count(); ++p)
            table[p] = Value(builder, builder.parameter(f_.type(static_cast<ValueId>(p)), f_.is_linear(p)));
        for (const Op& op : f_.ops()) {
            if (op.result_count == 1 && into_[op.first_result] != op.first_result) continue; // replaced
            if (op.code == OpCode::freeze && uses_[op.first_result] == 0) continue;
            Values operands;
            for (ValueId v : op.operands) operands.push_back(table[resolved(v)]);
            const Values results = copy_op(builder, f_, op, operands);
            for (std::uint32_t r = 0; r < op.result_count; ++r) table[op.result(r)] = results[r];
        }
        std::vector<ValueId> results;
        for (ValueId v : f_.results()) results.push_back(table[resolved(v)].id());
        return builder.finish(std::move(results));
    }

private:
    [[nodiscard]] const Op* defining(ValueId v) const {
        const std::int32_t d = f_.defining_op()[v];
        return d < 0 ? nullptr : &f_.ops()[static_cast<std::size_t>(d)];
    }
    [[nodiscard]] ValueId resolved(ValueId v) const {
        while (into_[v] != v) v = into_[v];
        return v;
    }

    void try_join(const Op& add) {
        const Op* frozen = defining(add.operands[1]);
        if (!frozen || frozen->code != OpCode::freeze || uses_[frozen->first_result] != 1) return;
        ValueId at = frozen->operands[0], first = at;
        for (;;) {
            const Op* op = defining(at);
            if (!op) return;
            if (op->code == OpCode::accumulator_zeros) break;
            first = op->first_result;
            if (op->code == OpCode::loop) {
                const LoopLayout layout(op->get<LoopAttr>());
                const std::size_t r = at - op->first_result;
                at = op->operands[layout.operand_of(layout.accumulator(r - layout.carries))];
            } else if (op->code == OpCode::accumulator_add || op->code == OpCode::accumulator_add_at ||
                       op->code == OpCode::accumulator_scatter_add) {
                at = op->operands[0];
            } else {
                return;
            }
            if (into_[at] != at) return; // joined already
        }
        const ValueId into = resolved(add.operands[0]);
        if (into >= first) return; // the chain begins before the accumulator is there
        into_[at] = into;
        into_[add.first_result] = frozen->operands[0];
        uses_[frozen->first_result] = 0;
        found_ = true;
    }

    const Function& f_;
    std::vector<ValueId> into_; ///< a value that takes the place of this one
    std::vector<std::uint32_t> uses_;
    bool found_ = false;
};

class JoinAccumulators final : public Rewriter {
    bool handles(const Op&) const override { return false; }
    bool rewrite(Builder&, const Op&, std::span<const Value>, std::span<const Type>, Values&) override { return false; }
    FunctionPtr complete(FunctionPtr f) override {
        if (std::none_of(f->ops().begin(), f->ops().end(), [](const Op& op) { return op.code == OpCode::accumulator_add; })) return f;
        const Join join(*f);
        return join.found() ? join.rebuild() : f;
    }
};

} // namespace

ir::FunctionPtr join_accumulators(const ir::FunctionPtr& f) { return JoinAccumulators().run(f); }

} // namespace stithy::pass
