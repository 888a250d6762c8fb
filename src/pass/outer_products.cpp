#include "pass/outer_products.hpp"

#include "pass/rewrite.hpp"

#include <algorithm>
#include <optional>

namespace stithy::pass {

namespace {

/// A contribution `accumulator += product(left, right)` of a loop's body.
struct Outer {
    std::size_t accumulator; ///< which of the loop's accumulators
    std::size_t add_op;      ///< the accumulator_add in the body
    ValueId left, right;     ///< the factors, values of the body
    ir::DotAttr dims;        ///< of the product
};

constexpr std::int64_t least_bytes = 4096;       ///< smaller accumulators stay in the cache and in the loop
constexpr std::int64_t chunk_bytes = 128 * 1024; ///< of one factor's chunk
constexpr std::int64_t longest = 128, shortest = 16;

const Op* defining(const Function& f, ValueId v) {
    const std::int32_t d = f.defining_op()[v];
    return d < 0 ? nullptr : &f.ops()[static_cast<std::size_t>(d)];
}

/// A product of two values that has the dot product's form: of a dot_general, or of an elementwise product of two values that are
/// broadcast along each other's axes.
std::optional<Outer> factors_of(const Function& body, const Op& product) {
    if (product.code == OpCode::dot_general) return Outer{0, 0, product.operands[0], product.operands[1], product.get<ir::DotAttr>()};
    if (product.code != OpCode::multiply) return std::nullopt;
    const Op *left = defining(body, product.operands[0]), *right = defining(body, product.operands[1]);
    if (!left || !right || left->code != OpCode::broadcast_in_dim || right->code != OpCode::broadcast_in_dim) return std::nullopt;
    const std::size_t rank = body.type(product.first_result).rank();
    const auto leads = [&](const Op& a, const Op& b) { // whether a's axes, then b's, are all the axes
        const Dims &first = a.get<ir::DimsAttr>().dims, &second = b.get<ir::DimsAttr>().dims;
        if (first.size() + second.size() != rank || first.empty() || second.empty()) return false;
        for (std::size_t d = 0; d < rank; ++d)
            if ((d < first.size() ? first[d] : second[d - first.size()]) != static_cast<std::int64_t>(d)) return false;
        return true;
    };
    const auto full = [&](const Op& b) { // no axis of extent 1 is stretched
        const Dims& dims = b.get<ir::DimsAttr>().dims;
        const Shape &from = body.type(b.operands[0]).shape(), &to = body.type(b.first_result).shape();
        for (std::size_t d = 0; d < dims.size(); ++d)
            if (from[d] != to[static_cast<std::size_t>(dims[d])]) return false;
        return true;
    };
    if (!full(*left) || !full(*right)) return std::nullopt;
    if (leads(*right, *left)) std::swap(left, right);
    if (!leads(*left, *right)) return std::nullopt;
    return Outer{0, 0, left->operands[0], right->operands[0], {}};
}

std::vector<Outer> find_outers(const Function& body, const LoopLayout& layout) {
    const std::vector<std::uint32_t> uses = count_uses(body);
    std::vector<Outer> found;
    for (std::size_t a = 0; a < layout.accumulators; ++a) {
        // the chain of additions from the result back to the parameter
        ValueId v = body.results()[layout.accumulator_result(a)];
        while (v >= body.parameter_count()) {
            const auto index = static_cast<std::size_t>(body.defining_op()[v]);
            const Op& add = body.ops()[index];
            if (add.operands.empty() || !body.type(add.operands[0]).is_accumulator()) break;
            if (add.code == OpCode::accumulator_add && uses[add.operands[1]] == 1) {
                const Op* product = defining(body, add.operands[1]);
                if (auto outer = product ? factors_of(body, *product) : std::nullopt) {
                    const std::int64_t bytes = body.type(v).bytes(),
                                       factors = body.type(outer->left).bytes() + body.type(outer->right).bytes();
                    outer->accumulator = a;
                    outer->add_op = index;
                    if (bytes >= least_bytes && factors < 2 * bytes) found.push_back(std::move(*outer));
                }
            }
            v = add.operands[0];
        }
    }
    return found;
}

class GatherOuterProducts final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::loop; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type>, Values& results) override {
        if (op.code != OpCode::loop || op.effect != ir::Effect::pure) return false;
        const auto& attr = op.get<LoopAttr>();
        if (attr.length < 2 * shortest) return false;
        const LoopLayout layout(attr);
        const std::vector<Outer> outers = find_outers(*op.regions[0], layout);
        if (outers.empty()) return false;
        results = Chunked(builder, op, operands, outers).run();
        return true;
    }

