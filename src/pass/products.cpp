#include "pass/products.hpp"

#include "ops/axes.hpp"
#include "pass/rewrite.hpp"

#include <algorithm>
#include <numeric>

namespace stithy::pass {

namespace {

/// One operand of a product: the value and its dimension numbers.
struct Side {
    Value value;
    Dims batch, contract;

    [[nodiscard]] Dims free() const {
        Dims r;
        for (std::size_t d = 0; d < value.rank(); ++d)
            if (const auto axis = static_cast<std::int64_t>(d); !ops::contains(batch, axis) && !ops::contains(contract, axis))
                r.push_back(axis);
        return r;
    }
};

/// Reads the operand of a transposition instead, where the free axes keep their order (it is the result's).
bool fold(Builder& builder, Side& side) {
    const Op* op = definition(builder, side.value.id());
    if (!op || op->code != OpCode::transpose) return false;
    const Dims& permutation = op->get<ir::DimsAttr>().dims;
    const auto source = [&](Dims dims) {
        for (std::int64_t& d : dims) d = permutation[static_cast<std::size_t>(d)];
        return dims;
    };
    const Dims free = source(side.free());
    if (!std::is_sorted(free.begin(), free.end())) return false;
    side = {Value(builder, op->operands[0]), source(side.batch), source(side.contract)};
    return true;
}

/// The axes longer than 1 in the order of memory.
Dims long_axes(const Dims& axes, const Shape& shape) {
    Dims r;
    for (std::int64_t d : axes)
        if (shape[static_cast<std::size_t>(d)] != 1) r.push_back(d);
    return r;
}

/// Whether axes, in the given order, lie side by side in memory: one axis of a matrix.
bool is_block(const Dims& axes, const Shape& shape) {
    const Dims some = long_axes(axes, shape);
    for (std::size_t i = 1; i < some.size(); ++i) {
        if (some[i] <= some[i - 1]) return false;
        for (std::int64_t between = some[i - 1] + 1; between < some[i]; ++between)
            if (shape[static_cast<std::size_t>(between)] != 1) return false;
    }
    return true;
}

/// Whether an operand is a batch of matrices (free x contracted or the other way round) as it lies, the contracted axes in the given order.
bool is_matrix(const Side& side) {
    const Shape& shape = side.value.shape();
    if (!is_block(side.free(), shape) || !is_block(side.contract, shape)) return false;
    Dims batch = long_axes(side.batch, shape), others = long_axes(side.free(), shape);
    for (std::int64_t d : long_axes(side.contract, shape)) others.push_back(d);
    // the last axis must be one of the matrix
    return batch.empty() || others.empty() ||
           *std::max_element(batch.begin(), batch.end()) < *std::max_element(others.begin(), others.end());
}

/// The operand with its axes as batch, free, contracted.
Side laid_out(const Side& side) {
    Dims order = side.batch;
    for (std::int64_t d : side.free()) order.push_back(d);
    for (std::int64_t d : side.contract) order.push_back(d);
    const auto from = [&](std::size_t first, std::size_t count) {
        Dims r(count, 0);
        std::iota(r.begin(), r.end(), static_cast<std::int64_t>(first));
        return r;
    };
    const Value value = ops::transpose(side.value, order);
    return {value, from(0, side.batch.size()), from(order.size() - side.contract.size(), side.contract.size())};
}

std::int64_t extent(const Dims& axes, const Shape& shape) {
    std::int64_t n = 1;
    for (std::int64_t d : axes) n *= shape[static_cast<std::size_t>(d)];
    return n;
}

class FoldTransposes final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::dot_general || op.code == OpCode::transpose; }

