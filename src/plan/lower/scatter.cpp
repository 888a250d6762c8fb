#include "ops/axes.hpp"
#include "plan/lower/operations.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::Direction;
using ir::OpCode;
using ir::ValueId;

namespace {

bool holds(const Dims& dims, std::size_t d) { return ops::contains(dims, static_cast<std::int64_t>(d)); }

PoolVector<std::int64_t> strides(const Shape& shape) {
    PoolVector<std::int64_t> s(shape.rank());
    std::int64_t stride = 1;
    for (std::size_t i = shape.rank(); i-- > 0; stride *= shape[i]) s[i] = stride;
    return s;
}

/// Updates one after the other in index order (so that equal indices give the same result each time); the elements of a window side by
/// side.
class Scatter {
public:
    Scatter(Writer& w, Scope& scope, const ir::Op& op)
        : w_(w), b_(w.b), scope_(scope), op_(op), attr_(op.get<ir::ScatterAttr>()), adds_(op.code == OpCode::accumulator_scatter_add),
          count_(adds_ ? 1 : op.operands.size() / 2), indices_(op.operands[count_]), target_(scope.function.type(op.operands[0]).shape()),
          index_shape_(scope.function.type(indices_).shape()), updates_(scope.function.type(op.operands[count_ + 1]).shape()) {}

    Work run() {
        Work work;
        work.estimate_us = static_cast<double>(updates_.elements()) * 2e-3 + 0.05;
        if (updates_.elements() == 0 || target_.elements() == 0) return work;
        one_ = target_.elements() == 1;
        for (std::size_t i = 0; i < count_; ++i) { // pointers are made outside of the loops
            if (!one_) scope_.pointer(w_, op_.result(static_cast<std::uint32_t>(i)));
            updates_pointer_.push_back(scope_.pointer_or_local(w_, op_.operands[count_ + 1 + i]));
        }
        indices_pointer_ = scope_.pointer_or_local(w_, indices_);
        for (std::size_t i = 0; one_ && i < count_; ++i) {
            const ValueId v = op_.result(static_cast<std::uint32_t>(i));
            single_.push_back(b_.variable(scope_.function.type(v).dtype(), scope_.scalar(w_, v)));
        }
        open_updates();
        find_place();
        b_.if_(inside_);
        update();
        b_.end();
        for (std::size_t i = 0; i < loops_; ++i) b_.end();
        for (std::size_t i = 0; i < single_.size(); ++i)
            scope_.set_scalar(w_, op_.result(static_cast<std::uint32_t>(i)), b_.get(single_[i]));
        return work;
    }

private:
    [[nodiscard]] bool in_window(std::size_t update_dim) const { return holds(attr_.update_window_dims, update_dim); }

    /// Loops over the updates: what counts index vectors outside, the window inside, so that a window's place is found once.
    void open_updates() {
        counters_.assign(updates_.rank(), b_.fixed_int(0));
        PoolVector<std::size_t> order;
        for (std::size_t d = 0; d < updates_.rank(); ++d)
            if (!in_window(d) && updates_[d] != 1) order.push_back(d);
        for (std::size_t d = 0; d < updates_.rank(); ++d)
            if (in_window(d) && updates_[d] != 1) order.push_back(d);
        // Lanes must not meet: only elements of one window are sure to go to different places.
        const bool vector = !order.empty() && in_window(order.back()) && !one_;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const bool last = i + 1 == order.size();
            counters_[order[i]] =
                b_.loop(last && vector ? LoopKind::vector : LoopKind::serial, b_.fixed_int(0), w_.number(updates_[order[i]]));
        }
        loops_ = order.size();
    }

    NestValue place(const PoolVector<std::int64_t>& s, const PoolVector<NestValue>& at, std::int64_t offset = 0) {
        NestValue sum = offset == 0 ? b_.fixed_int(0) : w_.number(offset);
        for (std::size_t i = 0; i < s.size(); ++i) sum = b_.add(sum, s[i] == 1 ? at[i] : b_.mul(at[i], w_.number(s[i])));
        return sum;
    }

