#include "plan/index_map.hpp"

namespace stithy::plan {

MapId MapTable::add(IndexMap map) {
    for (MapId i = 1; i < maps.size(); ++i)
        if (maps[i] == map) return i;
    maps.push_back(std::move(map));
    return static_cast<MapId>(maps.size() - 1);
}

std::int32_t MapTable::add(Term term) {
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (terms[i] == term) return static_cast<std::int32_t>(i);
    terms.push_back(std::move(term));
    return static_cast<std::int32_t>(terms.size() - 1);
}

void MapTable::add_term(AxisIndex& axis, std::int32_t term, std::int64_t factor) {
    if (term < 0) return;
    if (axis.term < 0 && factor == 1)
        axis.term = term;
    else
        axis.term = add(Term{.kind = Term::Kind::sum, .number = factor, .inner = {}, .left = axis.term, .right = term});
}

AxisIndex scaled(MapTable& table, const AxisIndex& axis, std::int64_t factor) {
    AxisIndex r = axis;
    r.offset *= factor;
    for (AxisIndex::Part& p : r.parts) p.factor *= factor;
    r.term = -1;
    table.add_term(r, axis.term, factor);
    return r;
}

AxisIndex sum(MapTable& table, const AxisIndex& a, const AxisIndex& b) {
    AxisIndex r = a;
    r.offset += b.offset;
    for (const AxisIndex::Part& p : b.parts) {
        AxisIndex::Part* known = nullptr;
        for (AxisIndex::Part& q : r.parts)
            if (q.dim == p.dim) known = &q;
        if (known)
            known->factor += p.factor;
        else
            r.parts.push_back(p);
    }
    table.add_term(r, b.term);
    return r;
}

namespace {

/// index / number and index % number for a non-negative index.
struct Divided {
    AxisIndex quotient, remainder;
};

Divided divided(MapTable& table, const AxisIndex& index, std::int64_t number, const PoolVector<std::int64_t>& extents) {
    Divided d;
    if (index.term < 0 && index.offset >= 0) {
        // Parts that are multiples of the number belong to the quotient; if what is left stays below the number, it is the remainder.
        std::int64_t most = index.offset % number;
        bool simple = true;
        d.quotient.offset = index.offset / number;
        d.remainder.offset = index.offset % number;
        for (const AxisIndex::Part& p : index.parts) {
            if (p.factor % number == 0)
                d.quotient.parts.push_back({p.dim, p.factor / number});
            else {
                d.remainder.parts.push_back(p);
                most += p.factor * (extents[p.dim] - 1);
                simple = simple && p.factor > 0;
            }
        }
        if (simple && most < number) return d;
    }
    d = Divided();
    d.quotient.term = table.add(Term{.kind = Term::Kind::quotient, .number = number, .inner = index});
    d.remainder.term = table.add(Term{.kind = Term::Kind::remainder, .number = number, .inner = index});
    return d;
}

} // namespace

IndexMap reshaped(MapTable& table, const IndexMap& map, const Shape& from, const Shape& to, const PoolVector<std::int64_t>& extents) {
    IndexMap result;
    result.axes.resize(to.rank());
    if (from.elements() == 0) {
        // No element is ever read, but each index depends on what the given ones do: a load at a constant index would be moved out of the
        // loop that makes no step, and read memory that is not there.
        AxisIndex all;
        for (const AxisIndex& axis : map.axes) all = sum(table, all, axis);
        for (AxisIndex& axis : result.axes) axis = all;
        return result;
    }
    std::size_t i = 0, j = 0;
    while (true) {
        while (i < from.rank() && from[i] == 1) ++i;
        while (j < to.rank() && to[j] == 1) ++j;
        if (i == from.rank() || j == to.rank()) break;
        // The shortest runs of axes on both sides with the same number of elements.
        const std::size_t first = j;
        AxisIndex linear = map.axes[i];
        std::int64_t a = from[i++], b = to[j++];
        while (a != b) {
            if (a < b) {
                linear = sum(table, scaled(table, linear, from[i]), map.axes[i]);
                a *= from[i++];
            } else {
                b *= to[j++];
            }
        }
        for (std::size_t k = j; --k > first;) {
            if (to[k] == 1) continue;
            Divided d = divided(table, linear, to[k], extents);
            result.axes[k] = std::move(d.remainder);
            linear = std::move(d.quotient);
        }
        result.axes[first] = std::move(linear);
    }
    return result;
}

} // namespace stithy::plan
