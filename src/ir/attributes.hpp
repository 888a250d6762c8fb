#pragma once
#include "base/dims.hpp"
#include "ir/literal.hpp"
#include "runtime/pool_allocator.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace stithy::ir {

enum class Direction : std::uint8_t { eq, ne, ge, gt, le, lt };
/// How floats compare: `number` is IEEE; `total_order` orders -NaN < -inf .. -0 < +0 .. +inf < NaN. Integers ignore it.
enum class CompareKind : std::uint8_t { number, total_order };

struct ConstantAttr {
    Literal value;
    bool operator==(const ConstantAttr&) const = default;
};
/// iota, concatenate, get_tuple_element (index).
struct DimAttr {
    std::int64_t dim = 0;
    bool operator==(const DimAttr&) const = default;
};
/// broadcast_in_dim (result axis of each operand axis), transpose (permutation), reverse, reduce (axes), dynamic_slice (sizes),
/// accumulator_add_at (nothing).
struct DimsAttr {
    Dims dims;
    bool operator==(const DimsAttr&) const = default;
};
struct CompareAttr {
    Direction direction = Direction::eq;
    CompareKind kind = CompareKind::number;
    bool operator==(const CompareAttr&) const = default;
};
struct SliceAttr {
    Dims start, limit, stride;
    bool operator==(const SliceAttr&) const = default;
};
struct PadAttr {
    Dims low, high, interior;
    bool operator==(const PadAttr&) const = default;
};
/// Result axes: batching, then free axes of lhs, then of rhs. `precision` and algorithms are dropped: products are as precise as the dtype.
struct DotAttr {
    Dims lhs_batch, rhs_batch, lhs_contract, rhs_contract;
    bool operator==(const DotAttr&) const = default;
};
struct GatherAttr {
    Dims offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, slice_sizes;
    std::int64_t index_vector_dim = 0;
    bool indices_are_sorted = false;
    bool operator==(const GatherAttr&) const = default;
};
/// Also of accumulator_scatter_add.
struct ScatterAttr {
    Dims update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, scatter_dims_to_operand_dims;
    std::int64_t index_vector_dim = 0;
    bool indices_are_sorted = false, unique_indices = false;
    bool operator==(const ScatterAttr&) const = default;
};
/// Operands of `while`: invariants, then carries. Both regions take all of them; the first gives the predicate, the second the next
/// carries.
struct WhileAttr {
    std::int64_t invariants = 0;
    bool operator==(const WhileAttr&) const = default;
};
/// Groups of `loop`, see op.hpp.
struct LoopAttr {
    std::int64_t invariants = 0, carries = 0, accumulators = 0, xs = 0, ys = 0;
    std::int64_t length = -1; ///< number of trips when known; -1: it is operand 0, a rank-0 i64 (then xs == ys == 0)
    bool reverse = false;     ///< the counter runs length-1 .. 0; slice i of xs and ys belongs to counter i either way
    bool operator==(const LoopAttr&) const = default;
};
/// Name of the callee, for text and messages.
struct CallAttr {
    std::string name;
    bool operator==(const CallAttr&) const = default;
};
struct CustomCallAttr {
    std::string target;
    std::string backend_config; ///< as written
    std::int64_t api_version = 1;
    bool operator==(const CustomCallAttr&) const = default;
};

using Attr = std::variant<std::monostate, ConstantAttr, DimAttr, DimsAttr, CompareAttr, SliceAttr, PadAttr, DotAttr, GatherAttr,
                          ScatterAttr, WhileAttr, LoopAttr, CallAttr, CustomCallAttr>;
/// Null means "no attributes".
using AttrPtr = std::shared_ptr<const Attr>;

template <class T>
AttrPtr make_attr(T value) {
    return std::allocate_shared<const Attr>(runtime::PoolAllocator<Attr>(), std::move(value));
}

} // namespace stithy::ir