    /// Index of the target element, and whether it is inside.
    void find_place() {
        PoolVector<NestValue> batch;
        for (std::size_t d = 0; d < updates_.rank(); ++d)
            if (!in_window(d)) batch.push_back(counters_[d]);
        const auto vector_dim = static_cast<std::size_t>(attr_.index_vector_dim);
        PoolVector<NestValue> at(target_.rank(), b_.fixed_int(0));
        PoolVector<bool> checked(target_.rank(), false);
        const auto index_strides = strides(index_shape_);
        for (std::size_t k = 0; k < attr_.scatter_dims_to_operand_dims.size(); ++k) {
            PoolVector<NestValue> where;
            PoolVector<std::int64_t> s;
            for (std::size_t i = 0, q = 0; i < index_shape_.rank(); ++i) {
                if (i == vector_dim) continue;
                where.push_back(batch[q++]);
                s.push_back(index_strides[i]);
            }
            const std::int64_t offset = vector_dim < index_shape_.rank() ? static_cast<std::int64_t>(k) * index_strides[vector_dim] : 0;
            const DType dtype = scope_.function.type(indices_).dtype();
            const NestValue raw = b_.load(dtype, indices_pointer_, place(s, where, offset));
            const auto d = static_cast<std::size_t>(attr_.scatter_dims_to_operand_dims[k]);
            at[d] = b_.apply(OpCode::convert, i64, raw);
            checked[d] = true;
        }
        for (std::size_t k = 0; k < attr_.input_batching_dims.size(); ++k) {
            const auto i = static_cast<std::size_t>(attr_.scatter_indices_batching_dims[k]);
            at[static_cast<std::size_t>(attr_.input_batching_dims[k])] = batch[i < vector_dim ? i : i - 1];
        }
        PoolVector<NestValue> window;
        for (std::int64_t d : attr_.update_window_dims) window.push_back(counters_[static_cast<std::size_t>(d)]);
        for (std::size_t d = 0, q = 0; d < target_.rank(); ++d)
            if (!holds(attr_.inserted_window_dims, d) && !holds(attr_.input_batching_dims, d)) at[d] = b_.add(at[d], window[q++]);
        inside_ = b_.fixed(boolean, 1);
        for (std::size_t d = 0; d < target_.rank(); ++d) {
            if (!checked[d]) continue;
            const NestValue low = b_.compare(Direction::ge, at[d], b_.fixed_int(0)),
                            high = b_.compare(Direction::lt, at[d], w_.number(target_[d]));
            inside_ = b_.apply(OpCode::and_, boolean, inside_, b_.apply(OpCode::and_, boolean, low, high));
        }
        target_place_ = place(strides(target_), at);
        update_place_ = place(strides(updates_), counters_);
    }

    void update() {
        PoolVector<NestValue> arguments(2 * count_, no_nest_value);
        for (std::size_t i = 0; i < count_; ++i) {
            const ValueId result = op_.result(static_cast<std::uint32_t>(i));
            const DType dtype = scope_.function.type(result).dtype();
            arguments[i] = one_ ? b_.get(single_[i]) : b_.load(dtype, scope_.pointer(w_, result), target_place_);
            arguments[count_ + i] = b_.load(dtype, updates_pointer_[i], update_place_);
        }
        PoolVector<NestValue> results;
        if (adds_)
            results = {b_.apply(OpCode::add, scope_.function.type(op_.result()).dtype(), arguments[0], arguments[1])};
        else
            results = emit_region(w_, *op_.regions[0], arguments);
        for (std::size_t i = 0; i < count_; ++i) {
            const ValueId result = op_.result(static_cast<std::uint32_t>(i));
            if (one_)
                b_.set(single_[i], results[i]);
            else
                b_.store(scope_.function.type(result).dtype(), scope_.pointer(w_, result), target_place_, results[i]);
        }
    }

    Writer& w_;
    NestBuilder& b_;
    Scope& scope_;
    const ir::Op& op_;
    const ir::ScatterAttr& attr_;
    bool adds_, one_ = false;
    std::size_t count_;
    ValueId indices_;
    const Shape &target_, &index_shape_, &updates_;
    PoolVector<NestValue> counters_, updates_pointer_;
    PoolVector<NestValue> single_; ///< the targets when they have one element: variables
    NestValue indices_pointer_ = no_nest_value, inside_ = no_nest_value, target_place_ = no_nest_value, update_place_ = no_nest_value;
    std::size_t loops_ = 0;
};

} // namespace

Work lower_scatter(Writer& w, Scope& scope, const ir::Op& op) { return Scatter(w, scope, op).run(); }

} // namespace stithy::plan
