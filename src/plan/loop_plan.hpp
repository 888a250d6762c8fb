#pragma once
#include "plan/fuse.hpp"

namespace stithy::plan {

/// How a group of fused expressions becomes loops.
enum class LoopForm : std::uint8_t {
    elements, ///< no reduction: the innermost dimension side by side in vectors
    tiles, ///< elements, of which some are read across memory: pieces of the innermost dimension, for each the dimension along which those
           ///< lie side by side
    rows,  ///< each row's reduced dimensions inside, the innermost in vectors; phase after phase
    lanes, ///< rows side by side in vectors, the reduced dimensions one after the other
    columns, ///< rows of memory streamed into running totals, one per column
    small,   ///< everything flat (small constant extents)
};

/// Strides of a value in memory per loop dimension, at one map.
struct Access {
    MapId map = 0;
    ir::ValueId like = ir::no_value;      ///< a value with the shape
    SmallVector<std::int64_t, 6> factors; ///< per loop dimension of the group, in elements
    std::int64_t offset = 0;
    SmallVector<std::pair<std::int32_t, std::int64_t>, 2> terms;
};

/// Adjacent loop dimensions that every access passes through as one.
struct Merged {
    std::uint32_t first = 0, last = 0; ///< dimensions of the group (for reduced ones: positions among the reduced)
    std::int64_t extent = 1;
};

struct LoopPlan {
    LoopForm form = LoopForm::elements;
    PoolVector<Access> accesses;
    PoolVector<std::uint32_t> leaf_access;   ///< per local node number; ~0: none
    PoolVector<std::uint32_t> output_access; ///< per output
    PoolVector<Merged> rows, inner;          ///< loops over dimensions that are kept and reduced, outermost first
    std::uint32_t along = 0;                 ///< tiles: the place in `rows` of the dimension along which they lie
    PoolVector<std::uint8_t> phase;          ///< per local node number: how many reductions must be complete first
    std::uint8_t phases = 1;
    std::int64_t row_count = 1, inner_count = 1;
    double element_ns = 0; ///< rough cost of one element of the whole domain on one thread
    /// When not 0: the outermost inner loop is cut into blocks of so many iterations; partial results of all blocks, then the rest in a
    /// second nest.
    std::int64_t block = 0, blocks = 1;
};

/// Chooses loops for a group. `top`: at the top level (else inside a larger nest, where nothing is split).
LoopPlan plan_loops(const Fused& fused, GroupId group, bool top);
/// The same for the top level, chosen once: for groups that are complete.
const LoopPlan& top_loops(const Fused& fused, GroupId group);

/// Adds outputs for values that later phases would compute again at a high price, and for column totals. Called when fusing ends.
void add_spills(Fused& fused, GroupId group);

} // namespace stithy::plan
