#pragma once
#include "ir/function.hpp"
#include "plan/index_map.hpp"

#include <cstdint>
#include <vector>

namespace stithy::plan {

using GroupId = std::uint32_t;
inline constexpr GroupId no_group = ~GroupId{0};

/// A value at an index map inside a group: an expression whose operands are nodes too, or a read of a value that is in memory.
struct Node {
    enum class State : std::uint8_t {
        open,        ///< only while fusing
        leaf,        ///< read from memory (or a rank-0 value in a register)
        apply,       ///< elementwise operation of the operand nodes
        forward,     ///< the same as operand 0 (slices, broadcasts, ... whose work is in the map)
        literal,     ///< splat constant
        iota,        ///< the index along an axis
        pad,         ///< operand 0 inside the interior, else operand 1
        concatenate, ///< the operand in whose part the index lies
        reduce, ///< operand 0 combined over the group's reduced dimensions, starting with operand 1; a general reduction has N + N operands
    };
    ir::ValueId value = ir::no_value;
    GroupId group = no_group;
    MapId map = 0;
    State state = State::open;
    std::uint32_t local = 0; ///< number within the group
    std::uint8_t copies = 0; ///< how often the computation was duplicated on the way here
    std::uint32_t first_operand = 0, operand_count = 0;
    NodeId next = no_node; ///< the next request for the same value
};

/// What a group stores: the value of a node at an index of the target value's memory.
struct Output {
    NodeId node = no_node;
    ir::ValueId target = ir::no_value;
    MapId map = 0;           ///< index into the target; for the usual case the node's own map
    bool part = false;       ///< the group writes only a part of the target (a window, a piece of a concatenation)
    bool accumulate = false; ///< adds to what the target holds
};

/// One step of the fused function: a loop nest that computes some values, or one operation that is lowered alone.
struct Group {
    enum class Kind : std::uint8_t {
        loops,     ///< fused expressions
        operation, ///< one operation (dot_general, scatter, loop, ...): plan/lower, plan/loops
        copy,      ///< copies value `source` into the memory of `target`, before parts of it are overwritten
    };
    Kind kind = Kind::loops;
    std::int32_t op = -1; ///< operation: index in Function::ops(); loops: that of the first root, for locations
    ir::ValueId source = ir::no_value, target = ir::no_value;

    PoolVector<std::int64_t> extents; ///< of the loop dimensions, none of them 1
    PoolVector<bool> reduced;         ///< which of them reductions run over
    std::uint32_t root_dims = 0;      ///< the first so many form the root domain (map 0)
    Shape root_shape;                 ///< of the root domain
    bool flat = true;                 ///< so far only map 0 was used: the domain may be factored otherwise
    std::int32_t arithmetic = 0;      ///< operations in it
    std::uint32_t node_count = 0;     ///< with leaves
    MapTable table;
    PoolVector<NodeId> nodes;      ///< computed here, consumers before producers
    PoolVector<NodeId> reductions; ///< the reduce nodes among them
    PoolVector<Output> outputs;
};

struct LoopPlan;

/// A function's operations gathered into groups. Groups are numbered from the last to be executed to the first.
struct Fused {
    const ir::Function* function = nullptr;
    PoolVector<Group> groups;
    PoolVector<Node> nodes;
    PoolVector<NodeId> operands;   ///< of nodes, by Node::first_operand
    PoolVector<ir::ValueId> alias; ///< the value whose memory (all of it, same bytes) a value shares by definition; itself when none
    PoolVector<bool> stored;       ///< whether the value has memory (or a register, for rank 0) of its own or by alias
    /// Values whose memory should be that of a dying operand, per value: dynamic_update_slice's, scatter's and accumulators' results; else
    /// no_value.
    PoolVector<ir::ValueId> base;
    /// Per group, its loops at the top level once they were asked for (`top_loops`); may be shorter than `groups`.
    mutable PoolVector<std::shared_ptr<const LoopPlan>> loops;

    [[nodiscard]] NodeId operand(const Node& node, std::size_t i) const { return operands[node.first_operand + i]; }
    /// Follows `forward` nodes.
    [[nodiscard]] NodeId resolved(NodeId node) const;
    /// The value at the end of a chain of aliases.
    [[nodiscard]] ir::ValueId owner(ir::ValueId v) const;
    /// Bit per loop dimension that the map depends on (through terms too).
    [[nodiscard]] std::uint64_t dims_of(const Group& group, MapId map) const;
    /// The index per axis of a value of this shape at a map (map 0 spelled out).
    [[nodiscard]] static IndexMap axes_of(Group& group, MapId map, const Shape& shape);
};

/// The operand whose value a result starts from and then overwrites (carries of loops, scatter's inputs); -1: none.
std::int32_t base_operand(const ir::Op& op, std::uint32_t result);

/// Bit per loop dimension of the group: those that are reduced, and all.
std::uint64_t reduced_dims(const Group& group);
std::uint64_t all_dims(const Group& group);

/// Groups the operations of a function (its regions are left alone). Results are stored.
Fused fuse(const ir::Function& function);

/// Number of arithmetic operations after which a group is closed.
inline constexpr std::int32_t group_limit = 64;

} // namespace stithy::plan
