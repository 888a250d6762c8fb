#pragma once
#include "ir/function.hpp"

namespace stithy::ir {

/// Positions of the groups of a `loop`: among its operands, its body's parameters, and its results (body results and results of the
/// operation stand in the same order).
struct LoopLayout {
    explicit LoopLayout(const LoopAttr& a)
        : trip(a.length < 0 ? 1 : 0), invariants(static_cast<std::size_t>(a.invariants)), carries(static_cast<std::size_t>(a.carries)),
          accumulators(static_cast<std::size_t>(a.accumulators)), xs(static_cast<std::size_t>(a.xs)), ys(static_cast<std::size_t>(a.ys)) {}

    std::size_t trip, invariants, carries, accumulators, xs, ys;

    [[nodiscard]] std::size_t operands() const { return trip + invariants + carries + accumulators + xs; }
    [[nodiscard]] std::size_t parameters() const { return 1 + invariants + carries + accumulators + xs; }
    [[nodiscard]] std::size_t results() const { return carries + accumulators + ys; }
    /// Operand that body parameter `p` (> 0) comes from.
    [[nodiscard]] std::size_t operand_of(std::size_t p) const { return trip + p - 1; }
    // body parameters (0 is the counter)
    [[nodiscard]] std::size_t invariant(std::size_t i) const { return 1 + i; }
    [[nodiscard]] std::size_t carry(std::size_t i) const { return 1 + invariants + i; }
    [[nodiscard]] std::size_t accumulator(std::size_t i) const { return 1 + invariants + carries + i; }
    [[nodiscard]] std::size_t x(std::size_t i) const { return 1 + invariants + carries + accumulators + i; }
    // results
    [[nodiscard]] std::size_t carry_result(std::size_t i) const { return i; }
    [[nodiscard]] std::size_t accumulator_result(std::size_t i) const { return carries + i; }
    [[nodiscard]] std::size_t y_result(std::size_t i) const { return carries + accumulators + i; }
    [[nodiscard]] bool is_x(std::size_t p) const { return p >= 1 + invariants + carries + accumulators; }
    [[nodiscard]] bool is_invariant(std::size_t p) const { return p >= 1 && p < 1 + invariants; }
    [[nodiscard]] bool is_carry(std::size_t p) const { return p >= 1 + invariants && p < 1 + invariants + carries; }
    [[nodiscard]] bool is_accumulator(std::size_t p) const { return p >= 1 + invariants + carries && !is_x(p); }
};

/// Type of a stacked value: `type` with a leading axis of `length`.
inline Type stacked(const Type& type, std::int64_t length) {
    Dims dims = type.shape().dims();
    dims.insert(0, length);
    return {type.dtype(), Shape(std::move(dims))};
}

/// Result types of a loop, from its body.
inline std::vector<Type> loop_result_types(const LoopAttr& attr, const Function& body) {
    const LoopLayout layout(attr);
    std::vector<Type> types = body.result_types();
    for (std::size_t i = 0; i < layout.ys; ++i) types[layout.y_result(i)] = stacked(types[layout.y_result(i)], attr.length);
    return types;
}

} // namespace stithy::ir
