#pragma once
#include "plan/nest.hpp"

#include <map>
#include <vector>

namespace stithy::cpu {

/// How a value differs between the lanes of its vector loop.
enum class Shape : std::uint8_t {
    uniform, ///< the same in all lanes: a scalar
    linear,  ///< an integer that grows by the same stride from lane to lane: a scalar for the first lane, and the stride
    varying, ///< a vector
};

/// What the emitter must know of a nest before it starts.
struct Analysis {
    std::vector<plan::NestValue> close;       ///< of an opener: its `else_` or `end`
    std::vector<plan::NestValue> parent;      ///< opener of the block that an instruction stands in, or no_nest_value
    std::vector<plan::NestValue> vector_loop; ///< the vector loop that an instruction stands in, or no_nest_value
    std::vector<Shape> shape;                 ///< of values, variables and reductions
    std::vector<bool> masked;                 ///< of if_, else_, while_: lanes go different ways
    std::vector<plan::NestValue> fused;       ///< of an addition, a subtraction, an accumulation: the multiplication folded into it
    std::vector<bool> folded;                 ///< a multiplication that only stands in another's `fused`
};

/// `fuse`: multiplications that have one use, an addition in the same block, become a part of it.
Analysis analyse(const plan::Nest& nest, bool fuse);

/// How a vector loop is made.
struct VectorPlan {
    int lanes = 1;                       ///< iterations side by side in a register
    int copies = 1;                      ///< registers side by side in the main loop, to hide latency
    bool one_masked = false;             ///< one loop with a mask, in place of a plain one and a masked one for the tail
    bool gathers = false;                ///< sums have two levels
    std::vector<plan::NestValue> totals; ///< reductions declared outside that the body accumulates into
};

/// A plan for each vector loop.
std::map<plan::NestValue, VectorPlan> plan_vector_loops(const plan::Nest& nest, const Analysis& analysis, int vector_bytes);

} // namespace stithy::cpu
