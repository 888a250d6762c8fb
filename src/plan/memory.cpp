#include "plan/memory.hpp"

#include "plan/loop_plan.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::ValueId;

namespace {

constexpr std::int32_t never = -1;

class Assigner {
public:
    Assigner(const Fused& fused, const MemoryOptions& options)
        : f_(fused), function_(*fused.function), options_(options), steps_(static_cast<std::int32_t>(fused.groups.size())) {}

    MemoryPlan run() {
        find_uses();
        plan_.block_of.assign(function_.value_count(), no_block);
        place_given();
        for (std::int32_t s = 0; s < steps_; ++s) place_written(s);
        for (ValueId v = 0; v < function_.value_count(); ++v) // what has no elements may have no step that writes it
            if (f_.stored[v] && f_.alias[v] == v && plan_.block_of[v] == no_block && last_use_[v] != never && !in_register(v) &&
                bytes(v) == 0)
                place_fresh(v, 0);
        for (std::size_t r = 0; r < function_.results().size(); ++r) {
            const std::uint32_t b = plan_.block_of[f_.owner(function_.results()[r])];
            if (b != no_block) lives_[b].last = steps_;
        }
        place_scratch();
        for (ValueId v = 0; v < function_.value_count(); ++v)
            if (f_.stored[v] && f_.alias[v] != v) plan_.block_of[v] = plan_.block_of[f_.owner(v)];
        for (std::size_t b = 0; b < plan_.blocks.size(); ++b)
            if (plan_.blocks[b].kind == Block::Kind::result && lives_[b].donor >= 0)
                plan_.donations.emplace_back(static_cast<std::uint32_t>(lives_[b].donor), plan_.blocks[b].index);
        return std::move(plan_);
    }

private:
    struct Life {
        std::int32_t first = 0, last = 0;
        std::int32_t donor = -1; ///< parameter whose memory could serve
    };

    [[nodiscard]] GroupId group_at(std::int32_t step) const { return static_cast<GroupId>(steps_ - 1 - step); }
    [[nodiscard]] std::int32_t step_of(GroupId g) const { return steps_ - 1 - static_cast<std::int32_t>(g); }
    [[nodiscard]] const ir::Op& op_of(const Group& g) const { return function_.ops()[static_cast<std::size_t>(g.op)]; }
    [[nodiscard]] bool in_register(ValueId v) const { return !options_.registers.empty() && options_.registers[v]; }
    [[nodiscard]] std::int64_t bytes(ValueId v) const { return function_.type(v).bytes(); }

    void use(ValueId v, std::int32_t step) {
        const ValueId owner = f_.owner(v);
        last_use_[owner] = std::max(last_use_[owner], step);
    }

    void find_uses() {
        last_use_.assign(function_.value_count(), never);
        leaf_first_.assign(f_.groups.size() + 1, 0);
        for (const Node& n : f_.nodes)
            if (n.state == Node::State::leaf) ++leaf_first_[n.group + 1];
        for (std::size_t g = 0; g < f_.groups.size(); ++g) leaf_first_[g + 1] += leaf_first_[g];
        leaves_.resize(leaf_first_.back());
        PoolVector<std::uint32_t> at(leaf_first_.begin(), leaf_first_.end());
        for (NodeId n = 0; n < f_.nodes.size(); ++n) {
            if (f_.nodes[n].state != Node::State::leaf) continue;
            leaves_[at[f_.nodes[n].group]++] = n;
            use(f_.nodes[n].value, step_of(f_.nodes[n].group));
        }
        for (GroupId g = 0; g < f_.groups.size(); ++g) {
            const Group& group = f_.groups[g];
            if (group.kind == Group::Kind::operation) {
                const ir::Op& op = op_of(group);
                for (std::size_t k = 0; k < op.operands.size(); ++k) // what becomes a result's first value is used by the copy
                    if (!is_base(op, k)) use(op.operands[k], step_of(g));
                for (std::uint32_t r = 0; r < op.result_count; ++r) use(op.result(r), step_of(g));
            }
            if (group.kind == Group::Kind::copy) use(group.source, step_of(g));
            if (group.kind == Group::Kind::copy) use(group.target, step_of(g));
            for (const Output& o : group.outputs) use(o.target, step_of(g));
        }
        writable_.assign(function_.parameter_count(), false);
        promised_.assign(function_.parameter_count(), false);
        for (std::int32_t p : options_.home)
            if (p >= 0) writable_[static_cast<std::size_t>(p)] = true;
        result_of_.assign(function_.value_count(), -1);
        for (std::size_t r = function_.results().size(); r-- > 0;) {
            const ValueId v = f_.owner(function_.results()[r]);
            use(v, steps_);
            result_of_[v] = static_cast<std::int32_t>(r);
        }
    }

