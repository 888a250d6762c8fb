#pragma once
#include "transform/common.hpp"

#include <unordered_map>

namespace stithy::pass {

using namespace transform;

/// The walk that passes share: copies a function operation by operation, regions first, and lets a pass replace operations.
class Rewriter {
public:
    virtual ~Rewriter() = default;

    /// The rewritten function; `f` itself when nothing changed.
    FunctionPtr run(const FunctionPtr& f);

protected:
    /// Called for each operation after its operands and regions were rewritten. Returns true when it emitted the results itself (results.size() == op.result_count).
    /// `op` has the new operands and regions; result types are `types`.
    virtual bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) = 0;
    /// A new function begins: passes with tables per function start anew.
    virtual void enter(const Function&) {}
    virtual void leave() {}
    /// Whether regions are rewritten too.
    virtual bool into_regions(const Op&) const { return true; }

private:
    std::unordered_map<const Function*, std::pair<FunctionPtr, FunctionPtr>> done_; ///< keeps the keys alive; regions may be shared
};

/// The definition of a value of a builder, by search over its operations: null for a parameter.
const Op* definition(const Builder& builder, ValueId v);
/// The constant behind a value, through nothing; null when it is none.
const ir::Literal* constant_of(const Builder& builder, ValueId v);

} // namespace stithy::pass
