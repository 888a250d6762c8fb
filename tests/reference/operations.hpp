#pragma once
#include "reference/value.hpp"

#include <functional>

/// The operations without regions, and those whose regions work on elements.
namespace stithy::reference {

/// Calls a region on values.
using Apply = std::function<Values(const ir::Function&, const Values&)>;

/// Elementwise operations, constant, iota and the operations on shapes and indices (no regions).
Value evaluate_plain(const ir::Op& op, const ir::Type& result, const Values& operands);
Value elementwise(const ir::Op& op, const ir::Type& result, const Values& operands);
Value dot_general(const ir::DotAttr& dims, const ir::Type& result, const Value& lhs, const Value& rhs);
Value gather(const ir::GatherAttr& attr, const ir::Type& result, const Value& operand, const Value& indices);
Values reduce(const ir::Op& op, const std::vector<ir::Type>& results, const Values& operands, const Apply& apply);

/// For each update element: its place in the updates and in the input; places out of bounds are left out.
void scatter_places(const ir::ScatterAttr& attr, const Shape& input, const Value& indices, const Shape& updates,
                    const std::function<void(std::int64_t update, std::int64_t place)>& visit);
Values scatter(const ir::Op& op, const Values& operands, const Apply& apply);

/// Starts clamped so that a window of `sizes` fits (dynamic_slice's rule).
Dims clamped_starts(const Shape& shape, const Dims& sizes, std::span<const Value> starts);

} // namespace stithy::reference
