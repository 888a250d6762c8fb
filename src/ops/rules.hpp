#pragma once
#include "ops/value.hpp"

#include <optional>

namespace stithy::ops {

/// The types of some operands, seen where they lie.
class TypeRefs {
public:
    TypeRefs() = default;
    explicit TypeRefs(std::span<const Type* const> types) : types_(types) {}
    [[nodiscard]] std::size_t size() const { return types_.size(); }
    [[nodiscard]] bool empty() const { return types_.empty(); }
    const Type& operator[](std::size_t i) const { return *types_[i]; }
    /// The types from `first` on, `count` of them.
    [[nodiscard]] TypeRefs slice(std::size_t first, std::size_t count) const { return TypeRefs(types_.subspan(first, count)); }

private:
    std::span<const Type* const> types_;
};

/// What a shape rule sees.
struct InferContext {
    OpCode code;
    TypeRefs operands;
    const AttrPtr& attr;
    std::span<const FunctionPtr> regions;
    const Location& location;
    /// Result types that the caller states, where operands and attributes leave them open: iota, broadcast_in_dim, reshape,
    /// accumulator_zeros, stack_empty, custom_call (whole), convert and bitcast_convert (the dtype). Empty for others.
    std::span<const Type> declared;

    /// The attribute as its type; a bug when the operation has another.
    template <class T>
    [[nodiscard]] const T& get() const {
        internal_check(attr && std::holds_alternative<T>(*attr), "operation has another kind of attribute");
        return std::get<T>(*attr);
    }
};
/// Result types; throws Error (operation, what was given, what was expected, the user's line). Builds no text on the good path.
using InferRule = Types (*)(const InferContext&);

/// Tangents of the results, one each, `Value()` for zero. `operands` and `results` are the primal values in the builder where the tangents
/// are to be emitted; tangents[i] is Value() where operand i has a zero tangent; at least one is not zero. Write the rule in terms of
/// `results` where that saves work (tanh, exp, sqrt). `op` (here and below) must stay where it is while operations are appended: one of a
/// finished Function, or a copy.
struct JvpContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const Value> results;
    std::span<const Value> tangents;
};
using JvpRule = Values (*)(const JvpContext&);

/// Cotangents of the operands. operands[i] is the value of a non-linear operand (known), Value() for a linear one; cotangents[r] is Value()
/// where the cotangent of result r is zero (at least one is not). Returns one entry per operand: Value() for non-linear operands and for
/// zero cotangents. types[i] is the type of operand i.
struct TransposeContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const Type> types;
    std::span<const bool> linear;
    std::span<const Value> cotangents;
};
using TransposeRule = Values (*)(const TransposeContext&);

/// Batched form. batched[i] tells whether operands[i] carries the batch as its leading axis (of extent `size`). Returns the results; sets
/// out_batched[r] (it comes with one false for each result). result_types are those of the operation without the batch. A result that does
/// not depend on a batched operand may stay unbatched.
struct BatchContext {
    Builder& builder;
    const Op& op;
    std::span<const Value> operands;
    std::span<const bool> batched;
    std::int64_t size;
    std::vector<bool>& out_batched;
    std::span<const Type> result_types;
};
using BatchRule = Values (*)(const BatchContext&);

/// The rules of one operation. A null transpose: never linear. A null jvp: no tangent passes (all results' tangents are zero).
/// Structured operations (while, case, if, call, loop, custom_call) have null jvp, transpose and batch here: transform/ does them.
struct Rule {
    InferRule infer = nullptr;
    JvpRule jvp = nullptr;
    TransposeRule transpose = nullptr;
    BatchRule batch = nullptr;
};
/// The table (explicit, constant).
const Rule& rule(OpCode code);

/// Shape rule of any operation.
Types infer(const InferContext& context);
/// The same over plain lists.
Types infer(OpCode code, std::span<const Type> operands, const AttrPtr& attr, std::span<const FunctionPtr> regions,
            std::span<const Type> declared, const Location& location);

/// Whether values of the type have tangents: floating tensors and accumulators, stacks and tuples that hold one. Tangents have the type
/// itself; those of integers and bool are always zero.
bool is_differentiable(const Type& type);

} // namespace stithy::ops
