#pragma once
#include "plan/fuse.hpp"

#include <optional>

namespace stithy::plan {

/// Makes a Fused: one walk over the operations from the last to the first. When an operation's turn comes, all its uses are known as
/// requests (nodes); it is then either computed inside the groups that asked for it, or stored by one group that runs before all of them.
class Fuser {
public:
    explicit Fuser(const ir::Function& function);
    Fused run();

private:
    // fuse.cpp: the walk, and where stored values are computed
    void visit(std::size_t op);
    void visit_plain(std::size_t op);
    void visit_alias(const ir::Op& op, std::size_t result, ir::ValueId source);
    void visit_dense(ir::ValueId v);
    [[nodiscard]] bool wanted(const ir::Op& op) const;
    bool compute_at_uses(const ir::Op& op, ir::ValueId v);
    void store(std::size_t op, ir::ValueId v);
    bool store_in(GroupId g, ir::ValueId v);
    [[nodiscard]] bool can_join(GroupId g, ir::ValueId v) const;
    [[nodiscard]] bool storable(GroupId g, ir::ValueId v, MapId map);
    GroupId new_group(Group::Kind kind, std::size_t op);
    GroupId new_loops(std::size_t op, const Shape& domain);
    [[nodiscard]] std::int64_t least_group(const ir::Op& op, ir::ValueId v) const;
    [[nodiscard]] bool overwritten_for(const ir::Op& op, GroupId requester) const;
    void need(ir::ValueId v, GroupId by);

    // fuse_operands.cpp: nodes and the maps of their operands
    NodeId request(GroupId g, ir::ValueId v, MapId map, std::uint8_t copies);
    void expand(NodeId n, bool copied);
    void expand_reduce(NodeId n, const IndexMap& operand_map);
    void set_operands(NodeId n, Node::State state, std::initializer_list<NodeId> operands);
    MapId add_map(GroupId g, IndexMap map, const Shape& shape);
    std::optional<IndexMap> moved(GroupId g, const ir::Op& op, const IndexMap& map, std::uint8_t copies);
    IndexMap gathered(GroupId g, const ir::Op& op, const IndexMap& map, std::uint8_t copies);
    void expand_pad(NodeId n, const ir::Op& op);
    void expand_concatenate(NodeId n, const ir::Op& op);
    AxisIndex clamped_start(GroupId g, ir::ValueId start, MapId map, std::int64_t limit, std::uint8_t copies);
    [[nodiscard]] std::int64_t evaluations(const Group& g, MapId map) const;

    // fuse_reduce.cpp
    void visit_reduce(std::size_t op);
    bool reduce_in(NodeId n, const ir::Op& op, bool fresh);
    void store_reduce(std::size_t op);

    // fuse_update.cpp: operations that overwrite a part of an operand
    void visit_update(std::size_t op);
    void visit_concatenate(std::size_t op);
    void visit_operation(std::size_t op);
    void copy_base(std::size_t op, ir::ValueId source, ir::ValueId target, GroupId writer);

    [[nodiscard]] const Shape& shape(ir::ValueId v) const { return f_.type(v).shape(); }
    Group& group(GroupId g) { return out_.groups[g]; }
    Node& node(NodeId n) { return out_.nodes[n]; }

    const ir::Function& f_;
    Fused out_;
    PoolVector<NodeId> head_;              ///< per value: its requests
    PoolVector<std::int32_t> latest_;      ///< per value: the highest number of a group that uses it; -1
    PoolVector<std::int32_t> overwritten_; ///< per value: number of the group that may overwrite its memory; -1
    PoolVector<bool> memory_;              ///< per value: somebody needs it in memory
};

/// Rough cost of an elementwise operation on one element, an addition being 1.
int weight(ir::OpCode code);
/// Operations whose work is only in the index.
bool moves_only(ir::OpCode code);

} // namespace stithy::plan
