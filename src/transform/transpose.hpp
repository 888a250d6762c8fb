#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// The transpose of a linear function. Parameters: the non-linear parameters of f in order, then a cotangent for each result with
/// cotangents[r]; results: a cotangent for each linear parameter (zeros where none arrives). An accumulator parameter or result has a
/// tensor as its cotangent. Memoised on f.
FunctionPtr transpose(const FunctionPtr& f, const Mask& linear, const Mask& cotangents);

/// Cotangents flowing backwards through one function under construction: sums by value, in place through accumulators where windows are
/// added.
class Cotangents {
public:
    Cotangents(Builder& builder, const Function& f);

    void add(ValueId v, Value cotangent);
    /// Adds to the window of `v` that starts at `starts`.
    void add_at(ValueId v, Value cotangent, std::span<const Value> starts);
    /// Adds by scatter (gather's transpose).
    void add_scatter(ValueId v, Value indices, Value updates, const ir::ScatterAttr& attr);
    /// Cotangents of v go on into this accumulator (a loop's, or what one became); what was added meanwhile joins it.
    void set_accumulator(ValueId v, Value accumulator);
    /// The sum so far (frozen when it was accumulated), Value() when zero.
    Value take(ValueId v);
    /// The accumulator of v with everything so far, given away: v starts from zero again.
    Value take_accumulator(ValueId v);
    [[nodiscard]] const Type& type(ValueId v) const { return f_.type(v); }
    [[nodiscard]] bool is_zero(ValueId v) const { return !sums_[v] && !accumulators_[v]; }

private:
    Value& accumulator(ValueId v);
    Builder& builder_;
    const Function& f_;
    Values sums_, accumulators_;
};

/// Walks `f` backwards. `known[v]` holds the values that do not depend on linear parameters; cotangents of results must have been added.
/// Used for function bodies and regions.
void transpose_inline(Builder& builder, const Function& f, const Mask& linear_values, const Values& known, Cotangents& cotangents);

/// Which values of f depend on the marked parameters.
Mask linear_values(const Function& f, const Mask& linear_parameters);

/// Transposes one structured operation (call, case, if, loop).
void transpose_structured(Builder& builder, const Function& f, const Op& op, const Mask& linear, const Values& known,
                          Cotangents& cotangents);

} // namespace stithy::transform
