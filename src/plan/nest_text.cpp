#include "plan/nest.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace stithy::plan {

namespace {

constexpr std::array<std::string_view, 24> code_names = {
    "param",    "literal", "fixed",     "begin",      "end_of_range", "apply", "load", "get", "buffer", "offset", "local",    "store",
    "variable", "set",     "reduction", "accumulate", "loop",         "while", "test", "if",  "else",   "end",    "argument", "call"};

constexpr std::array<std::string_view, 5> loop_names = {"serial", "vector", "units", "parallel", "unrolled"};
constexpr std::array<std::string_view, 6> direction_names = {"eq", "ne", "ge", "gt", "le", "lt"};

bool has_value(Code code) {
    switch (code) {
    case Code::store:
    case Code::set:
    case Code::accumulate:
    case Code::while_:
    case Code::test:
    case Code::if_:
    case Code::else_:
    case Code::end:
    case Code::argument:
    case Code::call:
    case Code::prefetch_hint: return false;
    default: return true;
    }
}

void append_number(std::string& out, std::uint64_t n, int base = 10) {
    char digits[24];
    const auto done = std::to_chars(digits, digits + sizeof(digits), n, base);
    out.append(digits, done.ptr);
}

void append_operand(std::string& out, NestValue v) {
    if (v == no_nest_value) return;
    out += " %";
    append_number(out, v);
}

/// Everything of an instruction but its operands.
void append_head(std::string& out, const Nest& nest, const Instruction& i) {
    switch (i.code) {
    case Code::apply:
        out += ir::name(i.op);
        if (i.op == ir::OpCode::compare) {
            out += '.';
            out += direction_names[(i.aux & 7u) % direction_names.size()];
            if (i.aux >= 8) out += ".total";
        }
        break;
    case Code::loop:
        out += "loop ";
        out += loop_names[i.aux % loop_names.size()];
        if (i.flags & flag_reverse) out += " reverse";
        return;
    case Code::reduction:
        out += "reduction ";
        out += ir::name(i.op);
        break;
    case Code::call:
        out += "call ";
        out += i.slot < nest.symbols.size() ? nest.symbols[i.slot] : std::string("?");
        return;
    default: out += code_names[static_cast<std::size_t>(i.code) % code_names.size()];
    }
    if (!has_value(i.code) && i.code != Code::store && i.code != Code::set) return;
    out += ' ';
    if (i.aux == 1 && (i.code == Code::variable || i.code == Code::get || i.code == Code::set))
        out += "pointer";
    else if (i.code == Code::buffer || i.code == Code::offset)
        out += "pointer";
    else
        out += i.dtype.name();
}

void append_slot(std::string& out, const Instruction& i) {
    switch (i.code) {
    case Code::param:
    case Code::literal:
    case Code::buffer:
        out += " #";
        append_number(out, i.slot);
        break;
    case Code::local:
        out += " [";
        append_number(out, i.slot);
        out += ']';
        break;
    case Code::fixed:
        out += " 0x";
        append_number(out, i.slot, 16);
        break;
    default: break;
    }
}

} // namespace

std::string Nest::text() const {
    std::string out;
    out.reserve(code.size() * 32);
    std::size_t depth = 0;
    for (std::size_t at = 0; at < code.size(); ++at) {
        const Instruction& i = code[at];
        if ((i.code == Code::end || i.code == Code::else_) && depth > 0) --depth;
        out.append(2 * depth, ' ');
        if (has_value(i.code)) {
            out += '%';
            append_number(out, at);
            out += " = ";
        }
        append_head(out, *this, i);
        append_slot(out, i);
        for (NestValue v : {i.a, i.b, i.c}) append_operand(out, v);
        out += '\n';
        if (i.code == Code::loop || i.code == Code::while_ || i.code == Code::if_ || i.code == Code::else_) ++depth;
    }
    return out;
}

} // namespace stithy::plan
