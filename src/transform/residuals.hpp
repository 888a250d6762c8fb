#pragma once
#include "transform/stage.hpp"

namespace stithy::transform {

/// How the known values that the unknown half of a loop's body needs reach it.
struct LoopResiduals {
    std::vector<ValueId> hoisted;    ///< depend on invariants only: computed once before the loop, passed as invariants (may be invariant parameters themselves)
    std::vector<ValueId> xs;         ///< slices of known xs: the whole array is passed again
    std::vector<ValueId> stacked;    ///< stored step by step
    std::vector<ValueId> recomputed; ///< operations' values to compute again in the unknown body, in order
    bool counter = false;            ///< the counter is used
};

/// Chooses the least storage for the values `needed` (ids of the stage's builder) of a loop's body, in this order: by reference if invariant, hoisted, forwarded if already an x,
/// recomputed from the counter, invariants and xs by cheap operations, recomputed from what is stored anyway or from something smaller, stacked.
LoopResiduals choose_loop_residuals(const Stage& body, const LoopLayout& layout, const std::vector<ValueId>& needed);

} // namespace stithy::transform
