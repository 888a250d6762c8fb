#include "plan/nest.hpp"

namespace stithy::plan {

using ir::OpCode;

namespace {

bool is_pointer(const Instruction& i) {
    return i.code == Code::buffer || i.code == Code::offset || i.code == Code::local || (i.code == Code::get && i.aux == 1);
}

bool is_value(Code code) { return code <= Code::get || code == Code::loop; }

/// Whether an elementwise operation is defined on operands of a dtype.
bool accepts(OpCode op, DType t) {
    switch (op) {
    case OpCode::abs:
    case OpCode::negate:
    case OpCode::sign:
    case OpCode::subtract:
    case OpCode::divide:
    case OpCode::remainder: return !t.is_bool();
    case OpCode::power: return !t.is_bool();
    case OpCode::cbrt:
    case OpCode::ceil:
    case OpCode::cosine:
    case OpCode::exponential:
    case OpCode::exponential_minus_one:
    case OpCode::floor:
    case OpCode::is_finite:
    case OpCode::log:
    case OpCode::log_plus_one:
    case OpCode::logistic:
    case OpCode::round_nearest_afz:
    case OpCode::round_nearest_even:
    case OpCode::rsqrt:
    case OpCode::sine:
    case OpCode::sqrt:
    case OpCode::tan:
    case OpCode::tanh:
    case OpCode::atan2: return t.is_floating();
    case OpCode::count_leading_zeros:
    case OpCode::popcnt:
    case OpCode::shift_left:
    case OpCode::shift_right_arithmetic:
    case OpCode::shift_right_logical: return t.is_integer();
    case OpCode::and_:
    case OpCode::or_:
    case OpCode::xor_:
    case OpCode::not_: return !t.is_floating();
    case OpCode::add:
    case OpCode::multiply:
    case OpCode::maximum:
    case OpCode::minimum:
    case OpCode::compare:
    case OpCode::convert:
    case OpCode::select:
    case OpCode::clamp:
    case OpCode::bitcast_convert: return true;
    default: return false;
    }
}

struct Verifier {
    const Nest& nest;
    std::size_t at = 0;
    PoolVector<bool> visible{};
    PoolVector<std::size_t> open{};

    [[noreturn]] void fail(const std::string& why) const {
        internal_error("bad nest at %" + std::to_string(at) + ": " + why + "\n" + nest.text());
    }
    void check(bool condition, const char* why) const {
        if (!condition) fail(why);
    }
    const Instruction& operand(NestValue v) const {
        check(v < at && visible[v], "an operand is missing or out of its block");
        return nest.code[v];
    }
    void value(NestValue v, DType dtype) const {
        const Instruction& i = operand(v);
        check(is_value(i.code) && !is_pointer(i), "an operand is no number");
        check(i.dtype == dtype, "an operand has another dtype than expected");
    }
    DType any_value(NestValue v) const {
        const Instruction& i = operand(v);
        check(is_value(i.code) && !is_pointer(i), "an operand is no number");
        return i.dtype;
    }
    void pointer(NestValue v) const { check(is_pointer(operand(v)), "an operand is no pointer"); }

    void apply(const Instruction& i) const {
        check(ir::is_elementwise(i.op) || i.op == OpCode::bitcast_convert, "the operation is not elementwise");
        const DType t = any_value(i.a);
        const int operands = i.op == OpCode::select || i.op == OpCode::clamp ? 3 : ir::is_binary_elementwise(i.op) ? 2 : 1;
        check((i.b != no_nest_value) == (operands > 1) && (i.c != no_nest_value) == (operands > 2), "wrong number of operands");
        if (i.op == OpCode::select) {
            check(t == boolean, "select needs a bool");
            value(i.b, i.dtype);
            value(i.c, i.dtype);
            return;
        }
        check(accepts(i.op, t), "the operation does not take this dtype");
        if (operands > 1) value(i.b, t);
        if (operands > 2) value(i.c, t);
        if (i.op == OpCode::compare || i.op == OpCode::is_finite)
            check(i.dtype == boolean, "the result must be bool");
        else if (i.op == OpCode::bitcast_convert)
            check(i.dtype.size() == t.size(), "bitcast_convert needs equal widths");
        else if (i.op != OpCode::convert)
            check(i.dtype == t, "the result has another dtype than the operands");
        if (i.op == OpCode::compare) check((i.aux & 7u) < 6 && i.aux < 16, "unknown direction of compare");
    }

