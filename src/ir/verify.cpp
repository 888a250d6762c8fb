#include "ir/verify.hpp"

#include "ir/structured.hpp"

#include <algorithm>
#include <unordered_set>

namespace stithy::ir {

std::string describe(const Function& function, const Op& op) {
    std::string text = "op " + std::to_string(&op - function.ops().data()) + ", " + std::string(name(op.code)) + " (";
    for (std::size_t i = 0; i < op.operands.size(); ++i)
        text += (i != 0 ? ", " : "") + (op.operands[i] < function.value_count() ? function.type(op.operands[i]).str() : "?");
    text += ") -> (";
    for (std::uint32_t r = 0; r < op.result_count; ++r) text += (r != 0 ? ", " : "") + function.type(op.result(r)).str();
    return text + "), of @" + function.name();
}

namespace {
/// How many operands an operation has: between `least` and `most`.
struct Arity {
    std::size_t least, most;
};
constexpr std::size_t any_number = ~std::size_t{0};

Arity arity(OpCode code) {
    if (is_unary_elementwise(code)) return {1, 1};
    if (is_binary_elementwise(code)) return {2, 2};
    switch (code) {
    case OpCode::select:
    case OpCode::clamp:
    case OpCode::accumulator_scatter_add: return {3, 3};
    case OpCode::constant:
    case OpCode::iota:
    case OpCode::accumulator_zeros:
    case OpCode::stack_empty:
    case OpCode::create_token: return {0, 0};
    case OpCode::bitcast_convert:
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::reverse:
    case OpCode::get_tuple_element:
    case OpCode::freeze:
    case OpCode::stack_pop: return {1, 1};
    case OpCode::pad:
    case OpCode::gather:
    case OpCode::dot_general:
    case OpCode::accumulator_add: return {2, 2};
    case OpCode::dynamic_slice:
    case OpCode::concatenate:
    case OpCode::case_:
    case OpCode::if_:
    case OpCode::stack_push: return {1, any_number};
    case OpCode::dynamic_update_slice:
    case OpCode::reduce:
    case OpCode::accumulator_add_at: return {2, any_number};
    case OpCode::scatter: return {3, any_number};
    default: return {0, any_number};
    }
}

bool has_regions(OpCode code) {
    return code == OpCode::while_ || code == OpCode::case_ || code == OpCode::if_ || code == OpCode::call || code == OpCode::reduce ||
           code == OpCode::scatter || code == OpCode::loop;
}

bool any_result_count(OpCode code) {
    return has_regions(code) || code == OpCode::custom_call || code == OpCode::optimization_barrier || code == OpCode::stack_pop;
}

template <class T>
bool holds(const Op& op) {
    return op.attr && std::holds_alternative<T>(*op.attr);
}

bool has_its_attribute(const Op& op) {
    switch (op.code) {
    case OpCode::constant: return holds<ConstantAttr>(op);
    case OpCode::compare: return holds<CompareAttr>(op);
    case OpCode::iota:
    case OpCode::concatenate:
    case OpCode::get_tuple_element: return holds<DimAttr>(op);
    case OpCode::broadcast_in_dim:
    case OpCode::transpose:
    case OpCode::reverse:
    case OpCode::reduce:
    case OpCode::dynamic_slice: return holds<DimsAttr>(op);
    case OpCode::slice: return holds<SliceAttr>(op);
    case OpCode::pad: return holds<PadAttr>(op);
    case OpCode::dot_general: return holds<DotAttr>(op);
    case OpCode::gather: return holds<GatherAttr>(op);
    case OpCode::scatter:
    case OpCode::accumulator_scatter_add: return holds<ScatterAttr>(op);
    case OpCode::while_: return holds<WhileAttr>(op);
    case OpCode::loop: return holds<LoopAttr>(op);
    case OpCode::call: return holds<CallAttr>(op);
    case OpCode::custom_call: return holds<CustomCallAttr>(op);
    default: return true;
    }
}

class Verifier {
public:
    explicit Verifier(const Function& function) : f_(function) {}

    void run(std::vector<const Function*>& regions) {
        std::size_t next = f_.parameter_count();
        for (const Op& op : f_.ops()) {
            check(op, op.first_result == next, "its results are not the next values");
            next += op.result_count;
            check_counts(op);
            check_regions(op);
            check_linear_types(op);
            for (const FunctionPtr& region : op.regions) regions.push_back(region.get());
        }
        internal_check(next == f_.value_count(), "verify: @" + f_.name() + " has values that no operation defines");
        for (ValueId v : f_.results())
            internal_check(v < f_.value_count(), "verify: @" + f_.name() + " returns a value that does not exist");
        check_single_use();
    }

private:
    void check(const Op& op, bool condition, std::string_view text) const {
        if (!condition) internal_error("verify: " + std::string(text) + ": " + describe(f_, op));
    }

