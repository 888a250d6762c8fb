#pragma once
#include "transform/split.hpp"

namespace stithy::transform {

/// The first half of a split: the known operations are in `builder`; the unknown ones wait in `pending` until it is decided how the known
/// values they need reach them.
class Stage {
public:
    /// An operand of a pending operation: a value of the known builder, or a value of the split function that is unknown.
    struct Ref {
        bool known;
        ValueId id;
    };
    struct Pending {
        Op op; ///< without operands
        std::vector<Type> types;
        std::vector<Ref> operands;
        std::vector<ValueId> results; ///< the split function's value for each result, or no_value
    };

    Stage(const Function& f, const Mask& unknown_parameters);

    const Function& f;
    Builder builder;
    Values known;                          ///< by value of f; Value() where unknown
    Mask unknown;                          ///< by value of f
    std::vector<ValueId> known_parameters; ///< parameter of f for each parameter of the known builder
    std::vector<Pending> pending;

    [[nodiscard]] Ref ref(ValueId v) const { return unknown[v] ? Ref{false, v} : Ref{true, known[v].id()}; }
    /// Drops pending operations that the given values of f do not need.
    void drop_dead(const std::vector<ValueId>& needed);
    /// Emits the pending operations. `provided` maps ids of the known builder to values of `target`; `values` maps f's values and is filled
    /// in.
    void emit_pending(Builder& target, const std::function<Value(ValueId)>& provided, Values& values) const;

private:
    void add(const Op& op);
    void wait(const Op& op, std::vector<Ref> operands);
    void split_call(const Op& op, const Mask& mask);
    void split_case(const Op& op, const Mask& mask);
    void split_loop(const Op& op, const Mask& mask);
    void bind_known(const Op& op, std::size_t result, Value v) { known[op.result(static_cast<std::uint32_t>(result))] = v; }
};

/// Operations without operands are made anew where they are needed instead of being kept.
inline bool is_nullary(const Op& op) { return op.operands.empty() && op.effect == ir::Effect::pure; }

/// Index into `builder.ops()` of the operation that defines each value (-1: parameter).
std::vector<std::int32_t> defining_ops(const Builder& builder);

} // namespace stithy::transform
