#include "pass/cse.hpp"

#include "pass/rewrite.hpp"

#include <algorithm>
#include <numeric>

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

/// Finds operations of a function that an earlier one does already.
class Sharing {
public:
    explicit Sharing(const Function& f) : f_(f), into_(f.value_count()) {
        std::iota(into_.begin(), into_.end(), ValueId{0});
        std::size_t size = 16;
        while (size < 2 * f.ops().size()) size *= 2;
        table_.assign(size, none);
        for (std::size_t i = 0; i < f.ops().size(); ++i) {
            const Op& op = f.ops()[i];
            if (op.result_count == 0 || !is_shareable(op, types_of(op))) continue;
            const Op* other = find_or_add(op, i);
            if (!other) continue;
            for (std::uint32_t r = 0; r < op.result_count; ++r) into_[op.result(r)] = other->result(r);
            found_ = true;
        }
    }
    [[nodiscard]] bool found() const { return found_; }

    /// The function without the second ones, and without what nobody needs any more.
    [[nodiscard]] FunctionPtr rebuild() const {
        const Mask live = alive();
        Builder builder(f_.name());
        builder.reserve(f_.value_count(), f_.ops().size());
        SmallVector<ValueId, 64> table(f_.value_count());
        for (std::size_t p = 0; p < f_.parameter_count(); ++p)
            table[p] = builder.parameter(f_.type(static_cast<ValueId>(p)), f_.is_linear(p));
        for (const Op& op : f_.ops()) {
            if (!is_used(op, live)) continue;
            Op copy = op;
            for (ValueId& v : copy.operands) v = table[into_[v]];
            std::span<const Type> types;
            if (op.result_count > 0) types = types_of(op);
            const ValueId first = builder.append(std::move(copy), types);
            for (std::uint32_t r = 0; r < op.result_count; ++r) table[op.result(r)] = first + r;
        }
        std::vector<ValueId> results;
        results.reserve(f_.results().size());
        for (ValueId v : f_.results()) results.push_back(table[into_[v]]);
        return builder.finish(std::move(results));
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    static bool is_used(const Op& op, const Mask& live) {
        bool used = op.effect == ir::Effect::ordered;
        for (std::uint32_t r = 0; !used && r < op.result_count; ++r) used = live[op.result(r)];
        return used;
    }
    /// Which values the results depend on, with the first ones in the place of the others.
    [[nodiscard]] Mask alive() const {
        Mask live(f_.value_count(), false);
        for (ValueId v : f_.results()) live[into_[v]] = true;
        for (std::size_t i = f_.ops().size(); i-- > 0;)
            if (is_used(f_.ops()[i], live))
                for (ValueId v : f_.ops()[i].operands) live[into_[v]] = true;
        return live;
    }

    [[nodiscard]] std::span<const Type> types_of(const Op& op) const { return {&f_.type(op.first_result), op.result_count}; }

    [[nodiscard]] std::uint64_t hash(const Op& op) const {
        std::uint64_t h = static_cast<std::uint64_t>(op.code) + 1;
        for (ValueId v : op.operands) h = mix(h, into_[v]);
        if (op.code == OpCode::constant) {
            const ir::Literal& l = op.get<ir::ConstantAttr>().value;
            h = mix(h, l.is_splat() ? l.bits() : l.type().elements() > 0 ? l.element_bits(0) : 0);
        }
        return h;
    }

    [[nodiscard]] bool same(const Op& a, const Op& b) const {
        if (a.code != b.code || a.operands.size() != b.operands.size() || a.result_count != b.result_count) return false;
        for (std::size_t i = 0; i < a.operands.size(); ++i)
            if (into_[a.operands[i]] != into_[b.operands[i]]) return false;
        if (a.regions != b.regions || !same_attr(a.attr, b.attr)) return false;
        const auto x = types_of(a), y = types_of(b);
        return std::equal(x.begin(), x.end(), y.begin());
    }

    /// The operation that does the same, or null and `op` is known from now on.
    const Op* find_or_add(const Op& op, std::size_t index) {
        std::size_t at = hash(op) & (table_.size() - 1);
        for (; table_[at] != none; at = (at + 1) & (table_.size() - 1))
            if (same(f_.ops()[table_[at]], op)) return &f_.ops()[table_[at]];
        table_[at] = static_cast<std::uint32_t>(index);
        return nullptr;
    }

    const Function& f_;
    std::vector<ValueId> into_;        ///< the first value equal to each
    std::vector<std::uint32_t> table_; ///< by hash: an operation's index
    bool found_ = false;
};

class ShareCommon final : public Rewriter {
    bool handles(const Op&) const override { return false; }
    bool rewrite(Builder&, const Op&, std::span<const Value>, std::span<const Type>, Values&) override { return false; }
    FunctionPtr complete(FunctionPtr f) override {
        const Sharing sharing(*f);
        return sharing.found() ? sharing.rebuild() : f;
    }
};

} // namespace

ir::FunctionPtr share_common(const ir::FunctionPtr& f) { return ShareCommon().run(f); }

} // namespace stithy::pass
