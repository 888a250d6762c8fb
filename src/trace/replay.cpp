#include "trace/replay.hpp"

#include "array/eager.hpp"
#include "ops/build.hpp"
#include "trace/staging.hpp"
#include "transform/common.hpp"

#include <algorithm>
#include <optional>

namespace stithy::detail {

namespace {

using ir::OpCode;

/// Runs a function operation by operation; arrays go when nobody needs them any more. Accumulators are arrays here.
class Replay {
public:
    Replay(const ir::Function& f, Arrays arguments) : f_(f), table_(f.value_count()), uses_(transform::count_uses(f)) {
        for (std::size_t p = 0; p < arguments.size(); ++p)
            if (uses_[p] > 0) table_[p] = std::move(arguments[p]);
    }

    Arrays run() {
        Arrays operands;
        for (const ir::Op& op : f_.ops()) {
            operands.clear();
            std::uint64_t dying = 0;
            for (std::size_t i = 0; i < op.operands.size(); ++i) {
                const ir::ValueId v = op.operands[i];
                if (--uses_[v] == 0) {
                    operands.push_back(std::move(table_[v]));
                    if (i < 64) dying |= std::uint64_t{1} << i;
                } else {
                    operands.push_back(table_[v]);
                }
            }
            if (is_plain(op)) {
                Array result = run_now1(operation(op, operands, dying));
                if (uses_[op.first_result] > 0) table_[op.first_result] = std::move(result);
                continue;
            }
            Arrays results = step(op, operands, dying);
            for (std::uint32_t r = 0; r < op.result_count; ++r)
                if (uses_[op.result(r)] > 0) table_[op.result(r)] = std::move(results[r]);
        }
        Arrays out;
        for (ir::ValueId v : f_.results()) out.push_back(table_[v]);
        return out;
    }

private:
    [[nodiscard]] std::span<const ir::Type> types_of(const ir::Op& op) const {
        if (op.result_count == 0) return {};
        return {&f_.type(op.first_result), op.result_count};
    }

    /// One result, tensors only, and no constant.
    [[nodiscard]] bool is_plain(const ir::Op& op) const {
        if (op.result_count != 1 || op.code == OpCode::constant || !f_.type(op.first_result).is_tensor()) return false;
        return std::all_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return f_.type(v).is_tensor(); });
    }
    [[nodiscard]] Operation operation(const ir::Op& op, std::span<const Array> operands, std::uint64_t dying) const {
        return {.code = op.code,
                .operands = operands,
                .attr = op.attr,
                .regions = op.regions,
                .declared = types_of(op),
                .location = op.location,
                .effect = op.effect,
                .dying = dying};
    }

    Arrays step(const ir::Op& op, const Arrays& operands, std::uint64_t dying) {
        switch (op.code) {
        case OpCode::constant: return {concrete_constant(op.get<ir::ConstantAttr>().value, op.location)};
        case OpCode::accumulator_zeros: {
            const ir::Type& t = f_.type(op.first_result);
            return {make_splat(t.dtype(), t.shape(), 0, op.location)};
        }
        case OpCode::freeze: return {operands[0]};
        case OpCode::accumulator_add:
            if (is_zero(operands[0])) return {operands[1]};
            return run_now({.code = OpCode::add,
                            .operands = operands,
                            .attr = nullptr,
                            .regions = {},
                            .declared = {},
                            .location = op.location,
                            .dying = dying});
        default: break;
        }
        bool tensors = true;
        for (const ir::Type& t : types_of(op)) tensors = tensors && t.is_tensor();
        for (ir::ValueId v : op.operands) tensors = tensors && f_.type(v).is_tensor();
        if (!tensors) return run_with_accumulators(op, operands);
        return run_now(operation(op, operands, dying));
    }

    static bool is_zero(const Array& x) { return !node(x).traced() && node(x).is_splat() && node(x).splat_bits() == 0; }

    /// An operation on accumulators as a program of its own that takes and gives tensors.
    Arrays run_with_accumulators(const ir::Op& op, const Arrays& operands) {
        ir::Builder b(std::string(ir::name(op.code)));
        ops::Values in, arguments;
        for (std::size_t i = 0; i < operands.size(); ++i) in.emplace_back(b, b.parameter(f_.type(op.operands[i]).as_tensor()));
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const ir::Type& t = f_.type(op.operands[i]);
            if (!t.is_accumulator()) {
                arguments.push_back(in[i]);
                continue;
            }
            ops::Value acc = ops::accumulator_zeros(b, t.as_tensor());
            arguments.push_back(is_zero(operands[i]) ? acc : ops::accumulator_add(acc, in[i]));
        }
        ops::Values results = ops::emit_like(b, op, arguments, types_of(op));
        std::vector<ir::ValueId> ids;
        for (ops::Value r : results) ids.push_back((r.type().is_accumulator() ? ops::freeze(r) : r).id());
        const ir::FunctionPtr f = b.finish(std::move(ids));
        const ir::FunctionPtr regions[] = {f};
        return run_now({.code = OpCode::call,
                        .operands = operands,
                        .attr = ir::make_attr(ir::CallAttr{f->name()}),
                        .regions = regions,
                        .declared = {},
                        .location = op.location});
    }

    const ir::Function& f_;
    Arrays table_;
    std::vector<std::uint32_t> uses_;
};

/// An integer of rank 0 that is known without reading.
std::optional<ir::Literal> known_integer(const Array& x) {
    const ArrayNode& n = node(x);
    if (n.shape().rank() != 0 || !n.dtype().is_integer()) return std::nullopt;
    if (!n.traced()) return n.is_splat() ? std::optional(n.splat_literal()) : std::nullopt;
    if (!n.trace()->is_staging()) return std::nullopt;
    const ir::Literal* literal = static_cast<const StagingTrace*>(n.trace())->literal_of(x);
    return literal ? std::optional(*literal) : std::nullopt;
}

} // namespace

Arrays replay(const ir::FunctionPtr& f, Arrays arguments) {
    std::vector<const Array*> pointers;
    for (const Array& x : arguments) pointers.push_back(&x);
    Trace* trace = find_trace(pointers, f->name().c_str(), Location());
    if (!trace) return Replay(*f, std::move(arguments)).run();
    if (trace->is_staging()) return static_cast<StagingTrace*>(trace)->inline_function(*f, arguments);
    const ir::FunctionPtr regions[] = {f};
    return trace->bind({.code = OpCode::call,
                        .operands = arguments,
                        .attr = ir::make_attr(ir::CallAttr{f->name()}),
                        .regions = regions,
                        .declared = {},
                        .location = Location()});
}

ir::FunctionPtr as_function(const ir::Op& op, std::span<const ir::Type> operands, std::span<const ir::Type> results, const Arrays& values) {
    ir::Builder b(std::string(ir::name(op.code)));
    ir::Op copy = op;
    copy.operands.clear();
    for (const ir::Type& t : operands) copy.operands.push_back(b.parameter(t));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::optional<ir::Literal> known = known_integer(values[i]);
        if (!known) continue;
        ops::LocationScope scope(op.location);
        copy.operands[i] = ops::constant(b, *known).id();
    }
    const ir::ValueId first = b.append(std::move(copy), results);
    std::vector<ir::ValueId> ids;
    for (std::size_t r = 0; r < results.size(); ++r) ids.push_back(first + static_cast<ir::ValueId>(r));
    return b.finish(std::move(ids));
}

} // namespace stithy::detail
