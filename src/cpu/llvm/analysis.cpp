#include "cpu/llvm/analysis.hpp"

#include <algorithm>

namespace stithy::cpu {

using ir::OpCode;
using plan::Code;
using plan::Instruction;
using plan::LoopKind;
using plan::Nest;
using plan::NestValue;
using plan::no_nest_value;

namespace {

bool opens(Code c) { return c == Code::loop || c == Code::while_ || c == Code::if_ || c == Code::else_; }

class Analyser {
public:
    Analyser(const Nest& nest, Analysis& result) : nest_(nest), r_(result) {}

    void blocks() {
        const std::size_t n = nest_.code.size();
        r_.close.assign(n, no_nest_value);
        r_.parent.assign(n, no_nest_value);
        r_.vector_loop.assign(n, no_nest_value);
        std::vector<NestValue> open, vectors;
        for (NestValue at = 0; at < n; ++at) {
            const Instruction& i = nest_.code[at];
            if (i.code == Code::end || i.code == Code::else_) {
                r_.close[open.back()] = at;
                if (!vectors.empty() && vectors.back() == open.back()) vectors.pop_back();
                open.pop_back();
            }
            if (!open.empty()) r_.parent[at] = open.back();
            if (!vectors.empty()) r_.vector_loop[at] = vectors.back();
            if (!opens(i.code)) continue;
            open.push_back(at);
            // A vector loop inside a vector loop runs in order.
            if (i.code == Code::loop && static_cast<LoopKind>(i.aux) == LoopKind::vector && vectors.empty()) {
                vectors.push_back(at);
                r_.vector_loop[at] = at;
            }
        }
    }

    void shapes() {
        r_.shape.assign(nest_.code.size(), Shape::uniform);
        r_.masked.assign(nest_.code.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (NestValue at = 0; at < nest_.code.size(); ++at) {
                if (r_.vector_loop[at] != no_nest_value) changed |= visit(at);
            }
        }
    }

    void fuse() {
        const std::size_t n = nest_.code.size();
        std::vector<std::uint32_t> uses(n, 0);
        for (const Instruction& i : nest_.code) {
            for (NestValue v : {i.a, i.b, i.c}) {
                if (v != no_nest_value) ++uses[v];
            }
        }
        const auto product = [&](NestValue at, NestValue v) {
            const Instruction& m = nest_.code[v];
            return m.code == Code::apply && m.op == OpCode::multiply && uses[v] == 1 && r_.parent[v] == r_.parent[at] && !r_.folded[v];
        };
        for (NestValue at = 0; at < n; ++at) {
            const Instruction& i = nest_.code[at];
            if (!i.dtype.is_floating()) continue;
            NestValue found = no_nest_value;
            if (i.code == Code::apply && (i.op == OpCode::add || i.op == OpCode::subtract))
                found = product(at, i.a) ? i.a : product(at, i.b) ? i.b : no_nest_value;
            else if (i.code == Code::accumulate && nest_.code[i.a].op == OpCode::add && product(at, i.b))
                found = i.b;
            if (found == no_nest_value) continue;
            r_.fused[at] = found;
            r_.folded[found] = true;
        }
    }

private:
    bool raise(NestValue at, Shape to) {
        if (r_.shape[at] >= to) return false;
        r_.shape[at] = to;
        return true;
    }

    Shape operand(NestValue v) const { return v == no_nest_value ? Shape::uniform : r_.shape[v]; }

    Shape apply(const Instruction& i) const {
        const Shape a = operand(i.a), b = operand(i.b), c = operand(i.c);
        const Shape worst = std::max({a, b, c});
        if (worst != Shape::linear) return worst;
        if (!i.dtype.is_integer()) return Shape::varying;
        switch (i.op) {
        case OpCode::add:
        case OpCode::subtract:
        case OpCode::negate: return Shape::linear;
        case OpCode::multiply: return a == Shape::linear && b == Shape::linear ? Shape::varying : Shape::linear;
        case OpCode::convert: return i.dtype.size() <= nest_.code[i.a].dtype.size() ? Shape::linear : Shape::varying;
        default: return Shape::varying;
        }
    }

    /// True when lanes that are off stand between an instruction and the block of a variable.
    bool under_mask(NestValue at, NestValue variable) const {
        for (NestValue block = r_.parent[at]; block != r_.parent[variable] && block != no_nest_value; block = r_.parent[block]) {
            if (r_.masked[block]) return true;
        }
        return false;
    }

    bool write(NestValue at, NestValue variable, NestValue value) {
        if (r_.vector_loop[variable] == no_nest_value) return false; // outside: accumulated apart
        const bool varying = operand(value) != Shape::uniform || under_mask(at, variable);
        return varying && raise(variable, Shape::varying);
    }

    bool mask(NestValue block) {
        if (r_.masked[block]) return false;
        r_.masked[block] = true;
        return true;
    }

    bool visit(NestValue at) {
        const Instruction& i = nest_.code[at];
        switch (i.code) {
        case Code::apply: return raise(at, apply(i));
        case Code::load: return std::max(operand(i.a), operand(i.b)) != Shape::uniform && raise(at, Shape::varying);
        case Code::get: return raise(at, operand(i.a));
        case Code::offset: return std::max(operand(i.a), operand(i.b)) != Shape::uniform && raise(at, Shape::varying);
        case Code::variable:
        case Code::reduction: return operand(i.a) != Shape::uniform && raise(at, Shape::varying);
        case Code::local: return raise(at, Shape::varying); // one array for each lane
        case Code::set:
        case Code::accumulate: return write(at, i.a, i.b);
        case Code::loop: return r_.vector_loop[at] == at && raise(at, Shape::linear);
        case Code::test: return operand(i.a) != Shape::uniform && mask(r_.parent[at]);
        case Code::if_: return operand(i.a) != Shape::uniform && mask(at);
        case Code::else_: { // as its if, which closed here
            for (NestValue v = at; v-- > 0;) {
                if (r_.close[v] == at) return r_.masked[v] && mask(at);
            }
            return false;
        }
        default: return false;
        }
    }

