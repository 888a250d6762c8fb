#include "ir/equal.hpp"

#include <algorithm>
#include <set>

namespace stithy::ir {

namespace {
bool same_literal(const Literal& a, const Literal& b) { return a == b || (a.type() == b.type() && a.type().elements() == 0); }

/// Absent strides are ones, absent interior paddings zeros.
bool same_dims(const Dims& a, const Dims& b, std::int64_t absent) {
    if (a == b) return true;
    const Dims& some = a.empty() ? b : a;
    return (a.empty() || b.empty()) && std::all_of(some.begin(), some.end(), [&](std::int64_t d) { return d == absent; });
}

bool same_attr(const AttrPtr& a, const AttrPtr& b) {
    if (!a || !b) return (!a || std::holds_alternative<std::monostate>(*a)) && (!b || std::holds_alternative<std::monostate>(*b));
    if (a->index() != b->index()) return false;
    if (std::holds_alternative<CallAttr>(*a)) return true;
    if (const auto* c = std::get_if<ConstantAttr>(a.get())) return same_literal(c->value, std::get<ConstantAttr>(*b).value);
    if (const auto* s = std::get_if<SliceAttr>(a.get())) {
        const auto& t = std::get<SliceAttr>(*b);
        return s->start == t.start && s->limit == t.limit && same_dims(s->stride, t.stride, 1);
    }
    if (const auto* p = std::get_if<PadAttr>(a.get())) {
        const auto& q = std::get<PadAttr>(*b);
        return p->low == q.low && p->high == q.high && same_dims(p->interior, q.interior, 0);
    }
    return *a == *b;
}

/// Compares everything but regions; pairs of regions are left in `pairs`.
bool same_function(const Function& a, const Function& b, std::vector<std::pair<const Function*, const Function*>>& pairs) {
    if (a.parameter_count() != b.parameter_count() || a.value_count() != b.value_count() || a.ops().size() != b.ops().size()) return false;
    if (!std::equal(a.results().begin(), a.results().end(), b.results().begin(), b.results().end())) return false;
    for (std::size_t i = 0; i < a.parameter_count(); ++i)
        if (a.is_linear(i) != b.is_linear(i)) return false;
    for (ValueId v = 0; v < a.value_count(); ++v)
        if (!(a.type(v) == b.type(v))) return false;
    for (std::size_t i = 0; i < a.ops().size(); ++i) {
        const Op &x = a.ops()[i], &y = b.ops()[i];
        if (x.code != y.code || x.effect != y.effect || x.first_result != y.first_result || x.result_count != y.result_count ||
            x.operands != y.operands)
            return false;
        if (!same_attr(x.attr, y.attr) || x.regions.size() != y.regions.size()) return false;
        for (std::size_t r = 0; r < x.regions.size(); ++r)
            if (x.regions[r] != y.regions[r]) pairs.emplace_back(x.regions[r].get(), y.regions[r].get());
    }
    return true;
}
} // namespace

bool equal(const Function& a, const Function& b) {
    std::set<std::pair<const Function*, const Function*>> compared;
    std::vector<std::pair<const Function*, const Function*>> waiting{{&a, &b}};
    while (!waiting.empty()) {
        const auto pair = waiting.back();
        waiting.pop_back();
        if (!compared.insert(pair).second) continue;
        if (!same_function(*pair.first, *pair.second, waiting)) return false;
    }
    return true;
}

} // namespace stithy::ir
