#include "ir/structured.hpp"
#include "plan/loops/body.hpp"
#include "plan/lower/operations.hpp"

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {

/// Parameters that are the same in every iteration.
void give_invariant(Writer& w, Scope& outer, BodyScope& body, std::size_t parameter, ValueId operand) {
    const ir::Type& type = outer.function.type(operand);
    if (type.kind() == ir::TypeKind::token) return;
    body.set_parameter(parameter, type.elements() == 1 ? outer.scalar(w, operand) : outer.pointer(w, operand));
}

void check_types(const ir::Function& body) {
    for (const ir::Type& t : body.parameter_types())
        if (t.is_stack() || t.kind() == ir::TypeKind::tuple)
            fail("loop", "values of type " + t.str() + " are not supported in compiled loops yet");
}

/// A counted loop: one piece of code, its counter in a register.
class CountedLoop {
public:
    CountedLoop(Writer& w, Scope& outer, const ir::Op& op)
        : w_(w), b_(w.b), outer_(outer), op_(op), attr_(op.get<ir::LoopAttr>()), layout_(attr_), body_(w, *op.regions[0], homes(layout_)),
          carries_(w, outer, body_, carries(op, layout_)) {}

    Work run() {
        check_types(*op_.regions[0]);
        for (std::size_t i = 0; i < layout_.invariants; ++i)
            give_invariant(w_, outer_, body_, layout_.invariant(i), op_.operands[layout_.operand_of(layout_.invariant(i))]);
        carries_.begin();
        for (std::size_t i = 0; i < layout_.xs; ++i)
            outside_.push_back(outer_.pointer_or_local(w_, op_.operands[layout_.operand_of(layout_.x(i))]));
        for (std::size_t i = 0; i < layout_.ys; ++i) stack(i);
        const NestValue trips = trip_count();
        counter_ = b_.loop(LoopKind::serial, b_.fixed_int(0), trips, attr_.reverse);
        body_.set_parameter(0, counter_);
        carries_.enter(body_);
        for (std::size_t i = 0; i < layout_.xs; ++i) give_slice(i);
        for (std::size_t i = 0; i < layout_.ys; ++i) point_at_slice(i);
        const double estimate = body_.emit(w_);
        for (std::size_t i = 0; i < layout_.ys; ++i) keep_slice(i);
        carries_.next();
        b_.end();
        carries_.finish(trips);
        for (std::size_t i = 0; i < layout_.ys; ++i) finish_stack(i);
        Work work;
        work.estimate_us = attr_.length < 0 || estimate < 0 ? -1 : 0.05 + static_cast<double>(attr_.length) * (estimate + 0.002);
        return work;
    }

private:
    static PoolVector<std::int32_t> homes(const ir::LoopLayout& layout) {
        PoolVector<std::int32_t> home;
        for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i)
            home.push_back(static_cast<std::int32_t>(layout.carry(0) + i));
        home.resize(layout.results(), -1);
        return home;
    }

    static PoolVector<Carries::Carry> carries(const ir::Op& op, const ir::LoopLayout& layout) {
        PoolVector<Carries::Carry> list;
        for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i) {
            const std::size_t p = layout.carry(0) + i;
            list.push_back({op.operands[layout.operand_of(p)], op.result(static_cast<std::uint32_t>(i)), p, i});
        }
        return list;
    }

    NestValue trip_count() {
        if (attr_.length >= 0) return w_.number(attr_.length);
        return outer_.scalar(w_, op_.operands[0]);
    }

    [[nodiscard]] const ir::Type& slice_type(std::size_t parameter) const { return body_.function.type(static_cast<ValueId>(parameter)); }

    void give_slice(std::size_t i) {
        const std::size_t p = layout_.x(i);
        const ir::Type& type = slice_type(p);
        if (type.elements() == 1)
            body_.set_parameter(p, b_.load(type.dtype(), outside_[i], counter_));
        else
            body_.set_parameter(p, slice_pointer(outside_[i], type));
    }

    NestValue slice_pointer(NestValue whole, const ir::Type& type) {
        if (type.elements() == 0) return whole;
        return b_.offset(whole, b_.mul(counter_, w_.number(type.bytes())));
    }

    [[nodiscard]] std::size_t y_result(std::size_t i) const { return layout_.y_result(i); }
    [[nodiscard]] const ir::Type& y_type(std::size_t i) const { return body_.function.type(body_.function.results()[y_result(i)]); }
    [[nodiscard]] ValueId y_value(std::size_t i) const { return op_.result(static_cast<std::uint32_t>(y_result(i))); }
    [[nodiscard]] bool one(std::size_t i) const { return outer_.function.type(y_value(i)).elements() == 1; }

    /// Memory of a stacked result; a single element goes through the frame.
    void stack(std::size_t i) { stacks_.push_back(one(i) ? b_.local(y_type(i).dtype(), 1) : outer_.pointer(w_, y_value(i))); }

    void finish_stack(std::size_t i) {
        if (one(i)) outer_.set_scalar(w_, y_value(i), b_.load(y_type(i).dtype(), stacks_[i], b_.fixed_int(0)));
    }

    void point_at_slice(std::size_t i) {
        if (y_type(i).elements() != 1) body_.set_result_pointer(y_result(i), slice_pointer(stacks_[i], y_type(i)));
    }

    void keep_slice(std::size_t i) {
        const ir::Type& type = y_type(i);
        switch (body_.where(y_result(i))) {
        case BodyScope::Where::in_register: b_.store(type.dtype(), stacks_[i], counter_, body_.result_scalar(w_, y_result(i))); break;
        case BodyScope::Where::own: break;
        default: copy_memory(w_, type, body_.result_pointer(w_, y_result(i)), slice_pointer(stacks_[i], type)); break;
        }
    }

    Writer& w_;
    NestBuilder& b_;
    Scope& outer_;
    const ir::Op& op_;
    const ir::LoopAttr& attr_;
    ir::LoopLayout layout_;
    BodyScope body_;
    Carries carries_;
    PoolVector<NestValue> outside_, stacks_;
    NestValue counter_ = no_nest_value;
};

} // namespace

Work lower_loop(Writer& w, Scope& scope, const ir::Op& op) { return CountedLoop(w, scope, op).run(); }

Work lower_while(Writer& w, Scope& scope, const ir::Op& op) {
    const auto invariants = static_cast<std::size_t>(op.get<ir::WhileAttr>().invariants);
    check_types(*op.regions[1]);
    PoolVector<std::int32_t> home;
    PoolVector<Carries::Carry> list;
    for (std::size_t p = invariants; p < op.operands.size(); ++p) {
        home.push_back(static_cast<std::int32_t>(p));
        list.push_back({op.operands[p], op.result(static_cast<std::uint32_t>(p - invariants)), p, p - invariants});
    }
    BodyScope condition(w, *op.regions[0], {-1});
    BodyScope body(w, *op.regions[1], home);
    Carries carries(w, scope, body, std::move(list));
    for (std::size_t p = 0; p < invariants; ++p) {
        give_invariant(w, scope, condition, p, op.operands[p]);
        give_invariant(w, scope, body, p, op.operands[p]);
    }
    carries.begin();
    w.b.while_();
    carries.enter(condition);
    condition.emit(w);
    w.b.test(condition.result_scalar(w, 0));
    carries.enter(body);
    body.emit(w);
    carries.next();
    w.b.end();
    carries.finish(no_nest_value);
    Work work;
    work.estimate_us = -1;
    return work;
}

} // namespace stithy::plan
