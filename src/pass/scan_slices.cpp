#include "pass/scan_slices.hpp"

#include "pass/rewrite.hpp"

#include <algorithm>
#include <optional>

namespace stithy::pass {

namespace {

/// An integer of a loop's body: by * counter + offset, exact at every step.
struct Affine {
    std::int64_t by = 0, offset = 0;
};

constexpr std::int64_t small = std::int64_t{1} << 40; ///< numbers beyond are left alone, so that nothing here can overflow

/// Integers of a body that its counter gives.
class Indices {
public:
    /// `constants`: by body parameter, the number that an invariant is known to be.
    Indices(const Function& body, std::int64_t length, const std::vector<std::optional<std::int64_t>>& constants)
        : length_(length), known_(body.value_count()) {
        if (length < 1 || length > small) return;
        known_[0] = Affine{1, 0};
        for (std::size_t p = 1; p < constants.size(); ++p)
            if (const auto& number = constants[p]) known_[p] = Affine{0, *number};
        for (const Op& op : body.ops()) {
            if (op.result_count != 1) continue;
            const Type& type = body.type(op.first_result);
            if (!type.is_tensor() || type.rank() != 0 || !(type.dtype().is_integer() || type.dtype().is_bool())) continue;
            auto value = evaluate(op);
            if (value && !fits(*value, type.dtype())) value.reset();
            known_[op.first_result] = value;
        }
    }
    [[nodiscard]] const std::optional<Affine>& of(ValueId v) const { return known_[v]; }

private:
    [[nodiscard]] std::int64_t low(const Affine& a) const { return a.offset + std::min<std::int64_t>(0, a.by * (length_ - 1)); }
    [[nodiscard]] std::int64_t high(const Affine& a) const { return a.offset + std::max<std::int64_t>(0, a.by * (length_ - 1)); }
    [[nodiscard]] bool fits(const Affine& a, DType dtype) const {
        if (dtype.is_bool()) return a.by == 0 && (a.offset == 0 || a.offset == 1);
        if (std::abs(a.by) > 1 || low(a) < -small || high(a) > small) return false;
        if (dtype.is_unsigned() && low(a) < 0) return false;
        const int bits = static_cast<int>(8 * dtype.size()) - (dtype.is_signed() ? 1 : 0);
        return bits > 40 || (high(a) < std::int64_t{1} << bits && low(a) >= -(std::int64_t{1} << bits));
    }

    [[nodiscard]] std::optional<Affine> evaluate(const Op& op) const {
        const auto operand = [&](std::size_t i) { return known_[op.operands[i]]; };
        switch (op.code) {
        case OpCode::constant: {
            const std::int64_t n = op.get<ir::ConstantAttr>().value.element_as_int(0);
            return n >= -small && n <= small ? std::optional(Affine{0, n}) : std::nullopt;
        }
        case OpCode::convert:
        case OpCode::reshape: return operand(0);
        case OpCode::add:
        case OpCode::subtract: {
            const auto a = operand(0), b = operand(1);
            if (!a || !b) return std::nullopt;
            const std::int64_t sign = op.code == OpCode::add ? 1 : -1;
            return Affine{a->by + sign * b->by, a->offset + sign * b->offset};
        }
        case OpCode::compare: return decide(op);
        case OpCode::select: {
            const auto p = operand(0);
            return p ? operand(p->offset != 0 ? 1 : 2) : std::nullopt;
        }
        default: return std::nullopt;
        }
    }

    /// A comparison whose answer is the same at every step.
    [[nodiscard]] std::optional<Affine> decide(const Op& op) const {
        const auto a = known_[op.operands[0]], b = known_[op.operands[1]];
        if (!a || !b) return std::nullopt;
        const Affine d{a->by - b->by, a->offset - b->offset};
        const auto answer = [](bool always, bool never) -> std::optional<Affine> {
            if (always) return Affine{0, 1};
            return never ? std::optional(Affine{0, 0}) : std::nullopt;
        };
        switch (op.get<ir::CompareAttr>().direction) {
        case ir::Direction::lt: return answer(high(d) < 0, low(d) >= 0);
        case ir::Direction::le: return answer(high(d) <= 0, low(d) > 0);
        case ir::Direction::gt: return answer(low(d) > 0, high(d) <= 0);
        case ir::Direction::ge: return answer(low(d) >= 0, high(d) < 0);
        default: return std::nullopt;
        }
    }

