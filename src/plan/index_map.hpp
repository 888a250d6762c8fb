#pragma once
#include "base/dims.hpp"
#include "base/small_vector.hpp"
#include "ir/function.hpp"
#include "runtime/pool_allocator.hpp"

#include <cstdint>

namespace stithy::plan {

using runtime::PoolVector;

/// One use of a value at one index inside a group of fused operations (see fuse.hpp).
using NodeId = std::uint32_t;
inline constexpr NodeId no_node = ~NodeId{0};
using MapId = std::uint32_t;

/// Index along one axis of a value: offset + sum of factor * loop dimension + terms.
struct AxisIndex {
    struct Part {
        std::uint32_t dim = 0;
        std::int64_t factor = 1;
        bool operator==(const Part&) const = default;
    };
    std::int64_t offset = 0;
    std::int32_t term = -1; ///< what is not affine, a Term; -1: nothing
    SmallVector<Part, 2> parts;

    [[nodiscard]] bool is_constant() const { return parts.empty() && term < 0; }
    friend bool operator==(const AxisIndex& a, const AxisIndex& b) {
        return a.offset == b.offset && a.term == b.term && a.parts.size() == b.parts.size() &&
               std::equal(a.parts.begin(), a.parts.end(), b.parts.begin());
    }
};

/// A part of an index that is not affine in the loop dimensions.
struct Term {
    enum class Kind : std::uint8_t {
        clamped,   ///< value of `node` (an integer), clamped to [0, number]
        quotient,  ///< inner / number
        remainder, ///< inner % number
        sum,       ///< terms left + factor * right
    };
    Kind kind = Kind::clamped;
    NodeId node = no_node;
    std::int64_t number = 0; ///< for sum: the factor
    AxisIndex inner;
    std::int32_t left = -1, right = -1;
    bool operator==(const Term&) const = default;
};

/// Where a value is read, as a function of the loop dimensions of a group: an index per axis of the value.
/// Map 0 of a group is special: the value's elements correspond one to one, in row-major order, to the group's root domain.
struct IndexMap {
    SmallVector<AxisIndex, 4> axes;
    friend bool operator==(const IndexMap& a, const IndexMap& b) {
        return a.axes.size() == b.axes.size() && std::equal(a.axes.begin(), a.axes.end(), b.axes.begin());
    }
};

/// The maps and terms of a group, each distinct one once.
struct MapTable {
    PoolVector<IndexMap> maps{IndexMap{}};
    PoolVector<Term> terms;

    MapId add(IndexMap map);
    std::int32_t add(Term term);
    /// axis + term
    void add_term(AxisIndex& axis, std::int32_t term, std::int64_t factor = 1);
};

/// factor * axis (a term in it becomes factor times the term).
AxisIndex scaled(MapTable& table, const AxisIndex& axis, std::int64_t factor);
/// a + b
AxisIndex sum(MapTable& table, const AxisIndex& a, const AxisIndex& b);

/// The index into an array of shape `to` that is the same element, row-major, as index `map` into shape `from` (equal element counts).
/// `extents` are those of the loop dimensions (used to see that a part stays below a bound).
IndexMap reshaped(MapTable& table, const IndexMap& map, const Shape& from, const Shape& to, const PoolVector<std::int64_t>& extents);

} // namespace stithy::plan
