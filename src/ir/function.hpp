#pragma once
#include "base/error.hpp"
#include "base/small_vector.hpp"
#include "ir/attributes.hpp"
#include "ir/opcode.hpp"
#include "ir/type.hpp"
#include "runtime/pool_allocator.hpp"

#include <any>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace stithy::ir {

class Function;
using FunctionPtr = std::shared_ptr<const Function>;

/// Number of a value within its Function: parameters first, then the results of the operations in order.
using ValueId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};

/// Operands of an operation: a list of values, the usual few inside the object.
class Operands : public SmallVector<ValueId, 4> {
public:
    using SmallVector::SmallVector;
    Operands() = default;
    Operands(std::initializer_list<ValueId> ids) : SmallVector(ids) {}
    Operands(std::span<const ValueId> ids) : SmallVector(ids.begin(), ids.end()) {}
    Operands(const std::vector<ValueId>& ids) : SmallVector(ids.begin(), ids.end()) {}
    operator std::vector<ValueId>() const { return {begin(), end()}; }
};

/// Regions of an operation; one is the rule.
class Regions : public SmallVector<FunctionPtr, 1> {
public:
    using SmallVector::SmallVector;
    Regions() = default;
    Regions(std::initializer_list<FunctionPtr> list) : SmallVector(list) {}
    Regions(std::span<const FunctionPtr> list) : SmallVector(list.begin(), list.end()) {}
    Regions(const std::vector<FunctionPtr>& list) : SmallVector(list.begin(), list.end()) {}
};

enum class Effect : std::uint8_t {
    pure,    ///< may be moved, shared and dropped
    ordered, ///< keeps its place among the ordered operations
};

/// One operation. Regions are closed Functions: what a body uses from outside is an operand.
///
/// Operand, region and result conventions of the structured operations:
/// - while (WhileAttr): operands invariants.., carries..; regions condition(invariants.., carries..) -> i1 and body(same) -> carries..;
/// results carries..
/// - case: operands index (rank-0 i32), captures..; every region takes captures..; the last region serves an index out of range. if:
/// operands predicate, captures..; regions true, false.
/// - call (CallAttr): one region, the callee; operands its parameters.
/// - reduce (DimsAttr): operands inputs.. (N), initial values.. (N); region (accumulated.. N, elements.. N) -> N, all rank 0.
/// - scatter (ScatterAttr): operands inputs.. (N), indices, updates.. (N); region (current.. N, update.. N) -> N, all rank 0.
/// - loop (LoopAttr): operands [trip count when length < 0], invariants.., carries.., accumulators.., xs..;
///   region (counter i64, invariants.., carries.., accumulators.., slices of xs..) -> (carries.., accumulators.., slices of ys..);
///   results carries.., accumulators.., ys.. (each with a leading axis of `length`).
/// - accumulator_zeros () -> acc; accumulator_add (acc, tensor) -> acc; accumulator_add_at (acc, update, starts..) -> acc: adds at a window
/// that starts
///   at the clamped starts (dynamic_update_slice's rule); accumulator_scatter_add (acc, indices, updates) (ScatterAttr) -> acc; freeze
///   (acc) -> tensor.
/// - stack_empty () -> stack; stack_push (stack, values..) -> stack; stack_pop (stack) -> stack, values..
struct Op {
    OpCode code{};
    Effect effect = Effect::pure;
    std::uint32_t result_count = 1;
    ValueId first_result = no_value;
    Operands operands;
    AttrPtr attr;
    Regions regions;
    Location location;

    /// The attribute as its type; a bug when the operation has another.
    template <class T>
    [[nodiscard]] const T& get() const {
        internal_check(attr && std::holds_alternative<T>(*attr), "operation has another kind of attribute");
        return std::get<T>(*attr);
    }
    [[nodiscard]] ValueId result(std::uint32_t i = 0) const { return first_result + i; }
};

/// An immutable SSA function. Made by Builder.
class Function {
public:
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::size_t parameter_count() const { return parameter_count_; }
    [[nodiscard]] std::size_t value_count() const { return types_.size(); }
    [[nodiscard]] const Type& type(ValueId v) const { return types_[v]; }
    [[nodiscard]] std::span<const Op> ops() const { return ops_; }
    [[nodiscard]] std::span<const ValueId> results() const { return results_; }
    [[nodiscard]] std::vector<Type> parameter_types() const;
    [[nodiscard]] std::vector<Type> result_types() const;
    /// Whether the function is marked as linear in parameter i (verified).
    [[nodiscard]] bool is_linear(std::size_t i) const { return !linear_.empty() && linear_[i]; }
    /// Index of the operation that defines each value; -1 for parameters. Computed on first use.
    [[nodiscard]] std::span<const std::int32_t> defining_op() const;

    /// Derived objects (transformed functions, plans) memoised on this function: returns the one of `key`, made by `make` on the first
    /// request. No lock is held while `make` runs; of two racing results the first stays.
    template <class T>
    std::shared_ptr<const T> memo(const std::string& key, const std::function<std::shared_ptr<const T>()>& make) const;

private:
    friend class Builder;
    std::string name_;
    std::size_t parameter_count_ = 0;
    std::vector<Type, runtime::PoolAllocator<Type>> types_;
    std::vector<Op, runtime::PoolAllocator<Op>> ops_;
    std::vector<ValueId> results_;
    std::vector<bool> linear_;
    mutable std::mutex mutex_;
    mutable std::atomic<bool> has_defining_{false};
    mutable std::vector<std::int32_t, runtime::PoolAllocator<std::int32_t>> defining_;
    mutable std::vector<std::pair<std::string, std::any>> memo_;
};

/// Makes a Function operation by operation. Operand ids must exist; types are the caller's word (ops::emit infers them), checked by
/// verify().
class Builder {
public:
    explicit Builder(std::string name = "f");

    ValueId parameter(Type type, bool linear = false); ///< before the first operation
    /// Room for this many values and operations.
    void reserve(std::size_t values, std::size_t operations);
    /// Appends and returns the id of the first result.
    ValueId append(Op&& op, std::span<const Type> result_types);
    [[nodiscard]] const Type& type(ValueId v) const { return function_->types_[v]; }
    [[nodiscard]] std::size_t value_count() const { return function_->types_.size(); }
    [[nodiscard]] std::size_t parameter_count() const { return function_->parameter_count_; }
    [[nodiscard]] std::span<const Op> ops() const { return function_->ops_; }
    void set_name(std::string name) { function_->name_ = std::move(name); }
    /// Ends building: the builder is of no use afterwards.
    FunctionPtr finish(std::vector<ValueId> results);

    using TypeList = std::vector<Type, runtime::PoolAllocator<Type>>;
    using OpList = std::vector<Op, runtime::PoolAllocator<Op>>;
    /// A function of operations that are numbered already: `types` of the parameters, then of the results in order.
    static FunctionPtr assemble(std::string name, std::size_t parameters, TypeList types, OpList ops, std::vector<ValueId> results);

private:
    std::shared_ptr<Function> function_;
};

template <class T>
std::shared_ptr<const T> Function::memo(const std::string& key, const std::function<std::shared_ptr<const T>()>& make) const {
    auto find = [&]() -> std::shared_ptr<const T> {
        std::lock_guard lock(mutex_);
        for (const auto& [k, v] : memo_)
            if (k == key) return std::any_cast<std::shared_ptr<const T>>(v);
        return nullptr;
    };
    if (auto known = find()) return known;
    auto made = make();
    if (auto known = find()) return known;
    std::lock_guard lock(mutex_);
    memo_.emplace_back(key, made);
    return made;
}

} // namespace stithy::ir
