#include "plan/loops/body.hpp"

namespace stithy::plan {

using ir::OpCode;
using Where = BodyScope::Where;

Carries::Carries(Writer& w, Scope& outer, BodyScope& body, PoolVector<Carry> carries)
    : w_(w), b_(w.b), outer_(outer), body_(body), carries_(std::move(carries)), states_(carries_.size()) {}

/// Whether a carry alternates between two pieces of memory.
bool Carries::swaps(const Carry& c) const {
    const Where where = body_.where(c.body_result);
    return where == Where::own || where == Where::elsewhere;
}

/// Carries whose new value is the present value of another take over that one's memory: (p, q) -> (q, p), or (older, old) -> (old, new).
void Carries::find_moves() {
    PoolVector<bool> taken(carries_.size(), false);
    const auto large = [&](const Carry& c) { return type(c).elements() != 1 && !is_small(type(c)) && swaps(c); };
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        if (!large(carries_[i]) || body_.where(carries_[i].body_result) != Where::elsewhere) continue;
        for (std::size_t j = 0; j < carries_.size(); ++j) {
            if (j == i || taken[j] || !large(carries_[j]) || !body_.is_parameter(carries_[i].body_result, carries_[j].parameter)) continue;
            states_[i].from = static_cast<std::int32_t>(j);
            states_[j].to = static_cast<std::int32_t>(i);
            taken[j] = true;
            break;
        }
    }
}

void Carries::begin() {
    find_moves();
    bool alternate = false;
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const Carry& c = carries_[i];
        State& s = states_[i];
        if (type(c).elements() == 1) {
            s.variable = b_.variable(type(c).dtype(), outer_.scalar(w_, c.operand));
        } else if (is_small(type(c))) {
            const auto count = static_cast<std::size_t>(type(c).elements());
            s.home = b_.local(type(c).dtype(), count);
            copy_memory(w_, type(c), outer_.pointer(w_, c.result), s.home);
            if (swaps(c)) s.spare = b_.local(type(c).dtype(), count);
        } else {
            s.home = outer_.pointer(w_, c.result);
            if (!swaps(c)) continue;
            s.variable = b_.pointer_variable(s.home);
            s.spare = w_.scratch(type(c).bytes()); // of one that moves: where it stays while all go home
            if (s.from >= 0) continue;
            alternate = true;
            s.other = b_.pointer_variable(s.to >= 0 ? w_.scratch(type(c).bytes()) : s.spare);
        }
    }
    if (alternate) parity_ = b_.variable(i64, b_.fixed_int(0));
}

void Carries::enter(BodyScope& region) {
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const Carry& c = carries_[i];
        const State& s = states_[i];
        region.set_parameter(c.parameter, s.variable == no_nest_value ? s.home : b_.get(s.variable));
        if (&region == &body_ && s.spare != no_nest_value && s.from < 0)
            region.set_result_pointer(c.body_result, s.other == no_nest_value ? s.spare : b_.get(s.other));
    }
}

void Carries::next() {
    // All new values first: one carry's new value may be another's old one.
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const Carry& c = carries_[i];
        const State& s = states_[i];
        if (s.spare != no_nest_value && s.from < 0 && body_.where(c.body_result) == Where::elsewhere)
            copy_memory(w_, type(c), body_.result_pointer(w_, c.body_result), s.other == no_nest_value ? s.spare : b_.get(s.other));
    }
    PoolVector<NestValue> scalars(carries_.size(), no_nest_value);
    for (std::size_t i = 0; i < carries_.size(); ++i)
        if (type(carries_[i]).elements() == 1) scalars[i] = body_.result_scalar(w_, carries_[i].body_result);
    PoolVector<NestValue> present(carries_.size(), no_nest_value);
    for (std::size_t i = 0; i < carries_.size(); ++i)
        if (states_[i].other != no_nest_value || states_[i].from >= 0) present[i] = b_.get(states_[i].variable);
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const State& s = states_[i];
        if (scalars[i] != no_nest_value) {
            b_.set(s.variable, scalars[i]);
        } else if (s.from >= 0) {
            b_.set(s.variable, present[static_cast<std::size_t>(s.from)]);
        } else if (s.other != no_nest_value) {
            std::size_t last = i; // the memory that nobody took over
            while (states_[last].to >= 0) last = static_cast<std::size_t>(states_[last].to);
            const NestValue coming = b_.get(s.other);
            b_.set(s.variable, coming);
            b_.set(s.other, present[last]);
        } else if (s.spare != no_nest_value) {
            copy_memory(w_, type(carries_[i]), s.spare, s.home);
        }
    }
    if (parity_ != no_nest_value) b_.set(parity_, b_.apply(OpCode::xor_, i64, b_.get(parity_), b_.fixed_int(1)));
}

void Carries::finish(NestValue) {
    const auto moves = [](const State& s) { return s.from >= 0 || s.to >= 0; };
    if (parity_ != no_nest_value) {
        b_.if_(b_.compare(ir::Direction::ne, b_.get(parity_), b_.fixed_int(0)));
        for (std::size_t i = 0; i < carries_.size(); ++i)
            if (states_[i].other != no_nest_value && !moves(states_[i]))
                copy_memory(w_, type(carries_[i]), states_[i].spare, states_[i].home);
        b_.end();
    }
    // Any of those that move may lie in the home of any other.
    for (std::size_t i = 0; i < carries_.size(); ++i)
        if (moves(states_[i])) copy_memory(w_, type(carries_[i]), b_.get(states_[i].variable), states_[i].spare);
    for (std::size_t i = 0; i < carries_.size(); ++i)
        if (moves(states_[i])) copy_memory(w_, type(carries_[i]), states_[i].spare, states_[i].home);
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const Carry& c = carries_[i];
        const State& s = states_[i];
        if (type(c).elements() == 1)
            outer_.set_scalar(w_, c.result, b_.get(s.variable));
        else if (is_small(type(c)))
            copy_memory(w_, type(c), s.home, outer_.pointer(w_, c.result));
    }
}

} // namespace stithy::plan
