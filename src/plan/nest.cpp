#include "plan/nest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stithy::plan {

using ir::OpCode;

bool operator==(const Nest& a, const Nest& b) {
    return a.code.size() == b.code.size() && a.symbols == b.symbols &&
           (a.code.empty() || std::memcmp(a.code.data(), b.code.data(), a.code.size() * sizeof(Instruction)) == 0);
}

namespace {

std::size_t hash_of(const Instruction& i) {
    std::uint64_t words[4];
    std::memcpy(words, &i, sizeof(words));
    // four products side by side; odd constants of mixed bits
    std::uint64_t h =
        words[0] * 0x9e3779b97f4a7c15u + words[1] * 0xff51afd7ed558ccdu + words[2] * 0xc4ceb9fe1a85ec53u + words[3] * 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
    return static_cast<std::size_t>(h ^ (h >> 15));
}

/// Of all instructions and names. Quicker than `hash128`, and good enough where the code is compared on a hit.
runtime::Hash128 hash_of(const Nest& nest) {
    constexpr std::uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xff51afd7ed558ccdu; // odd words of mixed bits
    runtime::Hash128 h{nest.code.size(), nest.symbols.size()};
    for (const Instruction& i : nest.code) {
        std::uint64_t words[4];
        std::memcpy(words, &i, sizeof(words));
        h.low = (std::rotl(h.low, 23) ^ words[0] ^ std::rotl(words[2], 32)) * k0;
        h.high = (std::rotl(h.high, 29) ^ words[1] ^ std::rotl(words[3], 16)) * k1;
    }
    for (const std::string& symbol : nest.symbols) h.low = runtime::hash128(symbol, h.low).low;
    const std::uint64_t low = (h.low ^ std::rotl(h.high, 32)) * k1, high = (h.high ^ h.low >> 31) * k0;
    return {low ^ low >> 29, high ^ high >> 32};
}

bool same(const Instruction& a, const Instruction& b) { return std::memcmp(&a, &b, sizeof(Instruction)) == 0; }

/// Next to `next_`: the value was never shared, or its block has ended.
constexpr NestValue not_listed = no_nest_value - 1;

bool is_commutative(OpCode op) {
    return op == OpCode::add || op == OpCode::multiply || op == OpCode::and_ || op == OpCode::or_ || op == OpCode::xor_;
}

} // namespace

NestValue NestBuilder::append(const Instruction& instruction) {
    if (nest_.code.empty()) {
        nest_.code.reserve(96);
        next_.reserve(96);
    }
    nest_.code.push_back(instruction);
    next_.push_back(not_listed);
    return static_cast<NestValue>(nest_.code.size() - 1);
}

void NestBuilder::grow() {
    heads_.assign(std::max<std::size_t>(256, heads_.size() * 2), no_nest_value);
    for (NestValue v = 0; v < next_.size(); ++v) {
        if (next_[v] == not_listed) continue;
        NestValue& head = heads_[hash_of(nest_.code[v]) & (heads_.size() - 1)];
        next_[v] = head;
        head = v;
    }
}

NestValue NestBuilder::shared(const Instruction& instruction) {
    if (count_ >= heads_.size()) grow();
    NestValue& head = heads_[hash_of(instruction) & (heads_.size() - 1)];
    for (NestValue v = head; v != no_nest_value; v = next_[v]) {
        if (same(nest_.code[v], instruction)) return v;
    }
    const NestValue v = append(instruction);
    next_[v] = head;
    head = v;
    ++count_;
    return v;
}

void NestBuilder::forget(std::size_t first) {
    for (std::size_t v = nest_.code.size(); v-- > first;) {
        if (next_[v] == not_listed) continue;
        heads_[hash_of(nest_.code[v]) & (heads_.size() - 1)] = next_[v];
        next_[v] = not_listed;
        --count_;
    }
}

