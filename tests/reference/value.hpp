#pragma once
#include "ir/function.hpp"

#include <memory>
#include <vector>

namespace stithy::reference {

/// A value of the interpreter: the bits of each element (tensors and accumulators), or members (tuples; stacks: all pushed values in
/// order).
struct Value {
    ir::Type type;
    std::shared_ptr<const std::vector<std::uint64_t>> bits;
    std::shared_ptr<const std::vector<Value>> members;

    std::uint64_t operator[](std::int64_t i) const { return (*bits)[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const Shape& shape() const { return type.shape(); }
    [[nodiscard]] DType dtype() const { return type.dtype(); }
    [[nodiscard]] std::int64_t elements() const { return static_cast<std::int64_t>(bits->size()); }
};
using Values = std::vector<Value>;

Value from_literal(const ir::Literal& literal);
ir::Literal to_literal(const Value& value);
Value tensor(const ir::Type& type, std::vector<std::uint64_t> bits);
Value filled(const ir::Type& type, std::uint64_t bits);
Value with_members(const ir::Type& type, Values members);

/// Index vector of element `i` (row-major), and back.
Dims unravel(std::int64_t i, const Shape& shape);
std::int64_t ravel(const Dims& index, const Shape& shape);
bool in_bounds(const Dims& index, const Shape& shape);

/// A tensor whose element at each index is `f(index)`.
template <class F>
Value generate(const ir::Type& type, F f) {
    const std::int64_t n = type.elements();
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) bits[static_cast<std::size_t>(i)] = f(unravel(i, type.shape()));
    return tensor(type, std::move(bits));
}

} // namespace stithy::reference