    std::int64_t length_;
    std::vector<std::optional<Affine>> known_;
};

/// Which way an operation goes through all rows of an array.
enum class Way : std::uint8_t { none, up, down };

/// Finds what can be sliced in a loop, and makes the loop again.
class Slicer {
public:
    Slicer(Builder& builder, const Op& op, std::span<const Value> operands)
        : builder_(builder), op_(op), attr_(op.get<LoopAttr>()), layout_(attr_), body_(*op.regions[0]), operands_(operands),
          indices_(body_, attr_.length, constants()), way_of_op_(body_.ops().size(), Way::none), sliced_(body_.parameter_count(), false) {
        find();
    }
    [[nodiscard]] bool found() const { return any(sliced_); }

    Values run() {
        LoopAttr attr = attr_;
        attr.reverse = attr_.reverse != flip_;
        Builder b(body_.name());
        Values inside(body_.parameter_count()), all, new_xs;
        const Value counter(b, b.parameter(body_.type(0)));
        for (std::size_t p = 1; p < layout_.parameters(); ++p) {
            if (sliced_[p]) {
                --(layout_.is_invariant(p) ? attr.invariants : attr.carries);
                continue;
            }
            const Value operand = operands_[layout_.operand_of(p)];
            inside[p] = Value(b, b.parameter(body_.type(static_cast<ValueId>(p)), body_.is_linear(p)));
            all.push_back(operand);
        }
        for (std::size_t p = 1; p < layout_.carry(0); ++p) {
            if (!sliced_[p]) continue;
            const Value operand = operands_[layout_.operand_of(p)];
            inside[p] = Value(b, b.parameter(row_type(operand.type())));
            all.push_back(operand);
            ++attr.xs;
        }
        inside[0] = flip_ ? ops::constant(b, ir::Literal::splat(Type(i64, Shape{}), attr.length - 1)) - counter : counter;
        Values table = copy_body(b, inside);
        std::vector<ValueId> results, rows;
        for (std::size_t r = 0; r < layout_.results(); ++r) {
            const bool becomes_y = r < layout_.carries && sliced_[layout_.carry(r)];
            (becomes_y ? rows : results).push_back(table[body_.results()[r]].id());
        }
        attr.ys += static_cast<std::int64_t>(rows.size());
        results.insert(results.end(), rows.begin(), rows.end());
        const FunctionPtr body = b.finish(std::move(results));
        return ordered(
            append_op(builder_, OpCode::loop, all, ir::make_attr(attr), {body}, ir::loop_result_types(attr, *body), op_.location));
    }

private:
    [[nodiscard]] std::vector<std::optional<std::int64_t>> constants() const {
        std::vector<std::optional<std::int64_t>> out(layout_.carry(0));
        for (std::size_t p = 1; p < out.size(); ++p) {
            const Value v = operands_[layout_.operand_of(p)];
            if (!v.type().is_tensor() || v.rank() != 0 || !v.dtype().is_integer()) continue;
            const ir::Literal* l = constant_of(builder_, v.id());
            if (l && std::abs(l->element_as_double(0)) < static_cast<double>(small)) out[p] = l->element_as_int(0);
        }
        return out;
    }

    static Type row_type(const Type& type) {
        Dims dims = type.shape().dims();
        dims.erase(0);
        return {type.dtype(), Shape(std::move(dims))};
    }

    /// Whether windows of `window` at `starts` are the rows of an array of `type`, one after the other.
    [[nodiscard]] Way way_of(const Type& type, const Dims& window, std::span<const ValueId> starts) const {
        if (type.rank() == 0 || type.shape()[0] != attr_.length || window[0] != 1) return Way::none;
        for (std::size_t i = 1; i < type.rank(); ++i)
            if (window[i] != type.shape()[i]) return Way::none;
        const auto& at = indices_.of(starts[0]);
        if (!at) return Way::none;
        if (at->by == 1 && at->offset == 0) return Way::up;
        return at->by == -1 && at->offset == attr_.length - 1 ? Way::down : Way::none;
    }