void NestBuilder::open_block(const Instruction& instruction) { open_.push_back(append(instruction)); }

NestValue NestBuilder::param(std::size_t slot) { return shared({.code = Code::param, .slot = slot}); }
NestValue NestBuilder::literal(DType dtype, std::size_t slot) { return shared({.code = Code::literal, .dtype = dtype, .slot = slot}); }
NestValue NestBuilder::fixed(DType dtype, std::uint64_t bits) { return shared({.code = Code::fixed, .dtype = dtype, .slot = bits}); }
NestValue NestBuilder::range_begin() { return shared({.code = Code::range_begin}); }
NestValue NestBuilder::range_end() { return shared({.code = Code::range_end}); }
NestValue NestBuilder::buffer(std::size_t slot) { return shared({.code = Code::buffer, .slot = slot}); }

/// The value that an i64 operation simplifies to, if it is one of its operands.
NestValue NestBuilder::simplified(OpCode op, NestValue a, NestValue b) const {
    const auto is_fixed = [&](NestValue v, std::uint64_t bits) { return nest_.code[v].code == Code::fixed && nest_.code[v].slot == bits; };
    switch (op) {
    case OpCode::add: return is_fixed(b, 0) ? a : no_nest_value;
    case OpCode::subtract: return is_fixed(b, 0) ? a : no_nest_value;
    case OpCode::multiply: return is_fixed(b, 1) ? a : is_fixed(b, 0) ? b : no_nest_value;
    case OpCode::divide: return is_fixed(b, 1) ? a : no_nest_value;
    case OpCode::minimum:
    case OpCode::maximum: {
        if (a == b) return a;
        // max(min(x, c), c) is c: the clamped index of a constant 0.
        const OpCode other = op == OpCode::minimum ? OpCode::maximum : OpCode::minimum;
        const auto holds = [&](NestValue inner, NestValue c) {
            const Instruction& i = nest_.code[inner];
            return i.code == Code::apply && i.op == other && (i.a == c || i.b == c);
        };
        return holds(a, b) ? b : holds(b, a) ? a : no_nest_value;
    }
    default: return no_nest_value;
    }
}

NestValue NestBuilder::apply(OpCode op, DType dtype, NestValue a, NestValue b, NestValue c, std::uint8_t aux) {
    const bool plain = nest_.code[a].dtype == dtype;
    if (op == OpCode::convert && plain) return a;
    if (dtype == i64 && plain && b != no_nest_value && c == no_nest_value) {
        if (is_commutative(op) &&
            (nest_.code[a].code == Code::fixed ? nest_.code[b].code != Code::fixed : nest_.code[b].code != Code::fixed && b < a))
            std::swap(a, b);
        if (const NestValue v = simplified(op, a, b); v != no_nest_value) return v;
        const Instruction &x = nest_.code[a], &y = nest_.code[b];
        if (x.code == Code::fixed && y.code == Code::fixed) {
            if (op == OpCode::add) return fixed(i64, x.slot + y.slot);
            if (op == OpCode::subtract) return fixed(i64, x.slot - y.slot);
            if (op == OpCode::multiply) return fixed(i64, x.slot * y.slot);
        }
    }
    return shared({.code = Code::apply, .dtype = dtype, .op = op, .aux = aux, .a = a, .b = b, .c = c});
}

NestValue NestBuilder::compare(ir::Direction direction, NestValue a, NestValue b, ir::CompareKind kind) {
    const auto aux = static_cast<std::uint8_t>(static_cast<unsigned>(direction) + 8u * static_cast<unsigned>(kind));
    return apply(OpCode::compare, boolean, a, b, no_nest_value, aux);
}

NestValue NestBuilder::load(DType dtype, NestValue pointer, NestValue index) {
    return append({.code = Code::load, .dtype = dtype, .a = pointer, .b = index});
}