    void variable(const Instruction& i) const {
        if (i.code == Code::variable) {
            if (i.aux == 1)
                pointer(i.a);
            else
                value(i.a, i.dtype);
            return;
        }
        const Instruction& v = operand(i.a);
        if (i.code == Code::get) {
            check(v.code == Code::variable || v.code == Code::reduction, "get needs a variable or a reduction");
            check(i.dtype == v.dtype && i.aux == (v.code == Code::variable ? v.aux : 0), "get has another dtype than its variable");
            return;
        }
        check(v.code == (i.code == Code::set ? Code::variable : Code::reduction), "set needs a variable, accumulate a reduction");
        if (i.code == Code::set && v.aux == 1)
            pointer(i.b);
        else
            value(i.b, v.dtype);
    }

    void reduction(const Instruction& i) const {
        const bool known = i.op == OpCode::add || i.op == OpCode::multiply || i.op == OpCode::minimum || i.op == OpCode::maximum ||
                           i.op == OpCode::and_ || i.op == OpCode::or_ || i.op == OpCode::xor_;
        check(known && accepts(i.op, i.dtype), "a reduction cannot combine with this operation");
        value(i.a, i.dtype);
    }

    void close() {
        check(!open.empty(), "nothing to close");
        for (std::size_t v = open.back(); v < at; ++v) visible[v] = false;
        open.pop_back();
    }

    void loop(const Instruction& i) const {
        value(i.a, i64);
        value(i.b, i64);
        check(i.aux <= static_cast<std::uint8_t>(LoopKind::unrolled), "unknown kind of loop");
        if (static_cast<LoopKind>(i.aux) == LoopKind::unrolled)
            check(nest.code[i.a].code == Code::fixed && nest.code[i.b].code == Code::fixed, "bounds of an unrolled loop are fixed");
    }

    void instruction(const Instruction& i) {
        switch (i.code) {
        case Code::param:
        case Code::range_begin:
        case Code::range_end: check(i.dtype == i64, "the value is i64"); break;
        case Code::literal:
        case Code::fixed:
        case Code::buffer: break;
        case Code::apply: apply(i); break;
        case Code::load:
            pointer(i.a);
            value(i.b, i64);
            break;
        case Code::offset:
            pointer(i.a);
            value(i.b, i64);
            break;
        case Code::local: check(i.slot > 0 && i.slot <= 64, "a local array has 1 to 64 elements"); break;
        case Code::store:
            pointer(i.a);
            value(i.b, i64);
            value(i.c, i.dtype);
            break;
        case Code::variable:
        case Code::get:
        case Code::set:
        case Code::accumulate: variable(i); break;
        case Code::reduction: reduction(i); break;
        case Code::loop: loop(i); break;
        case Code::while_: break;
        case Code::test:
            check(!open.empty() && nest.code[open.back()].code == Code::while_, "test stands outside of a while's block");
            value(i.a, boolean);
            break;
        case Code::if_: value(i.a, boolean); break;
        case Code::else_:
            check(!open.empty() && nest.code[open.back()].code == Code::if_, "else outside of an if");
            close();
            break;
        case Code::end: close(); break;
        case Code::argument: operand(i.a); break;
        case Code::call: check(i.slot < nest.symbols.size(), "call of an unknown symbol"); break;
        case Code::prefetch_hint:
            pointer(i.a);
            value(i.b, i64);
            break;
        }
        if (i.code == Code::loop || i.code == Code::while_ || i.code == Code::if_ || i.code == Code::else_) open.push_back(at);
    }

    void run() {
        visible.assign(nest.code.size(), true);
        for (at = 0; at < nest.code.size(); ++at) {
            instruction(nest.code[at]);
            const bool follows =
                at + 1 < nest.code.size() && (nest.code[at + 1].code == Code::argument || nest.code[at + 1].code == Code::call);
            if (nest.code[at].code == Code::argument) check(follows, "an argument is not followed by its call");
        }
        check(open.empty(), "a block is not closed");
    }
};

} // namespace

void verify(const Nest& nest) { Verifier{nest}.run(); }

} // namespace stithy::plan