    /// Builds: loop over chunks { loop over the chunk's steps that stacks the factors; one product for each accumulation }, then the same
    /// for the steps that are left.
    class Chunked {
    public:
        Chunked(Builder& builder, const Op& op, std::span<const Value> operands, const std::vector<Outer>& outers)
            : builder_(builder), op_(op), attr_(op.get<LoopAttr>()), layout_(attr_), body_(*op.regions[0]), outers_(outers),
              operands_(operands.begin(), operands.end()) {
            std::int64_t widest = 1;
            for (const Outer& o : outers_) widest = std::max({widest, body_.type(o.left).bytes(), body_.type(o.right).bytes()});
            chunk_ = std::min(std::clamp(chunk_bytes / widest / shortest * shortest, shortest, longest), attr_.length);
            // A chunk that divides the steps leaves no rest, and xs need not be cut.
            for (std::int64_t c = chunk_; c >= shortest; --c)
                if (attr_.length % c == 0) {
                    chunk_ = c;
                    break;
                }
        }

        Values run() {
            const std::int64_t chunks = attr_.length / chunk_, rest = attr_.length % chunk_, split = chunks * chunk_;
            Values carried; // carries and accumulators
            for (std::size_t p = layout_.carry(0); p < layout_.x(0); ++p) carried.push_back(operands_[layout_.operand_of(p)]);
            Values head, tail; // ys of the chunks, of the rest
            auto run_head = [&] { head = run_chunks(carried, chunks, split); };
            auto run_tail = [&] {
                if (rest > 0)
                    tail =
                        run_block(builder_, carried, invariants(), xs_between(split, attr_.length), counter_offset(builder_, split), rest);
            };
            if (attr_.reverse) {
                run_tail();
                run_head();
            } else {
                run_head();
                run_tail();
            }
            Values results = carried;
            for (std::size_t y = 0; y < layout_.ys; ++y) {
                const Value parts[] = {head[y], rest > 0 ? tail[y] : Value()};
                results.push_back(rest > 0 ? ops::concatenate(parts, 0) : head[y]);
            }
            return results;
        }

    private:
        [[nodiscard]] Values invariants() const {
            return {operands_.begin() + static_cast<std::ptrdiff_t>(layout_.trip),
                    operands_.begin() + static_cast<std::ptrdiff_t>(layout_.trip + layout_.invariants)};
        }

        /// Whether a value of the body is a slice of an xs.
        [[nodiscard]] bool is_x(ValueId v) const { return v < body_.parameter_count() && layout_.is_x(v); }

        /// The product of stacked factors: the steps' axis leads both and is contracted with what the product contracts.
        static ir::DotAttr over_steps(const ir::DotAttr& one) {
            ir::DotAttr d = one;
            for (Dims* dims : {&d.lhs_batch, &d.rhs_batch, &d.lhs_contract, &d.rhs_contract})
                for (std::int64_t& axis : *dims) ++axis;
            d.lhs_contract.insert(0, 0);
            d.rhs_contract.insert(0, 0);
            return d;
        }

        static Value counter_offset(Builder& b, std::int64_t offset) {
            return ops::constant(b, ir::Literal::splat(Type(i64, Shape{}), offset));
        }

        Values xs_between(std::int64_t from, std::int64_t to) {
            Values xs;
            for (std::size_t i = 0; i < layout_.xs; ++i) {
                const Value x = operands_[layout_.operand_of(layout_.x(i))];
                Dims start(x.rank(), 0), limit = x.shape().dims();
                start[0] = from;
                limit[0] = to;
                xs.push_back(from == 0 && to == attr_.length ? x : ops::slice(x, start, limit));
            }
            return xs;
        }

        /// The loop over whole chunks; updates `carried`, returns the ys [chunks * chunk, ...].
        Values run_chunks(Values& carried, std::int64_t chunks, std::int64_t split) {
            Builder b(body_.name() + "_chunks");
            const Value counter(b, b.parameter(Type(i64, Shape{})));
            LoopAttr outer = attr_;
            outer.length = chunks;
            Values all = invariants(), in_invariants, in_carried, in_xs;
            for (const Value& v : all) in_invariants.emplace_back(b, b.parameter(v.type()));
            for (const Value& v : carried) {
                in_carried.emplace_back(b, b.parameter(v.type()));
                all.push_back(v);
            }
            for (const Value& x : xs_between(0, split)) {
                Dims dims = x.shape().dims();
                dims[0] = chunk_;
                dims.insert(0, chunks);
                const Value chunked = ops::reshape(x, Shape(dims));
                dims.erase(0);
                in_xs.emplace_back(b, b.parameter(Type(x.dtype(), Shape(dims))));
                all.push_back(chunked);
            }
            const Value first = counter * ops::constant(b, ir::Literal::splat(Type(i64, Shape{}), chunk_));
            const Values ys = run_block(b, in_carried, in_invariants, in_xs, first, chunk_);
            std::vector<ValueId> results = ids_of(in_carried);
            for (const Value& y : ys) results.push_back(y.id());
            const FunctionPtr body = b.finish(std::move(results));
            Values out =
                append_op(builder_, OpCode::loop, all, ir::make_attr(outer), {body}, ir::loop_result_types(outer, *body), op_.location);
            for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = out[i];
            Values flat;
            for (std::size_t y = carried.size(); y < out.size(); ++y) {
                Dims dims = out[y].shape().dims();
                dims.erase(0);
                dims[0] = split;
                flat.push_back(ops::reshape(out[y], Shape(dims)));
            }
            return flat;
        }

