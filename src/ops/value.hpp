#pragma once
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
    [[nodiscard]] const Type& type() const { return builder_->type(id_); }
    [[nodiscard]] const Shape& shape() const { return type().shape(); }
    [[nodiscard]] DType dtype() const { return type().dtype(); }
    [[nodiscard]] std::size_t rank() const { return type().rank(); }

private:
    Builder* builder_ = nullptr;
    ValueId id_ = ir::no_value;
};
using Values = std::vector<Value>;

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
Values emit(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr = nullptr, std::vector<FunctionPtr> regions = {});
/// As emit, of one result.
Value emit1(Builder& builder, OpCode code, std::span<const Value> operands, AttrPtr attr = nullptr, std::vector<FunctionPtr> regions = {});
/// Appends a copy of `op` with other operands (types inferred again), same attributes, regions, effect and location.
Values emit_like(Builder& builder, const Op& op, std::span<const Value> operands);
/// Appends the operations of `function` with its parameters bound to `arguments`; returns its results.
Values inline_call(Builder& builder, const ir::Function& function, std::span<const Value> arguments);

} // namespace stithy::ops
