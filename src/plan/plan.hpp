#pragma once
#include "base/error.hpp"
#include "ir/function.hpp"
#include "plan/nest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stithy::plan {

/// Number of a buffer of a plan.
using BufferId = std::uint32_t;

/// Where a buffer's memory is during a call.
struct Memory {
    enum class Source : std::uint8_t {
        input,    ///< the call's input `index`
        result,   ///< memory of result `index`, made (or taken from a donated input) when the call starts
        arena,    ///< the call's scratch memory at `offset`
        constant, ///< the plan's constant `index`
    };
    Source source = Source::arena;
    std::uint32_t index = 0;
    std::int64_t offset = 0; ///< bytes
    std::int64_t bytes = 0;
};

/// One step of a plan. Everything that computes is a nest; library calls stand inside nests.
struct Step {
    enum class Kind : std::uint8_t {
        nest, ///< nests[nest] over units [0, units), split in chunks of `grain` when `parallel`
        copy, ///< buffer 0 <- buffer 1, unless they are the same memory
    };
    Kind kind = Kind::nest;
    bool parallel = false;
    std::uint32_t nest = 0;
    std::uint32_t first_buffer = 0, buffer_count = 0; ///< in Plan::step_buffers
    std::uint32_t first_param = 0, param_count = 0;   ///< in Plan::params
    std::int64_t units = 1, grain = 1;
    float estimate_us = 0; ///< on one thread; below zero: unknown
    Location location;     ///< the user's line, for run-time errors
};

/// Where a result of the call comes from.
struct ResultSource {
    enum class Kind : std::uint8_t {
        made,     ///< its own memory
        input,    ///< the handle of input `index`
        result,   ///< the handle of the earlier result `index`
        constant, ///< the handle of constant `index`
    };
    Kind kind = Kind::made;
    std::uint32_t index = 0;
};

/// Result `result` may take the memory of input `input` when that dies with the call.
struct Donation {
    std::uint32_t input = 0, result = 0;
};

/// What a call does, in plain numbers: made for one list of shapes, immutable. Machine code depends on the nests only.
struct Plan {
    std::string name;
    std::vector<ir::Type> inputs, results;
    PoolVector<Nest> nests; ///< distinct
    PoolVector<Step> steps;
    PoolVector<std::int64_t> params;
    PoolVector<BufferId> step_buffers;
    PoolVector<Memory> buffers;
    PoolVector<ir::Literal> constants;
    PoolVector<ResultSource> result_sources;
    PoolVector<Donation> donations;
    std::int64_t arena_bytes = 0;
    double estimate_us = 0; ///< on one thread; below zero: unknown (trip counts that depend on data)
};

struct PlanOptions {
    bool optimize = true; ///< run the passes first
};

/// Plans a function. Throws Error for operations that are not supported.
Plan make_plan(const ir::FunctionPtr& function, const PlanOptions& options = {});

/// The plan as text: buffers, steps with their parameters, nests.
std::string print(const Plan& plan);

} // namespace stithy::plan
