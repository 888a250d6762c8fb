#include "reference/operations.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <limits>

namespace stithy::reference {

namespace {
bool contains(const Dims& dims, std::size_t axis) {
    return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(axis)) != dims.end();
}

/// The part of `index` on the axes in `axes` (or those not in it).
Dims part(const Dims& index, const Dims& axes, bool inside) {
    Dims some;
    for (std::size_t i = 0; i < index.size(); ++i)
        if (contains(axes, i) == inside) some.push_back(index[i]);
    return some;
}

/// Component `k` of the index vector at batch place `batch` of the indices.
std::int64_t index_at(const Value& indices, std::int64_t vector_dim, Dims batch, std::int64_t k) {
    if (vector_dim < static_cast<std::int64_t>(indices.type.rank())) batch.insert(static_cast<std::size_t>(vector_dim), k);
    const std::int64_t value = to_int(indices.dtype(), indices[ravel(batch, indices.shape())]);
    return value < 0 && indices.dtype() == u64 ? std::numeric_limits<std::int64_t>::max() / 2 : value;
}

/// Where a batching axis of the indices stands in the batch index (without the index vector's axis).
std::size_t batch_place(std::int64_t axis, std::int64_t vector_dim) {
    return static_cast<std::size_t>(axis < vector_dim ? axis : axis - 1);
}
} // namespace

Value gather(const ir::GatherAttr& a, const ir::Type& result, const Value& operand, const Value& indices) {
    const std::size_t rank = operand.type.rank();
    return generate(result, [&](const Dims& index) {
        const Dims batch = part(index, a.offset_dims, false), offset = part(index, a.offset_dims, true);
        Dims at(rank, 0);
        for (std::size_t k = 0; k < a.start_index_map.size(); ++k) {
            const auto axis = static_cast<std::size_t>(a.start_index_map[k]);
            const std::int64_t start = index_at(indices, a.index_vector_dim, batch, static_cast<std::int64_t>(k));
            at[axis] = std::clamp<std::int64_t>(start, 0, operand.shape()[axis] - a.slice_sizes[axis]);
        }
        for (std::size_t k = 0; k < a.operand_batching_dims.size(); ++k)
            at[static_cast<std::size_t>(a.operand_batching_dims[k])] +=
                batch[batch_place(a.start_indices_batching_dims[k], a.index_vector_dim)];
        std::size_t next = 0;
        for (std::size_t axis = 0; axis < rank; ++axis)
            if (!contains(a.collapsed_slice_dims, axis) && !contains(a.operand_batching_dims, axis)) at[axis] += offset[next++];
        return operand[ravel(at, operand.shape())];
    });
}

void scatter_places(const ir::ScatterAttr& a, const Shape& input, const Value& indices, const Shape& updates,
                    const std::function<void(std::int64_t, std::int64_t)>& visit) {
    for (std::int64_t u = 0; u < updates.elements(); ++u) {
        const Dims index = unravel(u, updates);
        const Dims batch = part(index, a.update_window_dims, false), window = part(index, a.update_window_dims, true);
        Dims at(input.rank(), 0);
        for (std::size_t k = 0; k < a.scatter_dims_to_operand_dims.size(); ++k)
            at[static_cast<std::size_t>(a.scatter_dims_to_operand_dims[k])] +=
                index_at(indices, a.index_vector_dim, batch, static_cast<std::int64_t>(k));
        for (std::size_t k = 0; k < a.input_batching_dims.size(); ++k)
            at[static_cast<std::size_t>(a.input_batching_dims[k])] +=
                batch[batch_place(a.scatter_indices_batching_dims[k], a.index_vector_dim)];
        std::size_t next = 0;
        for (std::size_t axis = 0; axis < input.rank(); ++axis)
            if (!contains(a.inserted_window_dims, axis) && !contains(a.input_batching_dims, axis)) at[axis] += window[next++];
        if (in_bounds(at, input)) visit(u, ravel(at, input));
    }
}

Values scatter(const ir::Op& op, const Values& operands, const Apply& apply) {
    const std::size_t n = (operands.size() - 1) / 2;
    std::vector<std::vector<std::uint64_t>> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(*operands[i].bits);
    Values arguments(2 * n);
    scatter_places(op.get<ir::ScatterAttr>(), operands[0].shape(), operands[n], operands[n + 1].shape(),
                   [&](std::int64_t u, std::int64_t place) {
                       const auto to = static_cast<std::size_t>(place);
                       for (std::size_t i = 0; i < n; ++i) {
                           arguments[i] = filled(ir::Type(operands[i].dtype(), {}), out[i][to]);
                           arguments[n + i] = filled(ir::Type(operands[i].dtype(), {}), operands[n + 1 + i][u]);
                       }
                       const Values next = apply(*op.regions[0], arguments);
                       for (std::size_t i = 0; i < n; ++i) out[i][to] = next[i][0];
                   });
    Values values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(tensor(operands[i].type, std::move(out[i])));
    return values;
}

} // namespace stithy::reference
