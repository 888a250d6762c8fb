#include "plan/loops/body.hpp"
#include "plan/lower/operations.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;

namespace {

/// Branches of one operation: one-element results go through variables, others into the operation's memory. A result that every branch
/// makes from the same captured array by updates starts in the memory of that result (see base_operand).
class Branches {
public:
    Branches(Writer& w, Scope& outer, const ir::Op& op) : w_(w), outer_(outer), op_(op) {}

    Work run() {
        find_homes();
        for (std::uint32_t r = 0; r < op_.result_count; ++r) {
            variables_.push_back(one(r) ? w_.b.variable(type(r).dtype(), w_.b.fixed(type(r).dtype(), 0)) : no_nest_value);
            memory_.push_back(one(r) ? no_nest_value : outer_.pointer(w_, op_.result(r)));
        }
        read_captures();
        const NestValue which = outer_.scalar(w_, op_.operands[0]);
        double estimate = 0;
        for (std::size_t k = 0; k < op_.regions.size(); ++k) {
            const bool last = k + 1 == op_.regions.size();
            if (!last) w_.b.if_(op_.code == OpCode::if_ ? which : w_.b.compare(ir::Direction::eq, which, w_.b.fixed(w_.b.dtype(which), k)));
            const double mine = emit(*op_.regions[k]);
            estimate = mine < 0 || estimate < 0 ? -1 : std::max(estimate, mine);
            if (!last) w_.b.else_();
        }
        for (std::size_t k = 0; k + 1 < op_.regions.size(); ++k) w_.b.end();
        for (std::uint32_t r = 0; r < op_.result_count; ++r)
            if (one(r)) outer_.set_scalar(w_, op_.result(r), w_.b.get(variables_[r]));
        Work work;
        work.estimate_us = estimate < 0 ? -1 : estimate + 0.05;
        return work;
    }

private:
    [[nodiscard]] const ir::Type& type(std::uint32_t r) const { return outer_.function.type(op_.result(r)); }
    [[nodiscard]] bool one(std::uint32_t r) const { return type(r).elements() == 1; }

    void find_homes() {
        for (std::uint32_t r = 0; r < op_.result_count; ++r) {
            const std::int32_t k = one(r) ? -1 : base_operand(op_, r);
            const bool mine = k > 0 && std::find(homes_.begin(), homes_.end(), k - 1) == homes_.end();
            homes_.push_back(mine ? k - 1 : -1);
        }
    }

    /// Captured values, read before the branches part.
    void read_captures() {
        for (std::size_t p = 0; p + 1 < op_.operands.size(); ++p) {
            const ir::ValueId v = op_.operands[p + 1];
            const ir::Type& t = outer_.function.type(v);
            const auto home = std::find(homes_.begin(), homes_.end(), static_cast<std::int32_t>(p));
            if (t.kind() == ir::TypeKind::token)
                captures_.push_back(no_nest_value);
            else if (home != homes_.end())
                captures_.push_back(memory_[static_cast<std::size_t>(home - homes_.begin())]);
            else
                captures_.push_back(t.elements() == 1 ? outer_.scalar(w_, v) : outer_.pointer(w_, v));
        }
    }

    double emit(const ir::Function& region) {
        BodyScope body(w_, region, homes_);
        for (std::size_t p = 0; p < captures_.size(); ++p)
            if (captures_[p] != no_nest_value) body.set_parameter(p, captures_[p]);
        PoolVector<NestValue> spare(op_.result_count, no_nest_value);
        for (std::uint32_t r = 0; r < op_.result_count; ++r) {
            if (one(r) || body.where(r) != BodyScope::Where::own) continue;
            if (homes_[r] >= 0) spare[r] = w_.scratch(type(r).bytes()); // its memory holds the captured array meanwhile
            body.set_result_pointer(r, homes_[r] >= 0 ? spare[r] : memory_[r]);
        }
        const double estimate = body.emit(w_);
        for (std::uint32_t r = 0; r < op_.result_count; ++r)
            if (one(r)) w_.b.set(variables_[r], body.result_scalar(w_, r));
        for (const bool home : {false, true}) // others may still read a captured array that stands in a result's memory
            for (std::uint32_t r = 0; r < op_.result_count; ++r) {
                if (one(r) || (homes_[r] >= 0) != home) continue;
                if (spare[r] != no_nest_value)
                    copy_memory(w_, type(r), spare[r], memory_[r]);
                else if (body.where(r) == BodyScope::Where::elsewhere)
                    copy_memory(w_, type(r), body.result_pointer(w_, r), memory_[r]);
            }
        return estimate;
    }

    Writer& w_;
    Scope& outer_;
    const ir::Op& op_;
    PoolVector<std::int32_t> homes_;
    PoolVector<NestValue> variables_, memory_, captures_;
};

} // namespace

Work lower_branch(Writer& w, Scope& scope, const ir::Op& op) { return Branches(w, scope, op).run(); }

} // namespace stithy::plan