    [[nodiscard]] const Type& type(ValueId v) const { return f_.type(v); }
    [[nodiscard]] std::vector<Type> types(std::span<const ValueId> ids) const {
        std::vector<Type> list;
        for (ValueId v : ids) list.push_back(type(v));
        return list;
    }
    [[nodiscard]] std::vector<Type> result_types(const Op& op) const {
        std::vector<Type> list;
        for (std::uint32_t r = 0; r < op.result_count; ++r) list.push_back(type(op.result(r)));
        return list;
    }

    void check_counts(const Op& op) const {
        for (ValueId v : op.operands) check(op, v < op.first_result, "an operand is used before it is defined");
        const Arity count = arity(op.code);
        check(op, op.operands.size() >= count.least && op.operands.size() <= count.most, "wrong number of operands");
        check(op, has_its_attribute(op), "the attribute is missing or of another kind");
        check(op, any_result_count(op.code) || op.result_count == 1, "wrong number of results");
        const std::size_t regions = op.regions.size();
        if (op.code == OpCode::case_)
            check(op, regions >= 1, "no regions");
        else
            check(op,
                  regions == (!has_regions(op.code)                                 ? 0u
                              : op.code == OpCode::while_ || op.code == OpCode::if_ ? 2u
                                                                                    : 1u),
                  "wrong number of regions");
        for (const FunctionPtr& region : op.regions) check(op, region != nullptr, "an empty region");
    }

    void check_regions(const Op& op) const {
        const std::vector<Type> given = types(op.operands), results = result_types(op);
        switch (op.code) {
        case OpCode::call:
            check(op, op.regions[0]->parameter_types() == given, "the callee's parameters are not the operands'");
            check(op, op.regions[0]->result_types() == results, "the callee's results are not the operation's");
            return;
        case OpCode::while_: return check_while(op, given, results);
        case OpCode::case_:
        case OpCode::if_: return check_branches(op, given, results);
        case OpCode::reduce:
        case OpCode::scatter: return check_elementwise_region(op);
        case OpCode::loop: return check_loop(op, given, results);
        default: return;
        }
    }

    void check_while(const Op& op, const std::vector<Type>& given, const std::vector<Type>& results) const {
        const auto invariants = op.get<WhileAttr>().invariants;
        check(op, invariants >= 0 && static_cast<std::size_t>(invariants) + results.size() == given.size(),
              "invariants and carries are not the operands");
        const std::vector<Type> carries(given.begin() + invariants, given.end());
        check(op, op.regions[0]->parameter_types() == given && op.regions[1]->parameter_types() == given,
              "a region's parameters are not the operands'");
        check(op, op.regions[0]->result_types() == std::vector<Type>{Type(boolean, {})}, "the condition does not give one bool of rank 0");
        check(op, op.regions[1]->result_types() == carries && results == carries, "the body's results are not the carries");
        for (std::int64_t i = 0; i < invariants; ++i)
            check(op, !given[static_cast<std::size_t>(i)].is_accumulator() && !given[static_cast<std::size_t>(i)].is_stack(),
                  "an accumulator or stack as invariant");
    }

    void check_branches(const Op& op, const std::vector<Type>& given, const std::vector<Type>& results) const {
        check(op, given[0] == Type(op.code == OpCode::if_ ? boolean : i32, {}), "the selector is not of rank 0 and its dtype");
        const std::vector<Type> captures(given.begin() + 1, given.end());
        for (const FunctionPtr& region : op.regions) {
            check(op, region->parameter_types() == captures, "a region's parameters are not the captured operands'");
            check(op, region->result_types() == results, "a region's results are not the operation's");
        }
    }

    void check_elementwise_region(const Op& op) const {
        const bool is_scatter = op.code == OpCode::scatter;
        const std::size_t n = op.operands.size() / 2;
        check(op, op.operands.size() == 2 * n + (is_scatter ? 1 : 0) && op.result_count == n,
              "inputs, initial values or updates, and results do not pair up");
        const Function& region = *op.regions[0];
        check(op, region.parameter_count() == 2 * n && region.results().size() == n,
              "the region does not take two values per input and give one");
        for (const Type& t : region.parameter_types())
            check(op, t.is_tensor() && t.rank() == 0, "the region's parameters are not of rank 0");
        for (std::size_t i = 0; i < n; ++i) {
            const DType dtype = type(op.result(static_cast<std::uint32_t>(i))).dtype();
            check(op, region.type(region.results()[i]) == Type(dtype, {}) && region.type(static_cast<ValueId>(i)) == Type(dtype, {}),
                  "the region's values are not the results' elements");
        }
    }

