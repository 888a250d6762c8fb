#include "transform/dce.hpp"
#include "transform/transpose.hpp"

namespace stithy::transform {

namespace {

Mask operand_mask(const Op& op, const Mask& linear, std::size_t first) {
    Mask mask;
    for (std::size_t i = first; i < op.operands.size(); ++i) mask.push_back(linear[op.operands[i]]);
    return mask;
}

Mask reached_results(const Op& op, const Cotangents& cotangents) {
    Mask mask;
    for (std::uint32_t r = 0; r < op.result_count; ++r) mask.push_back(!cotangents.is_zero(op.result(r)));
    return mask;
}

void transpose_call(Builder& builder, const Op& op, const Mask& linear, const Values& known, Cotangents& cotangents) {
    const Mask mask = operand_mask(op, linear, 0), reached = reached_results(op, cotangents);
    const FunctionPtr callee = transpose(op.regions[0], mask, reached);
    Values operands;
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (!mask[i]) operands.push_back(known[op.operands[i]]);
    for (std::uint32_t r = 0; r < op.result_count; ++r)
        if (reached[r]) operands.push_back(cotangents.take(op.result(r)));
    const Values out = append_op(builder, OpCode::call, operands, op.attr, {callee}, callee->result_types(), op.location);
    std::size_t at = 0;
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (mask[i]) cotangents.add(op.operands[i], out[at++]);
}

void transpose_case(Builder& builder, const Op& op, const Mask& linear, const Values& known, Cotangents& cotangents) {
    internal_check(!linear[op.operands[0]], "a branch index cannot be linear");
    const Mask mask = operand_mask(op, linear, 1), reached = reached_results(op, cotangents);
    Values operands{known[op.operands[0]]};
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (!mask[i]) operands.push_back(known[op.operands[i + 1]]);
    for (std::uint32_t r = 0; r < op.result_count; ++r)
        if (reached[r]) operands.push_back(cotangents.take(op.result(r)));
    std::vector<FunctionPtr> branches;
    for (const FunctionPtr& branch : op.regions) branches.push_back(transpose(branch, mask, reached));
    const std::vector<Type> types = branches[0]->result_types();
    if (types.empty()) return;
    const Values out = append_op(builder, op.code, operands, op.attr, std::move(branches), types, op.location);
    std::size_t at = 0;
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (mask[i]) cotangents.add(op.operands[i + 1], out[at++]);
}

/// Transposes a loop to a loop that runs the other way: linear invariants and accumulators change places, linear xs and ys too, carries
/// stay.
class LoopTransposer {
public:
    LoopTransposer(Builder& builder, const Op& op, const Mask& linear, const Values& known, Cotangents& cotangents)
        : builder_(builder), op_(op), outer_linear_(linear), known_(known), cotangents_(cotangents), attr_(op.get<LoopAttr>()),
          layout_(attr_), body_(*op.regions[0]) {
        linear_.push_back(false);
        for (std::size_t p = 1; p < layout_.parameters(); ++p)
            linear_.push_back(linear[op.operands[layout_.operand_of(p)]] || layout_.is_accumulator(p));
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (linear[op.result(static_cast<std::uint32_t>(i))]) linear_[layout_.carry(i)] = true;
        linear_at_ = linear_values(body_, linear_);
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (!linear_[layout_.carry(i)]) internal_error("a loop that is transposed carries a value that is not linear");
        reached_ = reached_results(op, cotangents);
        find_active();
    }

    void run() {
        make_body();
        Values operands;
        if (layout_.trip) operands.push_back(known_[op_.operands[0]]);
        append_known_invariants(operands);
        append_accumulator_cotangents(operands);
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (active_[i]) operands.push_back(instantiate(builder_, cotangents_.take(result(i)), body_.type(parameter(layout_.carry(i)))));
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (linear_[layout_.invariant(i)]) operands.push_back(cotangents_.take_accumulator(op_.operands[layout_.trip + i]));
        for (std::size_t i = 0; i < layout_.xs; ++i)
            if (!linear_[layout_.x(i)]) operands.push_back(known_[op_.operands[layout_.operand_of(layout_.x(i))]]);
        for (std::size_t i = 0; i < layout_.ys; ++i)
            if (reached_[layout_.y_result(i)]) operands.push_back(cotangents_.take(result(layout_.y_result(i))));
        const Values out = append_op(builder_, OpCode::loop, operands, ir::make_attr(new_attr_), {new_body_},
                                     ir::loop_result_types(new_attr_, *new_body_), op_.location);
        std::size_t at = 0;
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (active_[i]) add(op_.operands[layout_.operand_of(layout_.carry(i))], out[at++]);
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (linear_[layout_.invariant(i)]) cotangents_.set_accumulator(op_.operands[layout_.trip + i], out[at++]);
        for (std::size_t i = 0; i < layout_.xs; ++i)
            if (linear_[layout_.x(i)]) cotangents_.add(op_.operands[layout_.operand_of(layout_.x(i))], out[at++]);
        for (std::size_t i = 0; i < layout_.accumulators; ++i) {
            // what goes into an accumulator comes out unchanged
            const std::size_t r = layout_.accumulator_result(i);
            if (reached_[r]) add(op_.operands[layout_.operand_of(layout_.accumulator(i))], cotangents_.take(result(r)));
        }
    }

private:
    /// First values of carries and accumulators may be constants: nothing flows on to them.
    void add(ValueId operand, Value cotangent) {
        if (outer_linear_[operand]) cotangents_.add(operand, cotangent);
    }
    [[nodiscard]] ValueId result(std::size_t r) const { return op_.result(static_cast<std::uint32_t>(r)); }
    static ValueId parameter(std::size_t p) { return static_cast<ValueId>(p); }