NestValue NestBuilder::get(NestValue variable) {
    const Instruction& v = nest_.code[variable];
    return append({.code = Code::get, .dtype = v.dtype, .aux = v.code == Code::variable ? v.aux : std::uint8_t{0}, .a = variable});
}

NestValue NestBuilder::offset(NestValue pointer, NestValue bytes) {
    if (nest_.code[bytes].code == Code::fixed && nest_.code[bytes].slot == 0) return pointer;
    return shared({.code = Code::offset, .a = pointer, .b = bytes});
}

NestValue NestBuilder::local(DType dtype, std::size_t count) { return append({.code = Code::local, .dtype = dtype, .slot = count}); }

void NestBuilder::store(DType dtype, NestValue pointer, NestValue index, NestValue value) {
    append({.code = Code::store, .dtype = dtype, .a = pointer, .b = index, .c = value});
}

void NestBuilder::prefetch_hint(DType dtype, NestValue pointer, NestValue index, bool writes) {
    append({.code = Code::prefetch_hint, .dtype = dtype, .aux = static_cast<std::uint8_t>(writes ? 1 : 0), .a = pointer, .b = index});
}

NestValue NestBuilder::variable(DType dtype, NestValue first) { return append({.code = Code::variable, .dtype = dtype, .a = first}); }
NestValue NestBuilder::pointer_variable(NestValue first) { return append({.code = Code::variable, .aux = 1, .a = first}); }
void NestBuilder::set(NestValue variable, NestValue value) {
    const Instruction& v = nest_.code[variable];
    append({.code = Code::set, .dtype = v.dtype, .aux = v.aux, .a = variable, .b = value});
}

NestValue NestBuilder::reduction(OpCode combine, DType dtype, NestValue first) {
    return append({.code = Code::reduction, .dtype = dtype, .op = combine, .a = first});
}
void NestBuilder::accumulate(NestValue reduction, NestValue value) {
    append({.code = Code::accumulate, .dtype = nest_.code[reduction].dtype, .a = reduction, .b = value});
}

NestValue NestBuilder::loop(LoopKind kind, NestValue lower, NestValue upper, bool reverse) {
    open_block({.code = Code::loop,
                .aux = static_cast<std::uint8_t>(kind),
                .flags = reverse ? flag_reverse : std::uint8_t{0},
                .a = lower,
                .b = upper});
    return static_cast<NestValue>(open_.back());
}
void NestBuilder::while_() { open_block({.code = Code::while_}); }
void NestBuilder::test(NestValue predicate) { append({.code = Code::test, .a = predicate}); }
void NestBuilder::if_(NestValue predicate) { open_block({.code = Code::if_, .a = predicate}); }

void NestBuilder::else_() {
    internal_check(!open_.empty() && nest_.code[open_.back()].code == Code::if_, "else outside of an if");
    forget(open_.back());
    open_.back() = append({.code = Code::else_});
}

void NestBuilder::end() {
    internal_check(!open_.empty(), "end without a block");
    forget(open_.back());
    open_.pop_back();
    append({.code = Code::end});
}

void NestBuilder::call(const std::string& symbol, std::initializer_list<NestValue> arguments) {
    call(symbol, PoolVector<NestValue>(arguments));
}

void NestBuilder::call(const std::string& symbol, const PoolVector<NestValue>& arguments) {
    for (NestValue v : arguments) append({.code = Code::argument, .a = v});
    const auto at = std::find(nest_.symbols.begin(), nest_.symbols.end(), symbol);
    const auto slot = static_cast<std::uint64_t>(at - nest_.symbols.begin());
    if (at == nest_.symbols.end()) nest_.symbols.push_back(symbol);
    append({.code = Code::call, .slot = slot});
}

Nest NestBuilder::finish() {
    internal_check(open_.empty(), "a block of a nest is not closed");
    Nest done = std::move(nest_);
    *this = NestBuilder();
    done.hash = hash_of(done);
    return done;
}

} // namespace stithy::plan