    [[nodiscard]] bool is_base(const ir::Op& op, std::size_t operand) const {
        for (std::uint32_t r = 0; r < op.result_count; ++r)
            if (base_operand(op, r) == static_cast<std::int32_t>(operand) && f_.base[op.result(r)] == op.operands[operand]) return true;
        return false;
    }

    std::uint32_t new_block(Block block, Life life) {
        plan_.blocks.push_back(block);
        lives_.push_back(life);
        return static_cast<std::uint32_t>(plan_.blocks.size() - 1);
    }

    void place_given() {
        for (ValueId p = 0; p < function_.parameter_count(); ++p) {
            if (in_register(p) || function_.type(p).kind() == ir::TypeKind::token || function_.type(p).kind() == ir::TypeKind::tuple)
                continue;
            plan_.block_of[p] = new_block({Block::Kind::parameter, p, 0, bytes(p)}, {0, steps_, -1});
        }
        for (const ir::Op& op : function_.ops()) {
            if (op.code != ir::OpCode::constant || !f_.stored[op.result()] || op.get<ir::ConstantAttr>().value.is_splat()) continue;
            plan_.block_of[op.result()] = new_block({Block::Kind::constant, op.result(), 0, bytes(op.result())}, {0, steps_, -1});
        }
    }

    void place_written(std::int32_t step) {
        const GroupId id = group_at(step);
        const Group& g = f_.groups[id];
        if (g.kind == Group::Kind::copy) {
            if (plan_.block_of[g.target] == no_block && !in_register(g.target)) place_copy(g, step);
            return;
        }
        if (g.kind == Group::Kind::operation) {
            for (std::uint32_t r = 0; r < op_of(g).result_count; ++r) {
                const ValueId v = op_of(g).result(r);
                if (f_.stored[v] && plan_.block_of[v] == no_block && !in_register(v)) place_fresh(v, step);
            }
            return;
        }
        // Outputs of the last phase may take a dying operand's memory.
        std::uint8_t phases = 1;
        bool columns = false;
        const LoopPlan* loops = nullptr;
        if (!g.reductions.empty()) {
            loops = &top_loops(f_, id);
            phases = loops->phases;
            columns = loops->form == LoopForm::columns || loops->block != 0;
        }
        taken_.clear();
        find_candidates(id, step);
        for (const bool spilled : {false, true}) {
            for (const Output& o : g.outputs) {
                const ValueId v = o.target;
                if (plan_.block_of[v] != no_block || in_register(v)) continue;
                const std::uint8_t phase = !loops ? std::uint8_t{0} : loops->phase[f_.nodes[f_.resolved(o.node)].local];
                if (o.part || columns) {
                    place_fresh(v, step);
                    continue;
                }
                const bool inside = (f_.dims_of(g, o.map) & reduced_dims(g)) != 0;
                const bool early = inside && phase + 1 < phases;
                if (early != spilled) continue;
                if (spilled)
                    place_spill(id, o, phase, *loops, step);
                else if (!inside && reduced_dims(g) != 0)
                    place_fresh(v, step); // operands of the row's inside may be read later
                else
                    place_output(o, step);
            }
        }
    }

    /// Whether a block can be written over at this step by a value of so many bytes, its old contents being dead afterwards.
    [[nodiscard]] bool reusable(std::uint32_t b, ValueId v) const {
        const Block& block = plan_.blocks[b];
        if (block.bytes != bytes(v) || std::find(taken_.begin(), taken_.end(), b) != taken_.end()) return false;
        if (block.kind == Block::Kind::scratch) return true;
        if (block.kind != Block::Kind::parameter || !writable_[block.index]) return false;
        const std::int32_t r = result_of_[v];
        return r < 0 || options_.home[static_cast<std::size_t>(r)] == static_cast<std::int32_t>(block.index);
    }

    void put(ValueId v, std::uint32_t b) {
        taken_.push_back(b);
        plan_.block_of[v] = b;
        lives_[b].last = std::max(lives_[b].last, last_use_[v]);
        Block& block = plan_.blocks[b];
        if (block.kind == Block::Kind::scratch && result_of_[v] >= 0 && options_.external_results) {
            block.kind = Block::Kind::result;
            block.index = static_cast<std::uint32_t>(result_of_[v]);
        }
    }

