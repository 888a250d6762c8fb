#pragma once
#include "plan/fuse.hpp"

#include <cstdint>
#include <vector>

namespace stithy::plan {

/// A piece of memory that one or more values of a function use in turn.
struct Block {
    enum class Kind : std::uint8_t {
        parameter, ///< the memory of parameter `index`
        result,    ///< of result `index` (the first one that uses it), given by whoever runs the function
        scratch,   ///< at `offset` of the function's scratch memory
        constant,  ///< of the dense constant that is value `index`
    };
    Kind kind = Kind::scratch;
    std::uint32_t index = 0;
    std::int64_t offset = 0, bytes = 0;
};

inline constexpr std::uint32_t no_block = ~std::uint32_t{0};

/// Memory for every stored value of a fused function.
struct MemoryPlan {
    PoolVector<Block> blocks;
    PoolVector<std::uint32_t> block_of; ///< per value; no_block when it is not stored
    std::int64_t scratch_bytes = 0;
    /// Parameters whose memory could hold a result, by size and time: (parameter, result), for donation decided when a call starts.
    PoolVector<std::pair<std::uint32_t, std::uint32_t>> donations;
};

struct MemoryOptions {
    /// Per result, the parameter whose memory it may overwrite once that is dead (carries of a loop), or -1; empty: none. Such parameters'
    /// memory also serves other values in between.
    PoolVector<std::int32_t> home;
    /// Values that need no memory although they are stored (rank-0 values that live in registers); empty: none.
    PoolVector<bool> registers;
    /// Whether results get memory from outside; else they are scratch like others.
    bool external_results = true;
};

/// Chooses memory by liveness over the steps: in place where an operand dies, disjoint offsets for what lives at the same time.
MemoryPlan assign_memory(const Fused& fused, const MemoryOptions& options = {});

} // namespace stithy::plan
