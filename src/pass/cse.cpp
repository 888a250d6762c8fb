#include "pass/cse.hpp"

#include "pass/rewrite.hpp"

namespace stithy::pass {

namespace {

bool same_attr(const ir::AttrPtr& a, const ir::AttrPtr& b) { return a == b || (a && b && *a == *b); }

/// Accumulators and stacks are used once each: making one twice is not the same as sharing it.
bool is_shareable(const Op& op, std::span<const Type> types) {
    if (op.effect != ir::Effect::pure) return false;
    for (const Type& t : types)
        if (!t.is_tensor()) return false;
    return true;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull ^ (h >> 29); }

class ShareCommon final : public Rewriter {
    using Table = std::unordered_multimap<std::uint64_t, std::size_t>; // hash -> index of the op in the builder

    void enter(const Function&, std::int64_t) override { table_.clear(); }

    static std::uint64_t hash(const Op& op) {
        std::uint64_t h = static_cast<std::uint64_t>(op.code) + 1;
        for (ValueId v : op.operands) h = mix(h, v);
        if (op.code == OpCode::constant) {
            const ir::Literal& l = op.get<ir::ConstantAttr>().value;
            h = mix(h, l.is_splat() ? l.bits() : l.element_bits(0));
        }
        return h;
    }

    bool rewrite(Builder& builder, const Op& op, std::span<const Value>, std::span<const Type> types, Values& results) override {
        if (!is_shareable(op, types)) return false;
        const std::uint64_t h = hash(op);
        auto [first, last] = table_.equal_range(h);
        for (auto it = first; it != last; ++it) {
            const Op& other = builder.ops()[it->second];
            bool same = other.code == op.code && other.operands == op.operands && other.regions == op.regions && same_attr(other.attr, op.attr) &&
                        other.result_count == types.size();
            for (std::size_t r = 0; same && r < types.size(); ++r) same = builder.type(other.result(static_cast<std::uint32_t>(r))) == types[r];
            if (!same) continue;
            for (std::uint32_t r = 0; r < other.result_count; ++r) results.emplace_back(builder, other.result(r));
            return true;
        }
        table_.emplace(h, builder.ops().size());
        return false;
    }

    Table table_;
};

} // namespace

ir::FunctionPtr share_common(const ir::FunctionPtr& f) { return ShareCommon().run(f); }

} // namespace stithy::pass