    void place_fresh(ValueId v, std::int32_t step, std::int32_t donor = -1) {
        const std::uint32_t b = new_block({Block::Kind::scratch, 0, 0, bytes(v)}, {step, last_use_[v], donor});
        put(v, b);
    }

    /// A value written over another one's memory if that is allowed, else into new memory (which a donated parameter may provide).
    void place_over(ValueId v, ValueId old, std::int32_t step) {
        const std::uint32_t b = plan_.block_of[old];
        if (b != no_block && reusable(b, v)) return put(v, b);
        const bool given = old < function_.parameter_count() && bytes(old) == bytes(v);
        place_fresh(v, step, given ? static_cast<std::int32_t>(old) : -1);
    }

    template <class Visit>
    void each_leaf(GroupId g, Visit visit) const {
        for (std::uint32_t i = leaf_first_[g]; i < leaf_first_[g + 1]; ++i) visit(f_.nodes[leaves_[i]]);
    }

    /// All reads of `u` in the group are at the output's own index.
    [[nodiscard]] bool read_only_at(GroupId id, ValueId u, const Output& o) const {
        bool same = true;
        each_leaf(id, [&](const Node& n) {
            if (f_.owner(n.value) != u) return;
            same = same && n.map == o.map && (n.map == 0 || function_.type(n.value).shape() == function_.type(o.target).shape());
        });
        return same;
    }

    /// Values that die in a group and are read at one index only.
    void find_candidates(GroupId id, std::int32_t step) {
        candidates_.clear();
        each_leaf(id, [&](const Node& n) {
            const ValueId u = f_.owner(n.value);
            if (last_use_[u] != step || plan_.block_of[u] == no_block) return;
            for (Candidate& c : candidates_) {
                if (c.owner != u) continue;
                c.one_index =
                    c.one_index && c.map == n.map && (n.map == 0 || function_.type(c.read_as).shape() == function_.type(n.value).shape());
                return;
            }
            candidates_.push_back({u, n.value, n.map, true});
        });
    }

    void place_output(const Output& o, std::int32_t step) {
        const Candidate* best = nullptr;
        bool best_now = false;
        for (const Candidate& c : candidates_) {
            if (!c.one_index || c.map != o.map || bytes(c.owner) != bytes(o.target) || best_now) continue;
            if (c.map != 0 && !(function_.type(c.read_as).shape() == function_.type(o.target).shape())) continue;
            if (function_.type(c.read_as).dtype().size() != function_.type(o.target).dtype().size()) continue;
            const bool now = reusable(plan_.block_of[c.owner], o.target);
            if (!now && (best || !(c.owner < function_.parameter_count() && !promised_[c.owner]))) continue;
            best = &c;
            best_now = now;
        }
        if (!best) return place_fresh(o.target, step);
        if (!best_now) promised_[best->owner] = true;
        place_over(o.target, best->owner, step);
    }

    /// A value that only later phases of the same row read: it may stand where the last phase's output goes.
    void place_spill(GroupId id, const Output& o, std::uint8_t phase, const LoopPlan& loops, std::int32_t step) {
        const Group& g = f_.groups[id];
        if (last_use_[o.target] == step && result_of_[o.target] < 0) {
            for (const Output& other : g.outputs) {
                const ValueId v = other.target;
                if (&other == &o || other.part || other.map != o.map || plan_.block_of[v] == no_block || bytes(v) != bytes(o.target))
                    continue;
                if (function_.type(v).dtype().size() != function_.type(o.target).dtype().size()) continue;
                const std::uint8_t written = loops.phase[f_.nodes[f_.resolved(other.node)].local];
                // A parameter's memory is older than this step: what is computed in place over it still reads it.
                if (plan_.blocks[plan_.block_of[v]].kind == Block::Kind::parameter) continue;
                // Only what the last phase writes: a host of a middle phase would stand over the guest before its last reader.
                if (written <= phase || written + 1 < loops.phases || lives_[plan_.block_of[v]].first != step) continue;
                // One guest a block: of two spilled values each would read what the other wrote.
                const auto in_block = [&](ValueId host) { return plan_.block_of[host] == plan_.block_of[v]; };
                if (std::any_of(shared_.begin(), shared_.end(), in_block)) continue;
                // Memory of an operand that this group still reads will not do.
                if (lives_[plan_.block_of[v]].donor >= 0) lives_[plan_.block_of[v]].donor = -1;
                shared_.push_back(v);
                plan_.block_of[o.target] = plan_.block_of[v];
                return;
            }
        }
        place_fresh(o.target, step);
    }

