#include "pass/inline_calls.hpp"
#include "pass/optimize.hpp"
#include "pass/unit_reductions.hpp"
#include "plan/loop_emitter.hpp"
#include "plan/memory.hpp"
#include "plan/plan.hpp"
#include "runtime/stats.hpp"

#include <algorithm>
#include <unordered_map>

namespace stithy::plan {

using ir::ValueId;

namespace {

constexpr std::int64_t line = 64;
std::int64_t aligned(std::int64_t bytes) { return (bytes + line - 1) / line * line; }

/// Values of the top level: each step's nest reads and writes buffers, numbered in order of first use.
class TopScope final : public Scope {
public:
    using Scope::Scope;

    NestValue pointer(Writer& w, ValueId v) override {
        const ValueId owner = fused.owner(v);
        for (const auto& [known, slot] : slots_)
            if (known == owner) return w.b.buffer(slot);
        slots_.emplace_back(owner, w.new_buffer());
        return w.b.buffer(slots_.back().second);
    }
    [[nodiscard]] bool has_units() const override { return true; }

    void begin() { slots_.clear(); }
    [[nodiscard]] const PoolVector<std::pair<ValueId, std::size_t>>& slots() const { return slots_; }

private:
    PoolVector<std::pair<ValueId, std::size_t>> slots_;
};

class Maker {
public:
    explicit Maker(const ir::Function& f) : function_(f), fused_(fuse(f)), memory_(assign_memory(fused_)), scope_(f, fused_) {}

    Plan run() {
        plan_.name = function_.name();
        plan_.inputs = function_.parameter_types();
        plan_.results = function_.result_types();
        place_buffers();
        for (GroupId g = static_cast<GroupId>(fused_.groups.size()); g-- > 0;) add_group(g);
        plan_.arena_bytes = aligned(memory_.scratch_bytes) + step_scratch_;
        plan_.buffers[scratch_].bytes = step_scratch_;
        find_results();
        for (const auto& [input, result] : memory_.donations) plan_.donations.push_back({input, result});
        return std::move(plan_);
    }

private:
    void place_buffers() {
        for (const Block& b : memory_.blocks) {
            Memory m;
            m.index = b.index;
            m.bytes = b.bytes;
            m.offset = b.offset;
            switch (b.kind) {
            case Block::Kind::parameter: m.source = Memory::Source::input; break;
            case Block::Kind::result: m.source = Memory::Source::result; break;
            case Block::Kind::scratch: m.source = Memory::Source::arena; break;
            case Block::Kind::constant:
                m.source = Memory::Source::constant;
                m.index = constant_number(
                    function_.ops()[static_cast<std::size_t>(function_.defining_op()[b.index])].get<ir::ConstantAttr>().value);
                break;
            }
            plan_.buffers.push_back(m);
        }
        scratch_ = static_cast<BufferId>(plan_.buffers.size());
        Memory m;
        m.offset = aligned(memory_.scratch_bytes);
        plan_.buffers.push_back(m);
    }

    std::uint32_t constant_number(const ir::Literal& literal) {
        const std::uint64_t key = literal.type().elements() == 0 ? 0 : literal.is_splat() ? literal.bits() : literal.element_bits(0);
        for (auto [at, end] = constant_numbers_.equal_range(key); at != end; ++at)
            if (plan_.constants[at->second] == literal) return at->second;
        const auto number = static_cast<std::uint32_t>(plan_.constants.size());
        plan_.constants.push_back(literal);
        constant_numbers_.emplace(key, number);
        return number;
    }

    BufferId constant_buffer(const ir::Literal& literal) {
        const std::uint32_t number = constant_number(literal);
        if (constant_buffers_.empty())
            for (BufferId b = 0; b < plan_.buffers.size(); ++b)
                if (plan_.buffers[b].source == Memory::Source::constant) constant_buffers_.emplace(plan_.buffers[b].index, b);
        const auto [place, is_new] = constant_buffers_.emplace(number, static_cast<BufferId>(plan_.buffers.size()));
        if (is_new) {
            Memory m;
            m.source = Memory::Source::constant;
            m.index = number;
            m.bytes = literal.type().bytes();
            plan_.buffers.push_back(m);
        }
        return place->second;
    }

    void add_group(GroupId id) {
        const Group& g = fused_.groups[id];
        if (g.kind == Group::Kind::copy) return add_copy(g);
        if (g.kind == Group::Kind::operation) {
            Writer w;
            scope_.begin();
            const Work work = emit_step(w, scope_, id);
            return add_nest(w, work, g);
        }
        const LoopPlan& loops = top_loops(fused_, id);
        if (loops.row_count == 0 || (loops.form == LoopForm::elements && loops.inner_count == 0)) return;
        if (loops.block == 0) {
            Writer w;
            scope_.begin();
            const Work work = LoopEmitter(w, scope_, id, loops, LoopPart::all).run();
            return add_nest(w, work, g);
        }
        const std::int64_t partials = static_cast<std::int64_t>(g.reductions.size()) * loops.blocks * loops.row_count * 8;
        step_scratch_ = std::max(step_scratch_, aligned(partials));
        for (const LoopPart part : {LoopPart::partials, LoopPart::final}) {
            Writer w;
            scope_.begin();
            const Work work = LoopEmitter(w, scope_, id, loops, part).run();
            add_nest(w, work, g, 0);
        }
    }