    void enter(const Function& f, std::int64_t) override {
        uses_ = count_uses(f);
        single_.clear();
    }

    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        const Value made = op.code == OpCode::transpose ? exchanged(builder, op, types) : folded(builder, op, operands, types);
        if (op.code == OpCode::dot_general && uses_[op.first_result] == 1)
            single_.push_back(made ? made.id() : static_cast<ValueId>(builder.value_count())); // the value that comes next
        if (made) results.push_back(made);
        return static_cast<bool>(made);
    }

    static Value product(Builder& builder, const Side& lhs, const Side& rhs, std::span<const Type> types, const Location& location) {
        const Value both[] = {lhs.value, rhs.value};
        return append_op(builder, OpCode::dot_general, both, ir::make_attr(ir::DotAttr{lhs.batch, rhs.batch, lhs.contract, rhs.contract}),
                         {}, types, location)[0];
    }

    /// A product that reads its operands as they lie; nothing where it does already.
    static Value folded(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types) {
        const auto& dims = op.get<ir::DotAttr>();
        Side lhs{operands[0], dims.lhs_batch, dims.lhs_contract}, rhs{operands[1], dims.rhs_batch, dims.rhs_contract};
        while (fold(builder, lhs)) {
        }
        while (fold(builder, rhs)) {
        }
        sort_contracted(lhs, rhs);
        if (calls_library(lhs, rhs)) {
            if (!is_matrix(lhs)) lhs = laid_out(lhs);
            if (!is_matrix(rhs)) rhs = laid_out(rhs);
        }
        // an operand that was laid out before comes out of `fold` and `laid_out` as another value, but the same
        const auto same = [&](const Side& side, Value was, const Dims& batch, const Dims& contract) {
            return side.batch == batch && side.contract == contract &&
                   (side.value.id() == was.id() || is_same_transpose(builder, side.value, was));
        };
        if (same(lhs, operands[0], dims.lhs_batch, dims.lhs_contract) && same(rhs, operands[1], dims.rhs_batch, dims.rhs_contract))
            return {};
        return product(builder, lhs, rhs, types, op.location);
    }

    static bool is_same_transpose(const Builder& builder, Value x, Value y) {
        const Op *a = definition(builder, x.id()), *b = definition(builder, y.id());
        return a && b && a->code == OpCode::transpose && b->code == OpCode::transpose && a->operands[0] == b->operands[0] &&
               a->get<ir::DimsAttr>().dims == b->get<ir::DimsAttr>().dims;
    }

    /// The contracted axes in the order in which the left side lies: sums have no order that a user could count on.
    static void sort_contracted(Side& lhs, Side& rhs) {
        std::vector<std::size_t> order(lhs.contract.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lhs.contract[a] < lhs.contract[b]; });
        Dims left = lhs.contract, right = rhs.contract;
        for (std::size_t i = 0; i < order.size(); ++i) {
            left[i] = lhs.contract[order[i]];
            right[i] = rhs.contract[order[i]];
        }
        lhs.contract = left;
        rhs.contract = right;
    }

    /// Small products, and those of integers, are generated loops, which read any layout.
    static bool calls_library(const Side& lhs, const Side& rhs) {
        const Shape &a = lhs.value.shape(), &b = rhs.value.shape();
        const std::int64_t k = extent(lhs.contract, a);
        return lhs.value.dtype().is_floating() && lhs.value.dtype() == rhs.value.dtype() && k > 1 &&
               static_cast<double>(a.elements()) * static_cast<double>(extent(rhs.free(), b)) >= 512;
    }

    /// transpose(a b) that only exchanges the rows and the columns, of a product that nobody else reads, is b a.
    Value exchanged(Builder& builder, const Op& op, std::span<const Type> types) const {
        const ValueId source = op.operands[0];
        if (!std::binary_search(single_.begin(), single_.end(), source)) return {};
        const Op& dot = *definition(builder, source);
        const auto& dims = dot.get<ir::DotAttr>();
        const Side lhs{Value(builder, dot.operands[0]), dims.lhs_batch, dims.lhs_contract},
            rhs{Value(builder, dot.operands[1]), dims.rhs_batch, dims.rhs_contract};
        const auto batch = static_cast<std::int64_t>(lhs.batch.size()), rows = static_cast<std::int64_t>(lhs.free().size()),
                   columns = static_cast<std::int64_t>(rhs.free().size());
        Dims wanted;
        for (std::int64_t d = 0; d < batch; ++d) wanted.push_back(d);
        for (std::int64_t d = 0; d < columns; ++d) wanted.push_back(batch + rows + d);
        for (std::int64_t d = 0; d < rows; ++d) wanted.push_back(batch + d);
        if (op.get<ir::DimsAttr>().dims != wanted) return {};
        return product(builder, rhs, lhs, types, op.location);
    }

    std::vector<std::uint32_t> uses_; ///< of the values of the function as it was
    std::vector<ValueId> single_;     ///< new products that are read once, in the order in which they are made
};

} // namespace

ir::FunctionPtr fold_transposes(const ir::FunctionPtr& f) { return FoldTransposes().run(f); }

} // namespace stithy::pass