    void check_loop(const Op& op, const std::vector<Type>& given, const std::vector<Type>& results) const {
        const auto& a = op.get<LoopAttr>();
        check(op, a.invariants >= 0 && a.carries >= 0 && a.accumulators >= 0 && a.xs >= 0 && a.ys >= 0 && a.length >= -1,
              "a negative count");
        const LoopLayout layout(a);
        const Function& body = *op.regions[0];
        check(op, given.size() == layout.operands() && results.size() == layout.results(), "the groups are not the operands or results");
        check(op, body.parameter_count() == layout.parameters() && body.results().size() == layout.results(),
              "the groups are not the body's parameters or results");
        check(op, body.type(0) == Type(i64, {}), "the counter is not an i64");
        if (a.length < 0)
            check(op, given[0] == Type(i64, {}) && a.xs == 0 && a.ys == 0,
                  "a trip count that is not a rank-0 i64, or slices of an unknown length");
        for (std::size_t p = 1; p < layout.parameters(); ++p) {
            const Type& inner = body.type(static_cast<ValueId>(p));
            check(op, (layout.is_x(p) ? stacked(inner, a.length) : inner) == given[layout.operand_of(p)],
                  "a parameter of the body does not fit its operand");
            check(op, inner.is_accumulator() == layout.is_accumulator(p), "accumulators stand outside of their group");
            check(op, !(layout.is_invariant(p) && inner.is_stack()), "a stack as invariant");
        }
        const std::vector<Type> out = loop_result_types(a, body);
        check(op, out == results, "the body's results are not the operation's");
        for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i)
            check(op, out[i] == body.type(static_cast<ValueId>(1 + layout.invariants + i)), "a carry changes its type");
    }

    void check_linear_types(const Op& op) const {
        const auto accumulator = [&](ValueId v) { return type(v).is_accumulator(); };
        switch (op.code) {
        case OpCode::accumulator_zeros: return check(op, accumulator(op.result()), "the result is not an accumulator");
        case OpCode::accumulator_add:
            return check(op,
                         accumulator(op.operands[0]) && type(op.operands[0]) == type(op.result()) &&
                             type(op.operands[1]) == type(op.result()).as_tensor(),
                         "accumulator and summand do not fit");
        case OpCode::accumulator_add_at:
            return check(op,
                         accumulator(op.operands[0]) && type(op.operands[0]) == type(op.result()) &&
                             type(op.operands[1]).rank() == type(op.result()).rank() && op.operands.size() == 2 + type(op.result()).rank(),
                         "accumulator, update and starts do not fit");
        case OpCode::accumulator_scatter_add:
            return check(op, accumulator(op.operands[0]) && type(op.operands[0]) == type(op.result()),
                         "the operand is not the result's accumulator");
        case OpCode::freeze:
            return check(op, accumulator(op.operands[0]) && type(op.operands[0]).as_tensor() == type(op.result()),
                         "not an accumulator frozen to its tensor");
        case OpCode::stack_empty: return check(op, type(op.result()).is_stack(), "the result is not a stack");
        case OpCode::stack_push: {
            const Type& stack = type(op.operands[0]);
            return check(op, stack.is_stack() && stack == type(op.result()) && types(std::span(op.operands).subspan(1)) == stack.members(),
                         "stack and values do not fit");
        }
        case OpCode::stack_pop: {
            const Type& stack = type(op.operands[0]);
            check(op, stack.is_stack() && op.result_count == 1 + stack.members().size() && type(op.result()) == stack,
                  "stack and results do not fit");
            for (std::size_t i = 0; i < stack.members().size(); ++i)
                check(op, type(op.result(static_cast<std::uint32_t>(1 + i))) == stack.members()[i], "stack and results do not fit");
            return;
        }
        default: return;
        }
    }

    /// Accumulators and stacks are updated in place: a second use would see the update.
    void check_single_use() const {
        std::vector<std::uint8_t> used(f_.value_count());
        auto use = [&](ValueId v) {
            if (!type(v).is_accumulator() && !type(v).is_stack()) return true;
            return used[v]++ == 0;
        };
        for (const Op& op : f_.ops())
            for (ValueId v : op.operands) check(op, use(v), "an accumulator or stack is used twice");
        for (ValueId v : f_.results())
            internal_check(use(v), "verify: @" + f_.name() + " returns an accumulator or stack that is used twice");
    }

    const Function& f_;
};
} // namespace

void verify(const Function& function) {
    std::unordered_set<const Function*> seen;
    std::vector<const Function*> waiting{&function};
    while (!waiting.empty()) {
        const Function& f = *waiting.back();
        waiting.pop_back();
        if (!seen.insert(&f).second) continue;
        Verifier(f).run(waiting);
    }
    for (const Function* f : seen) {
        std::vector<bool> linear;
        for (std::size_t i = 0; i < f->parameter_count(); ++i) linear.push_back(f->is_linear(i));
        if (std::find(linear.begin(), linear.end(), true) != linear.end()) (void)verify_linear(*f, linear);
    }
}

} // namespace stithy::ir