    void add_copy(const Group& g) {
        const std::uint32_t from = memory_.block_of[g.source], to = memory_.block_of[g.target];
        if (from == to || function_.type(g.target).bytes() == 0) return;
        Step step;
        step.kind = Step::Kind::copy;
        step.first_buffer = static_cast<std::uint32_t>(plan_.step_buffers.size());
        step.buffer_count = 2;
        step.estimate_us = static_cast<float>(static_cast<double>(function_.type(g.target).bytes()) * 1e-4 + 0.02);
        step.location = function_.ops()[static_cast<std::size_t>(g.op)].location;
        plan_.step_buffers.push_back(to);
        plan_.step_buffers.push_back(from);
        plan_.steps.push_back(step);
        plan_.estimate_us += plan_.estimate_us < 0 ? 0 : static_cast<double>(step.estimate_us);
    }

    /// `partials`: slot of the step scratch when the nest has it as a plain buffer.
    void add_nest(Writer& w, const Work& work, const Group& g, std::int64_t partials = -1) {
        if (work.units == 0) return;
        Step step;
        step.first_buffer = static_cast<std::uint32_t>(plan_.step_buffers.size());
        step.buffer_count = static_cast<std::uint32_t>(w.buffer_count());
        plan_.step_buffers.resize(plan_.step_buffers.size() + step.buffer_count, scratch_);
        for (const auto& [v, slot] : scope_.slots()) plan_.step_buffers[step.first_buffer + slot] = memory_.block_of[v];
        for (const Writer::Constant& c : w.constants()) plan_.step_buffers[step.first_buffer + c.slot] = constant_buffer(c.literal);
        internal_check(partials < 0 || step.buffer_count > 0, "partial results without memory");
        step.first_param = static_cast<std::uint32_t>(plan_.params.size());
        step.param_count = static_cast<std::uint32_t>(w.params().size());
        plan_.params.insert(plan_.params.end(), w.params().begin(), w.params().end());
        step_scratch_ = std::max(step_scratch_, aligned(w.scratch_bytes()));
        step.units = work.units;
        step.grain = work.grain;
        step.parallel = work.units > work.grain;
        step.estimate_us = static_cast<float>(work.estimate_us);
        step.location = function_.ops()[static_cast<std::size_t>(g.op)].location;
        step.nest = nest_number(w.b.finish());
        plan_.steps.push_back(step);
        if (work.estimate_us < 0)
            plan_.estimate_us = -1;
        else if (plan_.estimate_us >= 0)
            plan_.estimate_us += work.estimate_us;
    }

    std::uint32_t nest_number(Nest nest) {
        const std::uint64_t hash = nest.hash.low;
        for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
            if (plan_.nests[at->second] == nest) return at->second;
        const auto number = static_cast<std::uint32_t>(plan_.nests.size());
        plan_.nests.push_back(std::move(nest));
        known_.emplace(hash, number);
        return number;
    }

    void find_results() {
        for (std::size_t r = 0; r < function_.results().size(); ++r) {
            ResultSource source;
            const std::uint32_t b = memory_.block_of[fused_.owner(function_.results()[r])];
            internal_check(b != no_block, "a result has no memory");
            const Block& block = memory_.blocks[b];
            if (block.kind == Block::Kind::parameter)
                source = {ResultSource::Kind::input, block.index};
            else if (block.kind == Block::Kind::constant)
                source = {ResultSource::Kind::constant, plan_.buffers[b].index};
            else if (block.index != r)
                source = {ResultSource::Kind::result, block.index};
            plan_.result_sources.push_back(source);
        }
    }

    const ir::Function& function_;
    Fused fused_;
    MemoryPlan memory_;
    TopScope scope_;
    Plan plan_;
    BufferId scratch_ = 0;
    std::int64_t step_scratch_ = 0;
    template <class Key, class T>
    using Pooled = runtime::PoolAllocator<std::pair<const Key, T>>;
    using ByHash = std::unordered_multimap<std::uint64_t, std::uint32_t, std::hash<std::uint64_t>, std::equal_to<>,
                                           Pooled<std::uint64_t, std::uint32_t>>;
    ByHash known_, constant_numbers_; ///< nests, constants by hash
    std::unordered_map<std::uint32_t, BufferId, std::hash<std::uint32_t>, std::equal_to<>, Pooled<std::uint32_t, BufferId>>
        constant_buffers_;
};

/// How deep control flow may nest: what makes machine code of it takes cubic time in the depth.
constexpr std::size_t deepest = 512;

/// The levels of regions in a function; an Error where there are more than are allowed. `known`: of functions seen already.
std::size_t levels(const ir::Function& f, std::size_t outside, std::unordered_map<const ir::Function*, std::size_t>& known) {
    if (const auto at = known.find(&f); at != known.end()) return at->second;
    std::size_t most = 0;
    for (const ir::Op& op : f.ops())
        for (const ir::FunctionPtr& region : op.regions) {
            if (outside < deepest &&
                std::all_of(region->ops().begin(), region->ops().end(), [](const ir::Op& o) { return o.regions.empty(); })) {
                most = std::max<std::size_t>(most, 1);
                continue;
            }
            std::size_t inside = deepest;
            if (outside < deepest) inside = levels(*region, outside + 1, known) + 1;
            if (outside + inside > deepest)
                fail(ir::name(op.code), "loops and branches nest more than " + std::to_string(deepest) + " levels deep", op.location);
            most = std::max(most, inside);
        }
    known.emplace(&f, most);
    return most;
}

} // namespace

Plan make_plan(const ir::FunctionPtr& function, const PlanOptions& options) {
    runtime::bump(&runtime::Counters::plans);
    std::unordered_map<const ir::Function*, std::size_t> known;
    levels(*function, 0, known);
    const ir::FunctionPtr optimized =
        pass::settle_unit_reductions(options.optimize ? pass::optimize(function) : pass::inline_calls(function));
    return Maker(*optimized).run();
}

} // namespace stithy::plan
