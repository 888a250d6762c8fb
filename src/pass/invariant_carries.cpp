#include "pass/invariant_carries.hpp"

#include "pass/rewrite.hpp"

namespace stithy::pass {

namespace {

/// `f` with its parameters in another order (order[k]: which one comes k-th) and only some results.
FunctionPtr reordered(const Function& f, const std::vector<std::size_t>& order, const Mask& results) {
    Builder b(f.name());
    Values arguments(f.parameter_count());
    for (std::size_t p : order) arguments[p] = Value(b, b.parameter(f.type(static_cast<ValueId>(p)), f.is_linear(p)));
    const Values out = ops::inline_call(b, f, arguments);
    std::vector<ValueId> ids;
    for (std::size_t r = 0; r < out.size(); ++r)
        if (results[r]) ids.push_back(out[r].id());
    return b.finish(std::move(ids));
}

class SettleInvariants final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::loop || op.code == OpCode::while_; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if ((op.code != OpCode::loop && op.code != OpCode::while_) || op.effect != ir::Effect::pure) return false;
        const bool is_loop = op.code == OpCode::loop;
        const Function& body = *op.regions.back();
        const std::size_t trip = is_loop ? LoopLayout(op.get<LoopAttr>()).trip : 0,
                          before = is_loop ? 1 : 0; // operands, parameters before the invariants
        const auto invariants = static_cast<std::size_t>(is_loop ? op.get<LoopAttr>().invariants : op.get<WhileAttr>().invariants);
        const std::size_t carries = is_loop ? static_cast<std::size_t>(op.get<LoopAttr>().carries) : op.operands.size() - invariants;
        const std::size_t first = before + invariants; // parameter of the first carry
        Mask settled(carries, false), kept(types.size(), true);
        for (std::size_t i = 0; i < carries; ++i) {
            settled[i] = body.results()[i] == first + i && types[i].is_tensor();
            kept[i] = !settled[i];
        }
        if (!any(settled)) return false;
        std::vector<std::size_t> order; // of parameters
        order.reserve(body.parameter_count());
        for (std::size_t p = 0; p < first; ++p) order.push_back(p);
        for (bool now : {true, false})
            for (std::size_t i = 0; i < carries; ++i)
                if (settled[i] == now) order.push_back(first + i);
        for (std::size_t p = first + carries; p < body.parameter_count(); ++p) order.push_back(p);

        Values all;
        if (trip) all.push_back(operands[0]);
        for (std::size_t p : order)
            if (p >= before) all.push_back(operands[trip + p - before]);
        ir::Regions regions;
        if (!is_loop) regions.push_back(reordered(*op.regions[0], order, {true}));
        regions.push_back(reordered(body, order, kept));
        std::vector<Type> kept_types;
        for (std::size_t r = 0; r < types.size(); ++r)
            if (kept[r]) kept_types.push_back(types[r]);
        const auto more = static_cast<std::int64_t>(count(settled));
        ir::AttrPtr attr;
        if (is_loop) {
            LoopAttr a = op.get<LoopAttr>();
            a.invariants += more;
            a.carries -= more;
            attr = ir::make_attr(a);
        } else {
            attr = ir::make_attr(WhileAttr{op.get<WhileAttr>().invariants + more});
        }
        const Values out = append_op(builder, op.code, all, std::move(attr), std::move(regions), kept_types, op.location);
        std::size_t at = 0;
        for (std::size_t r = 0; r < types.size(); ++r) results.push_back(kept[r] ? out[at++] : operands[trip + invariants + r]);
        return true;
    }
};

} // namespace

ir::FunctionPtr settle_invariants(const ir::FunctionPtr& f) { return SettleInvariants().run(f); }

} // namespace stithy::pass