    /// What is overwritten in part: in place if nobody reads the old value afterwards, but at the very place that is written.
    void place_copy(const Group& g, std::int32_t step) {
        taken_.clear();
        const ValueId old = f_.owner(g.source);
        if (last_use_[old] <= step || only_harmless_reads(old, g.target, step)) return place_over(g.target, old, step);
        place_fresh(g.target, step);
    }

    [[nodiscard]] bool only_harmless_reads(ValueId old, ValueId target, std::int32_t step) const {
        if (last_use_[old] > step + 1) return false;
        const GroupId writer = group_at(step + 1);
        const Group& g = f_.groups[writer];
        if (g.kind != Group::Kind::loops || g.outputs.empty() || g.outputs[0].target != target) return false;
        return g.extents.empty() || read_only_at(writer, old, g.outputs[0]);
    }

    /// First fit over time: what has died leaves holes, neighbouring ones are joined.
    void place_scratch() {
        constexpr std::int64_t line = 64;
        PoolVector<std::uint32_t> order;
        for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b)
            if (plan_.blocks[b].kind == Block::Kind::scratch) order.push_back(b);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) { return lives_[x].first < lives_[y].first; });
        const auto later = [&](std::uint32_t x, std::uint32_t y) {
            return lives_[x].last != lives_[y].last ? lives_[x].last > lives_[y].last : x > y;
        };
        PoolVector<std::uint32_t> live; // a heap, the first to die on top
        PoolVector<Hole> holes;         // by offset; the last one may reach to the end
        const auto size_of = [&](std::uint32_t b) { return (plan_.blocks[b].bytes + line - 1) / line * line; };
        for (std::uint32_t b : order) {
            while (!live.empty() && lives_[live.front()].last < lives_[b].first) {
                std::pop_heap(live.begin(), live.end(), later);
                add_hole(holes, {plan_.blocks[live.back()].offset, size_of(live.back())});
                live.pop_back();
            }
            const std::int64_t size = size_of(b);
            auto hole = std::find_if(holes.begin(), holes.end(), [&](const Hole& h) { return h.size >= size; });
            if (hole == holes.end() && !holes.empty() && holes.back().offset + holes.back().size == plan_.scratch_bytes) {
                hole = holes.end() - 1;
                plan_.scratch_bytes = hole->offset + size;
                hole->size = size;
            }
            if (hole == holes.end()) {
                plan_.blocks[b].offset = plan_.scratch_bytes;
                plan_.scratch_bytes += size;
            } else {
                plan_.blocks[b].offset = hole->offset;
                hole->offset += size;
                hole->size -= size;
                if (hole->size == 0) holes.erase(hole);
            }
            live.push_back(b);
            std::push_heap(live.begin(), live.end(), later);
        }
    }

    struct Hole {
        std::int64_t offset, size;
    };

    static void add_hole(PoolVector<Hole>& holes, Hole hole) {
        if (hole.size == 0) return;
        auto next = std::lower_bound(holes.begin(), holes.end(), hole, [](const Hole& x, const Hole& y) { return x.offset < y.offset; });
        if (next != holes.end() && hole.offset + hole.size == next->offset) {
            next->offset = hole.offset;
            next->size += hole.size;
        } else {
            next = holes.insert(next, hole);
        }
        if (next == holes.begin()) return;
        const auto before = next - 1;
        if (before->offset + before->size != next->offset) return;
        before->size += next->size;
        holes.erase(next);
    }

    const Fused& f_;
    const ir::Function& function_;
    const MemoryOptions& options_;
    std::int32_t steps_;
    MemoryPlan plan_;
    PoolVector<Life> lives_;
    PoolVector<std::int32_t> last_use_;  ///< per owner: the last step that reads or writes it; steps_: a result
    PoolVector<bool> writable_;          ///< per parameter
    PoolVector<std::int32_t> result_of_; ///< per value: the first result that it is, or -1
    PoolVector<std::uint32_t> leaf_first_;
    PoolVector<NodeId> leaves_;       ///< by group
    PoolVector<std::uint32_t> taken_; ///< blocks that got a new value in this step
    struct Candidate {
        ValueId owner, read_as;
        MapId map;
        bool one_index;
    };
    PoolVector<Candidate> candidates_; ///< of the group at hand
    PoolVector<bool> promised_;        ///< per parameter: its memory may serve a result
    PoolVector<ValueId> shared_;       ///< outputs whose memory a spilled value uses first
};

} // namespace

MemoryPlan assign_memory(const Fused& fused, const MemoryOptions& options) { return Assigner(fused, options).run(); }

} // namespace stithy::plan
