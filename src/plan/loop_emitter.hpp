#pragma once
#include "plan/loop_plan.hpp"
#include "plan/lowering.hpp"

namespace stithy::plan {

/// Which nest of a reduction that is cut into blocks.
enum class LoopPart : std::uint8_t { all, partials, final };

/// Writes the loops of one group.
class LoopEmitter {
public:
    LoopEmitter(Writer& w, Scope& scope, GroupId group, const LoopPlan& plan, LoopPart part);
    Work run();

private:
    // loop_emitter.cpp: the forms
    void emit_elements();
    void emit_tiles();
    NestValue next_digit(NestValue& rest, const void* owner, std::int64_t extent);
    void emit_rows(LoopKind row_kind, LoopKind inner_kind);
    void emit_lanes();
    void emit_columns();
    void emit_final();
    [[nodiscard]] std::size_t home_of(NodeId r) const;
    void stream_rows(NestValue first, NestValue last);
    void add_rows(const PoolVector<NestValue>& row_counters, NestValue first, NestValue last);
    void emit_phases(LoopKind inner_kind);
    void declare_reductions();
    void body();
    void finish_reductions();
    void store_rows();
    template <class Wanted>
    void store_all(Wanted wanted);
    void store(std::size_t output);
    void hoist();
    void hoist_from(NodeId n);
    void hoist_terms(MapId map);
    [[nodiscard]] bool has_loops(std::uint8_t phase) const;

    // loop_blocks.cpp: opening and closing loops, and what they cost
    void open_outer(std::size_t count, std::int64_t blocks);
    void open_merged(LoopKind kind, const Merged& merged);
    void open_inner(LoopKind kind);
    void open(LoopKind kind, NestValue lower, NestValue upper);
    void opened(const Merged& merged, NestValue counter);
    void close_to(std::size_t depth);
    [[nodiscard]] std::uint64_t dims_in(const Merged& merged) const;
    NestValue number(const void* owner, std::uint32_t part, std::int64_t value, bool constant = false);
    [[nodiscard]] bool constant_for(ir::ValueId v) const;
    NestValue row_number();
    [[nodiscard]] Work work() const;
    void prefetch_next_row();

    // expressions.cpp: the value of a node
    NestValue value(NodeId n);
    NestValue compute(NodeId n);
    NestValue load_leaf(const Node& node);
    NestValue emit_pad(const Node& node, const ir::Op& op);
    NestValue emit_concatenate(const Node& node, const ir::Op& op);
    NestValue index(std::uint32_t access);
    NestValue axis(const AxisIndex& axis);
    NestValue term(std::int32_t term);
    NestValue literal_of(const ir::Op& op);
    NestValue add(NestValue sum, NestValue x) { return sum == no_nest_value ? x : b_.add(sum, x); }
    void remember(NodeId n, NestValue v);
    const ir::Op& op_of(const Node& node) const;
    [[nodiscard]] bool is_simple(NodeId reduce) const;

    struct Number {
        const void* owner;
        std::uint32_t part;
        std::size_t slot;
    };
    struct Mark {
        std::size_t log;
        std::uint64_t available;
    };

    Writer& w_;
    NestBuilder& b_;
    Scope& scope_;
    const Fused& f_;
    const Group& g_;
    const LoopPlan& plan_;
    LoopPart part_;
    bool top_, fixed_;
    std::uint64_t inner_;         ///< the reduced dimensions
    std::uint64_t available_ = 0; ///< dimensions whose loops are open
    std::uint8_t phase_ = 0;
    PoolVector<NestValue> counters_; ///< per dimension (of merged ones: at the last)
    PoolVector<NestValue> values_;   ///< per local node: known in an open block
    PoolVector<std::uint32_t> log_;  ///< local nodes in the order in which their values became known
    PoolVector<Mark> marks_;         ///< one per open block
    PoolVector<Number> numbers_;
    PoolVector<NestValue> totals_;      ///< per local node: the variable of a reduction
    PoolVector<std::uint32_t> visited_; ///< per local node: hoist's last visit
    std::uint32_t visit_ = 0;
    std::int64_t units_ = 1;
    NestValue block_ = no_nest_value; ///< number of the block, for partial results
    NestValue partials_ = no_nest_value;
};

} // namespace stithy::plan
