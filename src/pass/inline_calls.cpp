#include "pass/inline_calls.hpp"

#include "pass/rewrite.hpp"

namespace stithy::pass {

namespace {
class InlineCalls final : public Rewriter {
    bool handles(const Op& op) const override { return op.code == OpCode::call; }
    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type>, Values& results) override {
        if (op.code != OpCode::call) return false;
        results = ops::inline_call(builder, *op.regions[0], operands); // the callee's own calls are gone already
        return true;
    }
};
} // namespace

ir::FunctionPtr inline_calls(const ir::FunctionPtr& f) { return InlineCalls().run(f); }

} // namespace stithy::pass
