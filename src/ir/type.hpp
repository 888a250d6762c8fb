#pragma once
#include "base/error.hpp"
#include "stithy/dtype.hpp"
#include "stithy/shape.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stithy::ir {

enum class TypeKind : std::uint8_t {
    tensor,      ///< dtype and shape
    token,       ///< orders effects
    tuple,       ///< elements
    accumulator, ///< write-only sum of tensors of one dtype and shape; each value is used exactly once
    stack,       ///< last-in first-out record of tensors of one type each (elements: what one push holds); each value is used exactly once
};

/// Type of a value of the IR.
class Type {
public:
    Type() = default; ///< a rank-0 f64 tensor
    Type(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {}

    static Type token();
    static Type tuple(std::vector<Type> elements);
    static Type accumulator(DType dtype, Shape shape);
    static Type stack(std::vector<Type> elements);

    [[nodiscard]] TypeKind kind() const { return kind_; }
    [[nodiscard]] bool is_tensor() const { return kind_ == TypeKind::tensor; }
    [[nodiscard]] bool is_accumulator() const { return kind_ == TypeKind::accumulator; }
    [[nodiscard]] bool is_stack() const { return kind_ == TypeKind::stack; }
    /// Of a tensor or accumulator.
    [[nodiscard]] DType dtype() const { return dtype_; }
    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] std::size_t rank() const { return shape_.rank(); }
    [[nodiscard]] std::int64_t elements() const { return shape_.elements(); }
    [[nodiscard]] std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(dtype_.size()); }
    /// Of a tuple or stack.
    [[nodiscard]] const std::vector<Type>& members() const;
    /// The tensor type that an accumulator freezes to, or the tensor type itself.
    [[nodiscard]] Type as_tensor() const { return {dtype_, shape_}; }

    /// Short form for messages: "f64[2,3]", "accumulator f64[3]", "token".
    [[nodiscard]] std::string str() const;
    /// StableHLO's form: "tensor<2x3xf64>", "!stablehlo.token", "!stithy.accumulator<2x3xf64>", "!stithy.stack<tensor<f64>,
    /// tensor<3xi32>>".
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Type& a, const Type& b);

private:
    TypeKind kind_ = TypeKind::tensor;
    DType dtype_;
    Shape shape_;
    std::shared_ptr<const std::vector<Type>> members_;
};

} // namespace stithy::ir
