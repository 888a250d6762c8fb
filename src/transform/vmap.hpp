#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// A batched function: batched parameters and results carry the batch as their leading axis.
struct BatchedFunction {
    FunctionPtr function;
    Mask batched_results;
};
/// Batches f over `size` examples. forced[r]: result r is to be batched even when it does not depend on the batch. Loops need a trip count
/// that is not batched; `while` and branches may depend on the batch (a while then runs until every example is done; a branch becomes a
/// selection). Memoised on f.
BatchedFunction vmap(const FunctionPtr& f, const Mask& batched, std::int64_t size, const Mask& forced = {});

/// Emits the batched form of f. batched_results is filled in.
Values vmap_inline(Builder& builder, const Function& f, std::span<const Value> arguments, const Mask& batched, std::int64_t size,
                   Mask& batched_results);

/// Batched form of one structured operation.
Values vmap_structured(Builder& builder, const Function& f, const Op& op, std::span<const Value> operands, const Mask& batched,
                       std::int64_t size, Mask& batched_results);

} // namespace stithy::transform
