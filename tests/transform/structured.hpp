#pragma once
#include "ir/structured.hpp"
#include "ir/verify.hpp"
#include "ops/harness.hpp"
#include "ops/verify_types.hpp"

/// Builders of loops, whiles, branches and calls for tests, and functions to look into programs.
namespace stithy::test {

using ir::LoopAttr;
using View = std::span<const Value>;

/// What a loop works on, group by group.
struct LoopOperands {
    Values invariants = {}, carries = {}, accumulators = {}, xs = {};
    Value trip = {}; ///< for length -1
};
/// What a loop's body sees.
struct LoopView {
    Builder& builder;
    Value counter;
    View invariants, carries, accumulators, xs;
};
using LoopBody = std::function<Values(const LoopView&)>;

inline std::vector<ir::ValueId> ids(View values) {
    std::vector<ir::ValueId> out;
    for (const Value& v : values) out.push_back(v.id());
    return out;
}

inline void append(Values& to, View values) {
    for (const Value& v : values) to.push_back(v);
}

/// A loop whose body gives carries, accumulators, then any number of ys.
inline Values loop(Builder& builder, std::int64_t length, const LoopOperands& operands, const LoopBody& body, bool reverse = false) {
    Builder inner("body");
    const Value counter(inner, inner.parameter(Type(i64, Shape{})));
    Values all, parameters;
    if (length < 0) all.push_back(operands.trip);
    const auto add = [&](const Values& group, bool sliced) {
        for (const Value& v : group) {
            all.push_back(v);
            Type type = v.type();
            if (sliced) {
                Dims dims = type.shape().dims();
                dims.erase(0);
                type = Type(type.dtype(), Shape(dims));
            }
            parameters.emplace_back(inner, inner.parameter(type));
        }
    };
    add(operands.invariants, false);
    add(operands.carries, false);
    add(operands.accumulators, false);
    add(operands.xs, true);
    const View view(parameters);
    const std::size_t i = operands.invariants.size(), c = operands.carries.size(), a = operands.accumulators.size(), x = operands.xs.size();
    const Values results =
        body({inner, counter, view.subspan(0, i), view.subspan(i, c), view.subspan(i + c, a), view.subspan(i + c + a, x)});
    LoopAttr attr;
    attr.length = length;
    attr.reverse = reverse;
    attr.invariants = static_cast<std::int64_t>(i);
    attr.carries = static_cast<std::int64_t>(c);
    attr.accumulators = static_cast<std::int64_t>(a);
    attr.xs = static_cast<std::int64_t>(x);
    attr.ys = static_cast<std::int64_t>(results.size() - c - a);
    const std::vector<ir::ValueId> out = ids(results);
    return ops::emit(builder, OpCode::loop, all, ir::make_attr(attr), {inner.finish(out)});
}

/// A region over the types of `operands`.
inline FunctionPtr region(View operands, const std::function<Values(Builder&, View)>& make, const std::string& name = "region") {
    Builder inner(name);
    Values parameters;
    for (const Value& v : operands) parameters.emplace_back(inner, inner.parameter(v.type()));
    const Values results = make(inner, parameters);
    return inner.finish(ids(results));
}

inline Values while_loop(Builder& builder, const Values& invariants, const Values& carries,
                         const std::function<Value(Builder&, View, View)>& condition,
                         const std::function<Values(Builder&, View, View)>& body) {
    Values all = invariants;
    append(all, carries);
    const std::size_t n = invariants.size();
    const FunctionPtr test =
        region(all, [&](Builder& b, View v) { return Values{condition(b, v.subspan(0, n), v.subspan(n))}; }, "condition");
    const FunctionPtr step = region(all, [&](Builder& b, View v) { return body(b, v.subspan(0, n), v.subspan(n)); }, "body");
    return ops::emit(builder, OpCode::while_, all, ir::make_attr(ir::WhileAttr{static_cast<std::int64_t>(n)}), {test, step});
}

using Branch = std::function<Values(Builder&, View)>;
/// case with an i32 index, or if with a bool predicate (branches: true, false).
inline Values branch(Builder& builder, Value selector, const Values& captures, const std::vector<Branch>& branches) {
    Values all{selector};
    append(all, captures);
    std::vector<FunctionPtr> regions;
    for (const Branch& b : branches) regions.push_back(region(captures, b, "branch"));
    return ops::emit(builder, selector.dtype().is_bool() ? OpCode::if_ : OpCode::case_, all, nullptr, std::move(regions));
}

inline Values call(Builder& builder, const Values& operands, const Branch& callee) {
    return ops::emit(builder, OpCode::call, operands, ir::make_attr(ir::CallAttr{"callee"}), {region(operands, callee, "callee")});
}

// ---- looking into programs ----

/// All operations of a code, those inside regions too.
inline std::size_t count_ops(const ir::Function& f, OpCode code) {
    std::size_t n = 0;
    for (const Op& op : f.ops()) {
        n += op.code == code ? 1 : 0;
        for (const FunctionPtr& r : op.regions) n += count_ops(*r, code);
    }
    return n;
}
/// The n-th operation of a code at the top of a function; a test failure when there is none.
inline const Op& find_op(const ir::Function& f, OpCode code, std::size_t n = 0) {
    for (const Op& op : f.ops())
        if (op.code == code && n-- == 0) return op;
    throw std::runtime_error("no such operation: " + std::string(ir::name(code)));
}
inline std::size_t count_all(const ir::Function& f) {
    std::size_t n = f.ops().size();
    for (const Op& op : f.ops())
        for (const FunctionPtr& r : op.regions) n += count_all(*r);
    return n;
}
inline void verify(const FunctionPtr& f) {
    ir::verify(*f);
    ops::verify_types(*f);
}

} // namespace stithy::test
