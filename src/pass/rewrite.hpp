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
    FunctionPtr run(const FunctionPtr& f) { return rewritten(f, 0); }

protected:
    /// Called for each operation after its operands and regions were rewritten. Returns true when it emitted the results itself
    /// (results.size() == op.result_count). `op` has the new operands and regions; result types are `types`.
    virtual bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) = 0;
    /// Whether `rewrite` may do anything to such an operation: functions without one are left alone.
    virtual bool handles(const Op&) const { return true; }
    /// A new function begins: passes with tables per function start anew. `context` is what `context_of` gave.
    virtual void enter(const Function&, std::int64_t context) { static_cast<void>(context); }
    /// What a pass wants to know of the operation that a region belongs to.
    virtual std::int64_t context_of(const Op&) const { return 0; }
    virtual void leave() {}
    /// Called with each rewritten function: for what needs to see all of it.
    virtual FunctionPtr complete(FunctionPtr f) { return f; }
    /// Whether regions are rewritten too.
    virtual bool into_regions(const Op&) const { return true; }

private:
    struct Done {
        FunctionPtr before, after; ///< `before` keeps the key alive
        std::int64_t context;
    };
    FunctionPtr region(const FunctionPtr& f, std::int64_t context);
    FunctionPtr rewritten(const FunctionPtr& f, std::int64_t context);
    FunctionPtr rebuild(const FunctionPtr& f, std::int64_t context, std::vector<ir::Regions>& regions);
    std::unordered_multimap<const Function*, Done> done_; ///< regions may be shared
};

/// Whether the operation's region is a sum's, a maximum's or the like: nothing for a pass to gain in it.
bool is_reducer(const Op& op);
/// The definition of a value of a builder, by search over its operations: null for a parameter.
const Op* definition(const Builder& builder, ValueId v);
/// The constant behind a value, through nothing; null when it is none.
const ir::Literal* constant_of(const Builder& builder, ValueId v);

} // namespace stithy::pass