        /// `steps` steps with stacked factors, then the products. `first` is the counter of step 0 of the block. Updates `carried`, returns
        /// the ys.
        Values run_block(Builder& b, Values& carried, const Values& invariants, const Values& xs, Value first, std::int64_t steps) {
            LoopAttr inner = attr_;
            inner.length = steps;
            inner.invariants += 1;        // the first counter
            std::vector<ValueId> stacked; // body values to stack; factors that are xs need not be
            auto stack = [&](ValueId v) {
                if (is_x(v) || std::find(stacked.begin(), stacked.end(), v) != stacked.end()) return;
                stacked.push_back(v);
            };
            for (const Outer& o : outers_) {
                stack(o.left);
                stack(o.right);
            }
            inner.ys += static_cast<std::int64_t>(stacked.size());
            const FunctionPtr body = step_body(stacked);
            Values all{first};
            for (const Value& v : invariants) all.push_back(v);
            for (const Value& v : carried) all.push_back(v);
            for (const Value& v : xs) all.push_back(v);
            const Values out =
                append_op(b, OpCode::loop, all, ir::make_attr(inner), {body}, ir::loop_result_types(inner, *body), op_.location);
            for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = out[i];
            auto factor = [&](ValueId v) {
                if (is_x(v)) return xs[v - layout_.x(0)];
                const auto at = static_cast<std::size_t>(std::find(stacked.begin(), stacked.end(), v) - stacked.begin());
                return out[layout_.results() + at];
            };
            for (const Outer& o : outers_) {
                Value& accumulator = carried[layout_.carries + o.accumulator];
                accumulator = ops::accumulator_add(accumulator, ops::dot_general(factor(o.left), factor(o.right), over_steps(o.dims)));
            }
            return {out.begin() + static_cast<std::ptrdiff_t>(layout_.y_result(0)),
                    out.begin() + static_cast<std::ptrdiff_t>(layout_.results())};
        }

        /// The body without the accumulations that are gathered: (step, first, invariants.., carries.., accumulators.., xs..) -> (.., ys..,
        /// stacked..).
        FunctionPtr step_body(const std::vector<ValueId>& stacked) {
            Builder b(body_.name());
            const Value step(b, b.parameter(Type(i64, Shape{}))), first(b, b.parameter(Type(i64, Shape{})));
            Values table(body_.value_count());
            for (std::size_t p = 1; p < body_.parameter_count(); ++p) table[p] = Value(b, b.parameter(body_.type(static_cast<ValueId>(p))));
            table[0] = first + step;
            const Mask needed = needed_ops(stacked);
            for (std::size_t i = 0; i < body_.ops().size(); ++i) {
                const Op& op = body_.ops()[i];
                const bool gathered = std::any_of(outers_.begin(), outers_.end(), [&](const Outer& o) { return o.add_op == i; });
                if (gathered) {
                    table[op.first_result] = table[op.operands[0]];
                    continue;
                }
                if (!needed[i]) continue;
                const Values out = copy_op(b, body_, op, lookup(op.operands, table));
                for (std::uint32_t r = 0; r < op.result_count; ++r) table[op.result(r)] = out[r];
            }
            std::vector<ValueId> results;
            for (ValueId v : body_.results()) results.push_back(table[v].id());
            for (ValueId v : stacked) results.push_back(table[v].id());
            return b.finish(std::move(results));
        }

        /// Which operations of the body are needed once the products are taken elsewhere.
        [[nodiscard]] Mask needed_ops(const std::vector<ValueId>& stacked) const {
            Mask live(body_.value_count(), false), needed(body_.ops().size(), false);
            for (ValueId v : body_.results()) live[v] = true;
            for (ValueId v : stacked) live[v] = true;
            for (std::size_t i = body_.ops().size(); i-- > 0;) {
                const Op& op = body_.ops()[i];
                needed[i] = op.effect != ir::Effect::pure;
                for (std::uint32_t r = 0; r < op.result_count; ++r) needed[i] = needed[i] || live[op.result(r)];
                const bool gathered = std::any_of(outers_.begin(), outers_.end(), [&](const Outer& o) { return o.add_op == i; });
                if (needed[i])
                    for (std::size_t k = 0; k < (gathered ? 1 : op.operands.size()); ++k) live[op.operands[k]] = true;
            }
            return needed;
        }

        Builder& builder_;
        const Op& op_;
        LoopAttr attr_;
        LoopLayout layout_;
        const Function& body_;
        const std::vector<Outer>& outers_;
        Values operands_;
        std::int64_t chunk_ = shortest;
    };
};

} // namespace

ir::FunctionPtr gather_outer_products(const ir::FunctionPtr& f) { return GatherOuterProducts().run(f); }

} // namespace stithy::pass
