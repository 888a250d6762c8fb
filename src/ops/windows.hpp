#pragma once
#include "ops/build.hpp"

/// Index arithmetic that gather, scatter and the dynamic slices share.
namespace stithy::ops {

/// The constants `values` laid along axis `vector_dim` of indices (its rank: the values are one scalar), in their shape and dtype.
Value along_index_vector(Value indices, std::int64_t vector_dim, const Dims& values);
/// Indices clamped to [0, last] component by component.
Value clamp_indices(Value indices, std::int64_t vector_dim, const Dims& last);
/// The indices of a gather moved to where its windows lie inside the operand.
Value clamped_gather_indices(Value indices, const ir::GatherAttr& gather, const Type& operand);

/// The gather that reads what a scatter of these dimension numbers writes. window[i] is the extent of the window along axis i of the input.
ir::GatherAttr gather_of(const ir::ScatterAttr& scatter, const Dims& window);
/// The scatter that writes where a gather reads.
ir::ScatterAttr scatter_of(const ir::GatherAttr& gather);
/// The scatter over a batch that leads inputs and updates, and the indices where they have it (else the batch is one more axis of every
/// window).
ir::ScatterAttr batched_scatter(const ir::ScatterAttr& scatter, bool batched_indices);
/// Extents of a scatter's windows along each axis of its input.
Dims scatter_window(const ir::ScatterAttr& scatter, const Type& input, const Type& updates);
/// What `from`, of the input's shape, holds where a scatter's updates go: zero for the elements of a window that stick out, anything for
/// windows that lie outside.
Value read_windows(Value from, Value indices, const ir::ScatterAttr& scatter, const Type& updates);
/// bool in the shape of `updates`: false for windows that lie outside the input (they are dropped), true for those that lie inside or stick
/// out.
Value updates_inside(Value indices, const ir::ScatterAttr& scatter, const Type& input, const Type& updates);

} // namespace stithy::ops
