#include "ir/structured.hpp"
#include "ir/verify.hpp"

#include <algorithm>

namespace stithy::ir {

namespace {
using Mask = std::vector<bool>;

/// How an operation treats operands that depend on linear parameters.
enum class Use : std::uint8_t {
    none, ///< not linear in any operand
    each, ///< linear in all operands together: sums, selections of places
    one,  ///< linear in one operand at a time: products
};
struct LinearUse {
    Use use = Use::none;
    std::size_t first = 0, count = ~std::size_t{0}; ///< the operands that may be linear
};

LinearUse linear_use(const Op& op) {
    switch (op.code) {
    case OpCode::add:
    case OpCode::subtract:
    case OpCode::negate:
    case OpCode::convert:
    case OpCode::broadcast_in_dim:
    case OpCode::reshape:
    case OpCode::transpose:
    case OpCode::slice:
    case OpCode::concatenate:
    case OpCode::pad:
    case OpCode::reverse:
    case OpCode::tuple:
    case OpCode::get_tuple_element:
    case OpCode::optimization_barrier:
    case OpCode::accumulator_add:
    case OpCode::freeze:
    case OpCode::stack_push:
    case OpCode::stack_pop:
    case OpCode::reduce: return {Use::each};
    case OpCode::select: return {Use::each, 1, 2};
    case OpCode::dynamic_slice:
    case OpCode::gather:
    case OpCode::divide: return {Use::each, 0, 1};
    case OpCode::dynamic_update_slice:
    case OpCode::accumulator_add_at: return {Use::each, 0, 2};
    case OpCode::accumulator_scatter_add: return {Use::each};
    case OpCode::scatter: return {Use::each};
    case OpCode::multiply:
    case OpCode::dot_general: return {Use::one};
    default: return {};
    }
}

/// A reducer or update that is linear: a sum or difference, or one of the two values.
bool is_linear_region(const Function& region) {
    if (region.ops().empty()) return true;
    return std::all_of(region.ops().begin(), region.ops().end(),
                       [](const Op& op) { return op.code == OpCode::add || op.code == OpCode::subtract; });
}

class LinearVerifier {
public:
    explicit LinearVerifier(const Function& f, Mask parameters) : f_(f), linear_(std::move(parameters)) { linear_.resize(f.value_count()); }

    Mask run() {
        for (const Op& op : f_.ops()) step(op);
        Mask results;
        for (ValueId v : f_.results()) results.push_back(linear_[v]);
        return results;
    }

private:
    [[noreturn]] void fail(const Op& op, std::string_view text) const {
        internal_error("verify: " + std::string(text) + ": " + describe(f_, op));
    }

    void step(const Op& op) {
        Mask operands;
        for (ValueId v : op.operands) operands.push_back(linear_[v]);
        if (std::find(operands.begin(), operands.end(), true) == operands.end()) return;
        Mask results;
        switch (op.code) {
        case OpCode::call: results = verify_linear(*op.regions[0], operands); break;
        case OpCode::case_:
        case OpCode::if_: results = branches(op, operands); break;
        case OpCode::while_: results = while_loop(op, operands); break;
        case OpCode::loop: results = counted_loop(op, operands); break;
        default: results.assign(op.result_count, true); plain(op, operands);
        }
        for (std::uint32_t r = 0; r < op.result_count; ++r) linear_[op.result(r)] = results[r];
    }

    void plain(const Op& op, const Mask& operands) const {
        const LinearUse use = linear_use(op);
        if (use.use == Use::none) fail(op, "a linear value is used by an operation that is not linear");
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (operands[i] && (i < use.first || i - use.first >= use.count))
                fail(op, "a linear value stands where the operation is not linear");
        if (use.use == Use::one && operands[0] && operands[1]) fail(op, "a product of two linear values");
        if (!op.regions.empty() && !is_linear_region(*op.regions[0])) fail(op, "a linear value meets a region that is not linear");
        if (op.code == OpCode::add || op.code == OpCode::subtract)
            for (std::size_t i = 0; i < 2; ++i)
                if (!operands[i] && is_nonzero_constant(op.operands[i])) fail(op, "a linear value plus a constant");
    }

    [[nodiscard]] bool is_nonzero_constant(ValueId v) const {
        const std::int32_t at = f_.defining_op()[v];
        if (at < 0) return false;
        const Op& op = f_.ops()[static_cast<std::size_t>(at)];
        if (op.code == OpCode::broadcast_in_dim || op.code == OpCode::reshape) return is_nonzero_constant(op.operands[0]);
        if (op.code != OpCode::constant) return false;
        const Literal& value = op.get<ConstantAttr>().value;
        return !value.is_splat() || (value.type().elements() != 0 && value.element_as_double(0) != 0);
    }

    [[nodiscard]] Mask branches(const Op& op, const Mask& operands) const {
        if (operands[0]) fail(op, "a branch on a linear value");
        const Mask captures(operands.begin() + 1, operands.end());
        Mask results(op.result_count);
        for (const FunctionPtr& region : op.regions) {
            const Mask r = verify_linear(*region, captures);
            for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i] || r[i];
        }
        return results;
    }

    /// Grows the carries' marks until the body keeps them.
    [[nodiscard]] Mask while_loop(const Op& op, Mask operands) const {
        const auto invariants = static_cast<std::size_t>(op.get<WhileAttr>().invariants);
        for (;;) {
            const Mask next = verify_linear(*op.regions[1], operands);
            if (!grow(operands, invariants, next)) break;
        }
        if (verify_linear(*op.regions[0], operands)[0]) fail(op, "the condition of a while depends on a linear value");
        return {operands.begin() + static_cast<std::ptrdiff_t>(invariants), operands.end()};
    }

    [[nodiscard]] Mask counted_loop(const Op& op, const Mask& operands) const {
        const LoopLayout layout(op.get<LoopAttr>());
        if (layout.trip == 1 && operands[0]) fail(op, "a trip count that is linear");
        Mask parameters(layout.parameters());
        for (std::size_t p = 1; p < parameters.size(); ++p) parameters[p] = operands[layout.operand_of(p)];
        for (;;) {
            const Mask results = verify_linear(*op.regions[0], parameters);
            Mask state(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(layout.carries + layout.accumulators));
            if (grow(parameters, layout.carry(0), state)) continue;
            Mask all = results;
            for (std::size_t i = 0; i < state.size(); ++i) all[i] = parameters[layout.carry(0) + i];
            return all;
        }
    }

    static bool grow(Mask& mask, std::size_t first, const Mask& more) {
        bool grew = false;
        for (std::size_t i = 0; i < more.size(); ++i)
            if (more[i] && !mask[first + i]) mask[first + i] = grew = true;
        return grew;
    }

    const Function& f_;
    Mask linear_;
};
} // namespace

std::vector<bool> verify_linear(const Function& function, const std::vector<bool>& linear_parameters) {
    std::string key = "linear:"; // memoised: loops ask again at each step of their fixed point, nested ones at each of those
    for (const bool linear : linear_parameters) key += linear ? '1' : '0';
    return *function.memo<Mask>(key, [&] { return std::make_shared<const Mask>(LinearVerifier(function, linear_parameters).run()); });
}

} // namespace stithy::ir