    const Nest& nest_;
    Analysis& r_;
};

constexpr int call_weight = 20;

/// Rough cost of an elementwise operation in instructions.
int weight(const Instruction& i) {
    switch (i.op) {
    case OpCode::exponential:
    case OpCode::exponential_minus_one:
    case OpCode::log:
    case OpCode::log_plus_one:
    case OpCode::cbrt:
    case OpCode::sine:
    case OpCode::cosine:
    case OpCode::tan:
    case OpCode::tanh:
    case OpCode::logistic:
    case OpCode::atan2:
    case OpCode::power: return call_weight;
    case OpCode::divide:
    case OpCode::remainder: return i.dtype.is_floating() ? (i.op == OpCode::divide ? 4 : call_weight) : call_weight;
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::clamp: return 8;
    case OpCode::maximum:
    case OpCode::minimum: return i.dtype.is_floating() ? 5 : 1;
    default: return 1;
    }
}

} // namespace

Analysis analyse(const Nest& nest, bool fuse) {
    Analysis result;
    Analyser analyser(nest, result);
    analyser.blocks();
    analyser.shapes();
    result.fused.assign(nest.code.size(), no_nest_value);
    result.folded.assign(nest.code.size(), false);
    if (fuse) analyser.fuse();
    return result;
}

namespace {

/// Whether an access of the body goes to places that are not side by side: its lanes are fetched one by one anyway.
bool has_scattered_access(const Nest& nest, const Analysis& analysis, NestValue loop) {
    std::vector<bool> unit(analysis.close[loop] - loop, false); // linear with stride 1 or -1
    const auto is_unit = [&](NestValue v) { return v >= loop && unit[v - loop]; };
    for (NestValue at = loop; at < analysis.close[loop]; ++at) {
        const Instruction& i = nest.code[at];
        if (at == loop)
            unit[0] = true;
        else if (i.code == Code::apply && (i.op == OpCode::add || i.op == OpCode::subtract))
            unit[at - loop] =
                (is_unit(i.a) && analysis.shape[i.b] == Shape::uniform) || (is_unit(i.b) && analysis.shape[i.a] == Shape::uniform);
        else if (i.code == Code::load || i.code == Code::store) {
            const bool one_place = analysis.shape[i.a] == Shape::uniform && analysis.shape[i.b] == Shape::uniform;
            if (!one_place && !is_unit(i.b)) return true;
        }
    }
    return false;
}

} // namespace

static VectorPlan plan_vector_loop(const Nest& nest, const Analysis& analysis, NestValue loop, int vector_bytes, bool brief) {
    VectorPlan plan;
    std::size_t widest = 1;
    int work = 0, chains = 0, blocks = 0;
    bool slow = false; // to combine
    bool calls = false;
    const auto widen = [&](NestValue v) { widest = std::max(widest, nest.code[v].dtype.size()); };
    for (NestValue at = loop + 1; at < analysis.close[loop]; ++at) {
        const Instruction& i = nest.code[at];
        if (opens(i.code)) ++blocks;
        if (i.code == Code::store) widen(at);
        if (i.code == Code::accumulate) {
            ++chains;
            const bool extreme = nest.code[i.a].op == OpCode::minimum || nest.code[i.a].op == OpCode::maximum;
            slow |= i.dtype.is_floating() && extreme && vector_bytes < 64;
            widen(at);
            const bool outside = analysis.vector_loop[i.a] == no_nest_value;
            if (outside && std::find(plan.totals.begin(), plan.totals.end(), i.a) == plan.totals.end()) plan.totals.push_back(i.a);
        }
        if (i.code == Code::load && analysis.shape[i.b] == Shape::varying) widen(i.b);
        calls |= i.code == Code::apply && analysis.shape[at] == Shape::varying && weight(i) >= call_weight;
        if (i.code == Code::apply) work += analysis.shape[at] == Shape::varying ? weight(i) : 1;
        const bool counts = i.code == Code::apply || i.code == Code::load || i.code == Code::variable || i.code == Code::get;
        if (counts && analysis.shape[at] == Shape::varying && !(i.aux == 1 && i.code != Code::apply)) widen(at);
    }
    plan.lanes = std::max(1, vector_bytes / static_cast<int>(widest));
    const bool chained = chains > 0 && chains <= 3 && !has_scattered_access(nest, analysis, loop);
    const bool masks = vector_bytes == 64 && plan.lanes < 64;
    // Around a call totals pass through memory, which makes their chain longer than the call.
    if (chained && !(brief && masks)) plan.copies = chains == 1 && plan.lanes < 32 && !slow && !calls ? 4 : 2;
    plan.gathers = !brief && chains > 0;
    plan.one_masked = plan.copies == 1 && masks && (brief || calls || work > 16 || blocks > 0);
    return plan;
}

std::map<NestValue, VectorPlan> plan_vector_loops(const Nest& nest, const Analysis& analysis, int vector_bytes) {
    constexpr std::size_t many = 4; // above it the time to compile counts more than a few instructions a step
    std::vector<NestValue> loops;
    for (NestValue at = 0; at < nest.code.size(); ++at) {
        if (nest.code[at].code == Code::loop && analysis.vector_loop[at] == at) loops.push_back(at);
    }
    std::map<NestValue, VectorPlan> plans;
    for (NestValue loop : loops) plans[loop] = plan_vector_loop(nest, analysis, loop, vector_bytes, loops.size() > many);
    return plans;
}

} // namespace stithy::cpu
