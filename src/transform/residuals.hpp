#pragma once
#include "transform/stage.hpp"

namespace stithy::transform {

/// How the known values that the unknown half of a loop's body needs reach it.
struct LoopResiduals {
    /// A value that the known loop stacks as one of its own results.
    struct Forwarded {
        ValueId value;
        std::size_t result; ///< of the loop's body
    };
    std::vector<ValueId>
        hoisted; ///< depend on invariants only: computed once before the loop, passed as invariants (may be invariant parameters)
    std::vector<ValueId> xs;          ///< slices of known xs: the whole array is passed again
    std::vector<Forwarded> forwarded; ///< the known loop's own stacked results are passed
    std::vector<ValueId> stacked;     ///< stored step by step
    std::vector<ValueId> recomputed;  ///< operations' values to compute again in the unknown body, in order
};

/// Chooses the least storage for the values `needed` (ids of the stage's builder) of a loop's body. Invariant values are passed or hoisted,
/// xs and stacked results passed again, the counter is there; what is cheap to compute may be computed again: the values to stack are a
/// minimum cut, by bytes, of the body's graph, as near to where they are needed as may be. `stacked_results[r]`: body result r is stacked
/// by the known loop anyway.
LoopResiduals choose_loop_residuals(const Stage& body, const LoopLayout& layout, const std::vector<ValueId>& needed,
                                    const Mask& stacked_results);

} // namespace stithy::transform
