#include "reference/evaluate.hpp"

#include "reference/operations.hpp"
#include "reference/scalar.hpp"

namespace stithy::reference {

using ir::Op;
using ir::OpCode;
using ir::Type;

namespace {
class Interpreter {
public:
    explicit Interpreter(const CustomCall& custom_call) : custom_call_(custom_call) {}

    Values run(const ir::Function& function, const Values& arguments) {
        internal_check(arguments.size() == function.parameter_count(), "reference: wrong number of arguments for " + function.name());
        Values frame = arguments;
        frame.reserve(function.value_count());
        for (const Op& op : function.ops()) {
            Values operands, results;
            std::vector<Type> types;
            for (ir::ValueId v : op.operands) operands.push_back(frame[v]);
            for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(function.type(op.result(r)));
            results = step(op, types, operands);
            internal_check(results.size() == types.size(), "reference: wrong number of results of " + std::string(ir::name(op.code)));
            for (std::size_t r = 0; r < types.size(); ++r)
                internal_check(results[r].type == types[r], "reference: " + std::string(ir::name(op.code)) + " gave " +
                                                                results[r].type.str() + ", declared " + types[r].str());
            frame.insert(frame.end(), results.begin(), results.end());
        }
        Values results;
        for (ir::ValueId v : function.results()) results.push_back(frame[v]);
        return results;
    }

private:
    Values step(const Op& op, const std::vector<Type>& types, const Values& operands) {
        const Apply apply = [this](const ir::Function& region, const Values& values) { return run(region, values); };
        switch (op.code) {
        case OpCode::while_: return while_loop(op, operands);
        case OpCode::case_: return branch(op, operands, to_int(operands[0].dtype(), operands[0][0]));
        case OpCode::if_: return branch(op, operands, operands[0][0] ? 0 : 1);
        case OpCode::call: return run(*op.regions[0], operands);
        case OpCode::tuple: return {with_members(types[0], operands)};
        case OpCode::get_tuple_element: return {(*operands[0].members)[static_cast<std::size_t>(op.get<ir::DimAttr>().dim)]};
        case OpCode::optimization_barrier: return operands;
        case OpCode::create_token:
        case OpCode::after_all: return {Value{Type::token(), nullptr, nullptr}};
        case OpCode::custom_call: return custom_call(op, types, operands);
        case OpCode::reduce: return reduce(op, types, operands, apply);
        case OpCode::scatter: return scatter(op, operands, apply);
        case OpCode::loop: return counted_loop(op, types, operands);
        case OpCode::stack_empty: return {with_members(types[0], {})};
        case OpCode::stack_push: {
            Values all = *operands[0].members;
            all.insert(all.end(), operands.begin() + 1, operands.end());
            return {with_members(types[0], std::move(all))};
        }
        case OpCode::stack_pop: return pop(types, operands[0]);
        case OpCode::accumulator_zeros: return {filled(types[0], 0)};
        case OpCode::accumulator_add: {
            std::vector<std::uint64_t> sum = *operands[0].bits;
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = binary(OpCode::add, types[0].dtype(), sum[i], (*operands[1].bits)[i]);
            return {tensor(types[0], std::move(sum))};
        }
        case OpCode::accumulator_add_at: return {add_at(types[0], operands)};
        case OpCode::accumulator_scatter_add: {
            std::vector<std::uint64_t> sum = *operands[0].bits;
            scatter_places(op.get<ir::ScatterAttr>(), types[0].shape(), operands[1], operands[2].shape(),
                           [&](std::int64_t u, std::int64_t place) {
                               auto& to = sum[static_cast<std::size_t>(place)];
                               to = binary(OpCode::add, types[0].dtype(), to, operands[2][u]);
                           });
            return {tensor(types[0], std::move(sum))};
        }
        case OpCode::freeze: return {Value{types[0], operands[0].bits, nullptr}};
        default: return {evaluate_plain(op, types[0], operands)};
        }
    }

    static Value add_at(const Type& type, const Values& operands) {
        const Value& update = operands[1];
        const Dims starts = clamped_starts(type.shape(), update.shape().dims(), std::span(operands).subspan(2));
        std::vector<std::uint64_t> sum = *operands[0].bits;
        for (std::int64_t u = 0; u < update.elements(); ++u) {
            Dims index = unravel(u, update.shape());
            for (std::size_t i = 0; i < index.size(); ++i) index[i] += starts[i];
            auto& to = sum[static_cast<std::size_t>(ravel(index, type.shape()))];
            to = binary(OpCode::add, type.dtype(), to, update[u]);
        }
        return tensor(type, std::move(sum));
    }

    static Values pop(const std::vector<Type>& types, const Value& stack) {
        Values rest = *stack.members, results(1);
        const std::size_t count = types.size() - 1;
        internal_check(rest.size() >= count, "reference: pop of an empty stack");
        results.insert(results.end(), rest.end() - static_cast<std::ptrdiff_t>(count), rest.end());
        rest.resize(rest.size() - count);
        results[0] = with_members(types[0], std::move(rest));
        return results;
    }

