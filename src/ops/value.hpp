#pragma once
#include "base/small_vector.hpp"
#include "ir/function.hpp"

namespace stithy::ops {

using ir::AttrPtr;
using ir::Builder;
using ir::FunctionPtr;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::ValueId;

/// A value under construction: what derivative and batching rules are written over, with the public functions' spelling (ops/build.hpp).
/// Default-made: none (a zero tangent, an unbatched place, ...).
class Value {
public:
    Value() = default;
    Value(Builder& builder, ValueId id) : builder_(&builder), id_(id) {}

    explicit operator bool() const { return builder_ != nullptr; }
    [[nodiscard]] Builder& builder() const { return *builder_; }
    [[nodiscard]] ValueId id() const { return id_; }
    /// Copies, since the builder's types move when operations are appended: `broadcast_to(scalar(..), x.shape())` must be right in any
    /// order.
    [[nodiscard]] Type type() const { return builder_->type(id_); }
    [[nodiscard]] Shape shape() const { return builder_->type(id_).shape(); }
    [[nodiscard]] DType dtype() const { return builder_->type(id_).dtype(); }
    [[nodiscard]] std::size_t rank() const { return builder_->type(id_).rank(); }

private:
    Builder* builder_ = nullptr;
    ValueId id_ = ir::no_value;
};
using Values = SmallVector<Value, 2>;
using Types = SmallVector<Type, 1>;

/// Location that emitted operations take: set while a rule of an operation runs, so that derived operations cite the user's line.
class LocationScope {
public:
    explicit LocationScope(const Location& location);
    ~LocationScope();
    LocationScope(const LocationScope&) = delete;
    LocationScope& operator=(const LocationScope&) = delete;
    static const Location& current();

private:
    Location previous_;
};

/// Infers the result types (rules.hpp), appends the operation and returns its results. Throws Error for bad operands.
/// `declared` are the result types as the caller wants them, for operations whose attributes leave them open (see InferContext); else it
/// may be empty.
Values emit(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr = nullptr, ir::Regions regions = {},
            std::span<const Type> declared = {});
/// As emit, of one result.
Value emit1(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr = nullptr, ir::Regions regions = {},
            std::span<const Type> declared = {});
/// As emit1, of one declared result type.
Value emit_as(const Type& result, Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr = nullptr);
/// Infers the result types of `op` (operands, attributes, regions, effect and location set by the caller) and appends it.
Values emit_op(Builder& builder, Op op, std::span<const Type> declared = {});
/// Appends a copy of `op` with other operands (types inferred again), same attributes, regions, effect and location.
/// `declared` as in emit: where the attributes leave the types open, of convert and bitcast_convert only the dtype counts.
Values emit_like(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> declared = {});
/// Appends the operations of `function` with its parameters bound to `arguments`, which must have the parameters' types; returns its
/// results.
Values inline_call(Builder& builder, const ir::Function& function, std::span<const Value> arguments);

inline Values emit(Builder& builder, OpCode code, std::initializer_list<Value> operands, AttrPtr attr = nullptr, ir::Regions regions = {},
                   std::span<const Type> declared = {}) {
    return emit(builder, code, std::span<const Value>(operands.begin(), operands.size()), std::move(attr), std::move(regions), declared);
}
inline Value emit1(Builder& builder, OpCode code, std::initializer_list<Value> operands, AttrPtr attr = nullptr, ir::Regions regions = {},
                   std::span<const Type> declared = {}) {
    return emit1(builder, code, std::span<const Value>(operands.begin(), operands.size()), std::move(attr), std::move(regions), declared);
}
inline Value emit_as(const Type& result, Builder& builder, OpCode code, std::initializer_list<Value> operands, AttrPtr attr = nullptr) {
    return emit_as(result, builder, code, std::span<const Value>(operands.begin(), operands.size()), std::move(attr));
}

} // namespace stithy::ops