    /// Carries whose cotangent is not zero at some step: a fixed point backwards over what each step's results depend on.
    void find_active() {
        active_.assign(layout_.carries, false);
        for (std::size_t i = 0; i < layout_.carries; ++i) active_[i] = reached_[i];
        for (bool changed = true; changed;) {
            changed = false;
            Mask results = reached_;
            for (std::size_t i = 0; i < layout_.carries; ++i) results[i] = active_[i];
            const Mask used = needed_parameters(body_, results);
            for (std::size_t i = 0; i < layout_.carries; ++i)
                if (used[layout_.carry(i)] && !active_[i]) active_[i] = changed = true;
        }
    }

    void append_known_invariants(Values& operands) {
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (!linear_[layout_.invariant(i)]) operands.push_back(known_[op_.operands[layout_.trip + i]]);
    }

    void append_accumulator_cotangents(Values& operands) {
        for (std::size_t i = 0; i < layout_.accumulators; ++i)
            if (reached_[layout_.accumulator_result(i)]) operands.push_back(cotangents_.take(result(layout_.accumulator_result(i))));
    }

    Value add_parameter(Builder& b, const Type& type, std::int64_t& n, bool linear) {
        ++n;
        return {b, b.parameter(type, linear)};
    }

    void make_body() {
        Builder b(body_.name() + "_transposed");
        new_attr_ = attr_;
        new_attr_.invariants = new_attr_.carries = new_attr_.accumulators = new_attr_.xs = new_attr_.ys = 0;
        new_attr_.reverse = !attr_.reverse;
        Values known(body_.value_count()), accumulators(layout_.invariants), given(layout_.results());
        known[0] = Value(b, b.parameter(body_.type(0)));
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (const std::size_t p = layout_.invariant(i); !linear_[p])
                known[p] = add_parameter(b, body_.type(parameter(p)), new_attr_.invariants, false);
        for (std::size_t i = 0; i < layout_.accumulators; ++i)
            if (const std::size_t r = layout_.accumulator_result(i); reached_[r])
                given[r] = add_parameter(b, body_.type(parameter(layout_.accumulator(i))).as_tensor(), new_attr_.invariants, true);
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (active_[i]) given[i] = add_parameter(b, body_.type(parameter(layout_.carry(i))), new_attr_.carries, true);
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (const std::size_t p = layout_.invariant(i); linear_[p]) {
                const Type& t = body_.type(parameter(p));
                accumulators[i] = add_parameter(b, Type::accumulator(t.dtype(), t.shape()), new_attr_.accumulators, true);
            }
        for (std::size_t i = 0; i < layout_.xs; ++i)
            if (const std::size_t p = layout_.x(i); !linear_[p]) known[p] = add_parameter(b, body_.type(parameter(p)), new_attr_.xs, false);
        for (std::size_t i = 0; i < layout_.ys; ++i)
            if (const std::size_t r = layout_.y_result(i); reached_[r])
                given[r] = add_parameter(b, body_.type(body_.results()[r]), new_attr_.xs, true);
        transpose_body(b, known, accumulators, given);
    }

    void transpose_body(Builder& b, Values& known, const Values& accumulators, const Values& given) {
        for (const Op& op : body_.ops()) {
            bool is_known = true;
            for (std::uint32_t r = 0; r < op.result_count; ++r) is_known = is_known && !linear_at_[op.result(r)];
            if (!is_known) continue;
            const Values results = copy_op(b, body_, op, lookup(op.operands, known));
            for (std::uint32_t r = 0; r < op.result_count; ++r) known[op.result(r)] = results[r];
        }
        Cotangents cotangents(b, body_);
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (accumulators[i]) cotangents.set_accumulator(parameter(layout_.invariant(i)), accumulators[i]);
        for (std::size_t r = 0; r < given.size(); ++r)
            if (given[r] && linear_at_[body_.results()[r]]) cotangents.add(body_.results()[r], given[r]);
        transpose_inline(b, body_, linear_at_, known, cotangents);

        std::vector<ValueId> results;
        for (std::size_t i = 0; i < layout_.carries; ++i)
            if (active_[i]) {
                const ValueId p = parameter(layout_.carry(i));
                results.push_back(instantiate(b, cotangents.take(p), body_.type(p)).id());
            }
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            if (accumulators[i]) results.push_back(cotangents.take_accumulator(parameter(layout_.invariant(i))).id());
        for (std::size_t i = 0; i < layout_.xs; ++i)
            if (const std::size_t p = layout_.x(i); linear_[p]) {
                results.push_back(instantiate(b, cotangents.take(parameter(p)), body_.type(parameter(p))).id());
                ++new_attr_.ys;
            }
        new_body_ = b.finish(std::move(results));
    }

    Builder& builder_;
    const Op& op_;
    const Mask& outer_linear_;
    const Values& known_;
    Cotangents& cotangents_;
    LoopAttr attr_, new_attr_;
    LoopLayout layout_;
    const Function& body_;
    Mask linear_, linear_at_, reached_, active_;
    FunctionPtr new_body_;
};

} // namespace

void transpose_structured(Builder& builder, const Function& f, const Op& op, const Mask& linear, const Values& known,
                          Cotangents& cotangents) {
    static_cast<void>(f);
    switch (op.code) {
    case OpCode::call: return transpose_call(builder, op, linear, known, cotangents);
    case OpCode::case_:
    case OpCode::if_: return transpose_case(builder, op, linear, known, cotangents);
    case OpCode::loop: return LoopTransposer(builder, op, linear, known, cotangents).run();
    default: internal_error("transpose_structured: not a structured operation");
    }
}

} // namespace stithy::transform