    Values while_loop(const Op& op, const Values& operands) {
        const auto invariants = static_cast<std::ptrdiff_t>(op.get<ir::WhileAttr>().invariants);
        Values state = operands;
        while (run(*op.regions[0], state)[0][0]) {
            const Values next = run(*op.regions[1], state);
            std::copy(next.begin(), next.end(), state.begin() + invariants);
        }
        return {state.begin() + invariants, state.end()};
    }

    Values branch(const Op& op, const Values& operands, std::int64_t index) {
        const auto count = static_cast<std::int64_t>(op.regions.size());
        if (index < 0 || index >= count) index = count - 1;
        return run(*op.regions[static_cast<std::size_t>(index)], {operands.begin() + 1, operands.end()});
    }

    Values counted_loop(const Op& op, const std::vector<Type>& types, const Values& operands) {
        const auto& a = op.get<ir::LoopAttr>();
        std::size_t next = a.length < 0 ? 1 : 0;
        const std::int64_t length = a.length < 0 ? std::max<std::int64_t>(0, to_int(i64, operands[0][0])) : a.length;
        const auto fixed = static_cast<std::size_t>(a.invariants), state_count = static_cast<std::size_t>(a.carries + a.accumulators);
        const auto xs = static_cast<std::size_t>(a.xs), ys = static_cast<std::size_t>(a.ys);
        const Values invariants(operands.begin() + static_cast<std::ptrdiff_t>(next),
                                operands.begin() + static_cast<std::ptrdiff_t>(next + fixed));
        next += fixed;
        Values state(operands.begin() + static_cast<std::ptrdiff_t>(next),
                     operands.begin() + static_cast<std::ptrdiff_t>(next + state_count));
        next += state_count;
        std::vector<std::vector<std::uint64_t>> stacked(ys);
        for (std::size_t y = 0; y < ys; ++y) stacked[y].resize(static_cast<std::size_t>(types[state_count + y].elements()));
        for (std::int64_t trip = 0; trip < length; ++trip) {
            const std::int64_t i = a.reverse ? length - 1 - trip : trip;
            Values arguments{filled(Type(i64, {}), static_cast<std::uint64_t>(i))};
            arguments.insert(arguments.end(), invariants.begin(), invariants.end());
            arguments.insert(arguments.end(), state.begin(), state.end());
            for (std::size_t x = 0; x < xs; ++x) arguments.push_back(slice_of(operands[next + x], i));
            const Values results = run(*op.regions[0], arguments);
            std::copy(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(state_count), state.begin());
            for (std::size_t y = 0; y < ys; ++y) {
                const auto& bits = *results[state_count + y].bits;
                std::copy(bits.begin(), bits.end(), stacked[y].begin() + i * static_cast<std::int64_t>(bits.size()));
            }
        }
        for (std::size_t y = 0; y < ys; ++y) state.push_back(tensor(types[state_count + y], std::move(stacked[y])));
        return state;
    }

    static Value slice_of(const Value& x, std::int64_t i) {
        Shape shape = x.shape();
        shape.dims().erase(0);
        const std::int64_t n = shape.elements();
        return tensor(Type(x.dtype(), shape), {x.bits->begin() + i * n, x.bits->begin() + (i + 1) * n});
    }

    Values custom_call(const Op& op, const std::vector<Type>& types, const Values& operands) {
        const std::string& target = op.get<ir::CustomCallAttr>().target;
        if (!custom_call_) throw Error("custom_call @" + target + ": nothing serves this target");
        std::vector<ir::Literal> arguments;
        for (const Value& v : operands)
            if (v.bits) arguments.push_back(to_literal(v));
        Values results;
        for (const ir::Literal& r : custom_call_(op, arguments)) results.push_back(from_literal(r));
        internal_check(results.size() <= types.size(), "reference: too many results of a custom call");
        for (std::size_t i = results.size(); i < types.size(); ++i) results.push_back(Value{types[i], nullptr, nullptr}); // tokens
        return results;
    }

    const CustomCall& custom_call_;
};
} // namespace

std::vector<ir::Literal> evaluate(const ir::Function& function, std::span<const ir::Literal> arguments, const CustomCall& custom_call) {
    internal_check(arguments.size() == function.parameter_count(), "reference: wrong number of arguments for " + function.name());
    Values values;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        Value v = from_literal(arguments[i]);
        internal_check(v.type == function.type(static_cast<ir::ValueId>(i)).as_tensor(),
                       "reference: argument " + std::to_string(i) + " is " + v.type.str());
        v.type = function.type(static_cast<ir::ValueId>(i));
        values.push_back(std::move(v));
    }
    std::vector<ir::Literal> results;
    for (const Value& v : Interpreter(custom_call).run(function, values)) results.push_back(to_literal(v));
    return results;
}

} // namespace stithy::reference