    void find() {
        const std::vector<std::uint32_t> uses = count_uses(body_);
        bool up = false, down = false;
        for (std::size_t i = 0; i < body_.ops().size(); ++i) {
            const Op& op = body_.ops()[i];
            if (op.code != OpCode::dynamic_slice && op.code != OpCode::dynamic_update_slice) continue;
            const ValueId source = op.operands[0];
            if (source >= body_.parameter_count()) continue;
            const bool reads_row = op.code == OpCode::dynamic_slice;
            if (reads_row ? !layout_.is_invariant(source) : !layout_.is_carry(source)) continue;
            const auto starts = std::span(op.operands).subspan(reads_row ? 1 : 2);
            const Way way =
                way_of(body_.type(source), reads_row ? op.get<ir::DimsAttr>().dims : body_.type(op.operands[1]).shape().dims(), starts);
            if (way == Way::none) continue;
            if (!reads_row &&
                (uses[source] != 1 || uses[op.first_result] != 1 || body_.results()[source - layout_.carry(0)] != op.first_result))
                continue;
            way_of_op_[i] = way;
            (way == Way::up ? up : down) = true;
        }
        flip_ = down && !up && layout_.ys == 0 && layout_.xs == 0;
        std::vector<std::uint32_t> right(body_.parameter_count(), 0); // those that go the loop's way
        for (std::size_t i = 0; i < way_of_op_.size(); ++i) {
            if (way_of_op_[i] == Way::none) continue;
            if ((way_of_op_[i] == Way::down) != flip_) continue;
            ++right[body_.ops()[i].operands[0]];
        }
        for (std::size_t p = 1; p < layout_.accumulator(0); ++p) sliced_[p] = right[p] > 0 && right[p] == uses[p];
        if (!any(sliced_)) flip_ = false;
    }

    /// `x` in another shape, with nothing in between: so that a row is seen to be the value that it holds.
    static Value reshaped(Value x, const Shape& shape) {
        for (const Op* op = definition(x.builder(), x.id()); op && op->code == OpCode::reshape; op = definition(x.builder(), x.id()))
            x = Value(x.builder(), op->operands[0]);
        return x.shape() == shape ? x : ops::reshape(x, shape);
    }

    /// The body with the sliced parameters' rows in `inside`. A dynamic_update_slice of a sliced carry gives its row.
    Values copy_body(Builder& b, const Values& inside) const {
        Values table(body_.value_count());
        std::copy(inside.begin(), inside.end(), table.begin());
        for (const Op& op : body_.ops()) {
            ops::LocationScope scope(op.location);
            const bool of_sliced = !op.operands.empty() && op.operands[0] < sliced_.size() && sliced_[op.operands[0]];
            const bool writes = of_sliced && op.code == OpCode::dynamic_update_slice;
            if (of_sliced || op.code == OpCode::reshape) {
                const Type& type = body_.type(op.first_result);
                table[op.first_result] = reshaped(table[op.operands[writes ? 1 : 0]], (writes ? row_type(type) : type).shape());
            } else {
                const Values out = copy_op(b, body_, op, lookup(op.operands, table));
                for (std::uint32_t r = 0; r < op.result_count; ++r) table[op.result(r)] = out[r];
            }
        }
        return table;
    }

    /// The new loop's results in the old order.
    [[nodiscard]] Values ordered(const Values& made) const {
        std::size_t kept = 0, row = layout_.results();
        for (std::size_t i = 0; i < layout_.carries; ++i) row -= sliced_[layout_.carry(i)] ? 1 : 0;
        Values out;
        for (std::size_t r = 0; r < layout_.results(); ++r) {
            const bool becomes_y = r < layout_.carries && sliced_[layout_.carry(r)];
            out.push_back(made[becomes_y ? row++ : kept++]);
        }
        return out;
    }

    Builder& builder_;
    const Op& op_;
    LoopAttr attr_;
    LoopLayout layout_;
    const Function& body_;
    std::span<const Value> operands_;
    Indices indices_;
    std::vector<Way> way_of_op_;
    Mask sliced_; ///< by parameter: an invariant that becomes xs, or a carry that becomes ys
    bool flip_ = false;
};

class SlicesOfScans final : public Rewriter {
    bool handles(const Op& op) const override {
        return op.code == OpCode::loop && op.effect == ir::Effect::pure && op.get<LoopAttr>().length > 0;
    }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type>, Values& results) override {
        Slicer slicer(builder, op, operands);
        if (!slicer.found()) return false;
        results = slicer.run();
        return true;
    }
};

} // namespace

ir::FunctionPtr slices_of_scans(const ir::FunctionPtr& f) { return SlicesOfScans().run(f); }

} // namespace stithy::pass
