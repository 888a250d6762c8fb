#include "pass/simplify.hpp"

#include "pass/fold.hpp"
#include "pass/rewrite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace stithy::pass {

namespace {

bool is_identity(const Dims& dims) {
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (dims[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

/// Bounds of an integer. A bound that stands on the number of steps decides a comparison only where it is just met, as `i < n` is in a loop
/// of n steps and `n - 1 - i < 0` is not: else another number of steps could make other code.
struct Range {
    std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
    bool low_by_length = false, high_by_length = false;
};

/// Bounds of rank-0 integers that are computed from a loop's counter; nothing where they are not known, or where the arithmetic may wrap.
class Ranges {
public:
    Ranges() = default;
    /// Of a loop's body that runs `length` steps; < 0: not known.
    explicit Ranges(std::int64_t length) : length_(length) {}

    [[nodiscard]] std::optional<Range> of(const Builder& builder, ValueId v, int depth = 0) const {
        const Type& type = builder.type(v);
        if (!type.is_tensor() || type.rank() != 0 || !type.dtype().is_integer() || !type.dtype().is_signed() || depth > 8)
            return std::nullopt;
        const Op* op = definition(builder, v);
        if (!op) {
            if (v != 0 || length_ < 1) return std::nullopt;
            return Range{0, length_ - 1, false, true};
        }
        const auto operand = [&](std::size_t i) { return of(builder, op->operands[i], depth + 1); };
        switch (op->code) {
        case OpCode::constant: {
            const std::int64_t n = op->get<ir::ConstantAttr>().value.element_as_int(0);
            return Range{n, n};
        }
        case OpCode::convert:
            if (const auto x = operand(0)) return fit(*x, type.dtype());
            return std::nullopt;
        case OpCode::add:
        case OpCode::subtract: {
            const auto x = operand(0), y = x ? operand(1) : std::nullopt;
            if (!y || !is_small(*x) || !is_small(*y)) return std::nullopt;
            if (op->code == OpCode::add)
                return fit(
                    {x->low + y->low, x->high + y->high, x->low_by_length || y->low_by_length, x->high_by_length || y->high_by_length},
                    type.dtype());
            return fit({x->low - y->high, x->high - y->low, x->low_by_length || y->high_by_length, x->high_by_length || y->low_by_length},
                       type.dtype());
        }
        default: return std::nullopt;
        }
    }

private:
    static bool is_small(const Range& r) { return r.low > -(std::int64_t{1} << 61) && r.high < std::int64_t{1} << 61; }
    static std::optional<Range> fit(Range r, DType dtype) {
        const std::int64_t most = static_cast<std::int64_t>((std::uint64_t{1} << (8 * dtype.size() - 1)) - 1);
        if (r.low < -most - 1 || r.high > most) return std::nullopt;
        return r;
    }
    std::int64_t length_ = -1;
};

class Simplify final : public Rewriter {
    std::int64_t context_of(const Op& op) const override { return op.code == OpCode::loop ? op.get<LoopAttr>().length : -1; }
    void enter(const Function&, std::int64_t context) override { ranges_ = Ranges(context); }

    bool rewrite(Builder& builder, const Op& op, std::span<const Value> operands, std::span<const Type> types, Values& results) override {
        if (op.effect != ir::Effect::pure || types.size() != 1 || !types[0].is_tensor()) return false;
        if (operands.empty()) return false;
        Value value = simpler(builder, op, operands, types[0]);
        if (!value && op.code == OpCode::compare) value = decided(builder, op);
        if (!value || !(value.type() == types[0])) return false;
        results.push_back(value);
        return true;
    }

    /// A comparison whose answer the operands' bounds give: JAX guards each index by `i < 0`.
    Value decided(Builder& builder, const Op& op) const {
        const auto x = ranges_.of(builder, op.operands[0]), y = x ? ranges_.of(builder, op.operands[1]) : std::nullopt;
        if (!y) return {};
        const auto answer = [&](bool yes) { return splat(builder, Type(boolean, Shape{}), yes ? 1 : 0); };
        const auto below = [](const Range& a, const Range& b, std::int64_t gap) { // a + gap <= b
            return a.high_by_length || b.low_by_length ? a.high == b.low - gap : a.high <= b.low - gap;
        };
        switch (op.get<ir::CompareAttr>().direction) {
        case ir::Direction::lt: return below(*x, *y, 1) ? answer(true) : below(*y, *x, 0) ? answer(false) : Value();
        case ir::Direction::le: return below(*x, *y, 0) ? answer(true) : below(*y, *x, 1) ? answer(false) : Value();
        case ir::Direction::ge: return below(*y, *x, 0) ? answer(true) : below(*x, *y, 1) ? answer(false) : Value();
        case ir::Direction::gt: return below(*y, *x, 1) ? answer(true) : below(*x, *y, 0) ? answer(false) : Value();
        default: return {};
        }
    }

    static Value simpler(Builder& builder, const Op& op, std::span<const Value> operands, const Type& type) {
        if (ir::is_elementwise(op.code)) return simpler_elementwise(builder, op, operands, type);
        switch (op.code) {
        case OpCode::reshape: return simpler_reshape(builder, operands[0], type);
        case OpCode::transpose: return simpler_transpose(builder, op, operands[0], type);
        case OpCode::broadcast_in_dim: return simpler_broadcast(builder, op, operands[0], type);
        case OpCode::slice: return operands[0].type() == type ? operands[0] : splat_again(builder, operands[0], type);
        case OpCode::reverse: return splat_again(builder, operands[0], type);
        case OpCode::concatenate: return operands.size() == 1 ? operands[0] : Value();
        case OpCode::pad: return simpler_pad(op, operands[0]);
        case OpCode::dynamic_slice: return simpler_dynamic_slice(builder, op, operands);
        case OpCode::reduce:
            if (op.get<ir::DimsAttr>().dims.empty() && ops::combiner_of(*op.regions[0]) == OpCode::add) {
                const ir::Literal* init = constant_of(builder, operands[1].id());
                if (init && init->is_splat() && init->element_as_double(0) == 0) return operands[0];
            }
            return {};
        default: return {};
        }
    }

    static Value splat(Builder& builder, const Type& type, std::uint64_t bits) {
        return ops::constant(builder, ir::Literal::splat_bits(type, bits));
    }

    /// A rearranged splat constant is a splat constant.
    static Value splat_again(Builder& builder, Value x, const Type& type) {
        const ir::Literal* l = constant_of(builder, x.id());
        return l && l->is_splat() ? splat(builder, type, l->bits()) : Value();
    }

    static Value simpler_elementwise(Builder& builder, const Op& op, std::span<const Value> operands, const Type& type) {
        if (op.code == OpCode::convert && operands[0].type() == type) return operands[0];
        const ir::Literal* constants[3] = {};
        bool all = true;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            constants[i] = constant_of(builder, operands[i].id());
            if (constants[i] && !constants[i]->is_splat()) constants[i] = nullptr;
            all = all && constants[i];
        }
        if (all)
            if (auto bits = fold_splats(op, constants, type.dtype())) return splat(builder, type, *bits);
        if (op.code == OpCode::select) {
            if (constants[0]) return (constants[0]->bits() & 1) ? operands[1] : operands[2];
            if (operands[1].id() == operands[2].id()) return operands[1];
            return {};
        }
        if (operands.size() == 2) return simpler_binary(op.code, operands, constants);
        if (op.code == OpCode::negate || op.code == OpCode::not_) {
            const Op* inner = definition(builder, operands[0].id());
            if (inner && inner->code == op.code) return {builder, inner->operands[0]};
        }
        return {};
    }

    /// The operand that stays when the other is a neutral constant. Adding +0 is not neutral to -0.
    static Value simpler_binary(OpCode code, std::span<const Value> operands, const ir::Literal* const* constants) {
        auto is = [&](std::size_t i, double value) {
            if (!constants[i] || constants[i]->element_as_double(0) != value) return false;
            return value != 0 || !constants[i]->type().dtype().is_floating() || std::signbit(constants[i]->element_as_double(0));
        };
        const bool floating = operands[0].dtype().is_floating();
        switch (code) {
        case OpCode::add:
        case OpCode::or_:
        case OpCode::xor_:
            if (operands[0].dtype().is_bool() && code == OpCode::add) return {};
            if (is(1, 0)) return operands[0];
            if (is(0, 0)) return operands[1];
            return {};
        case OpCode::subtract: {
            const bool plus_zero =
                constants[1] && constants[1]->element_as_double(0) == 0 && (!floating || !std::signbit(constants[1]->element_as_double(0)));
            return plus_zero ? operands[0] : Value();
        }
        case OpCode::multiply:
            if (is(1, 1)) return operands[0];
            if (is(0, 1)) return operands[1];
            return {};
        case OpCode::divide: return is(1, 1) ? operands[0] : Value();
        case OpCode::and_:
            if (operands[0].id() == operands[1].id()) return operands[0];
            if (operands[0].dtype().is_bool()) {
                if (is(1, 1)) return operands[0];
                if (is(0, 1)) return operands[1];
            }
            return {};
        default: return {};
        }
    }

    static Value simpler_reshape(Builder& builder, Value x, const Type& type) {
        if (x.type() == type) return x;
        if (Value s = splat_again(builder, x, type)) return s;
        if (const ir::Literal* l = constant_of(builder, x.id())) {
            const auto bytes = l->bytes();
            return ops::constant(builder, ir::Literal::dense(type, {bytes.begin(), bytes.end()}));
        }
        const Op* inner = definition(builder, x.id());
        if (inner && inner->code == OpCode::reshape) return ops::reshape(Value(builder, inner->operands[0]), type.shape());
        return {};
    }

    static Value simpler_transpose(Builder& builder, const Op& op, Value x, const Type& type) {
        const Dims& permutation = op.get<ir::DimsAttr>().dims;
        if (is_identity(permutation)) return x;
        if (Value s = splat_again(builder, x, type)) return s;
        const Op* inner = definition(builder, x.id());
        if (!inner || inner->code != OpCode::transpose) return {};
        const Dims& first = inner->get<ir::DimsAttr>().dims;
        Dims both = permutation;
        for (std::int64_t& p : both) p = first[static_cast<std::size_t>(p)];
        const Value source(builder, inner->operands[0]);
        return is_identity(both) ? source : ops::transpose(source, both);
    }

    static Value simpler_broadcast(Builder& builder, const Op& op, Value x, const Type& type) {
        if (x.type() == type && is_identity(op.get<ir::DimsAttr>().dims)) return x;
        if (Value s = splat_again(builder, x, type)) return s;
        const Op* inner = definition(builder, x.id());
        if (!inner || inner->code != OpCode::broadcast_in_dim) return {};
        const Dims& dims = op.get<ir::DimsAttr>().dims;
        Dims both = inner->get<ir::DimsAttr>().dims;
        const Value source(builder, inner->operands[0]);
        for (std::int64_t& d : both) d = dims[static_cast<std::size_t>(d)];
        return ops::broadcast_in_dim(source, type.shape(), both);
    }

    static Value simpler_pad(const Op& op, Value x) {
        const auto& p = op.get<ir::PadAttr>();
        const auto zero = [](const Dims& d) { return std::all_of(d.begin(), d.end(), [](std::int64_t v) { return v == 0; }); };
        return zero(p.low) && zero(p.high) && zero(p.interior) ? x : Value();
    }

    static Value simpler_dynamic_slice(Builder& builder, const Op& op, std::span<const Value> operands) {
        const Dims& sizes = op.get<ir::DimsAttr>().dims;
        Dims start, limit;
        for (std::size_t i = 1; i < operands.size(); ++i) {
            const ir::Literal* l = constant_of(builder, operands[i].id());
            if (!l) return {};
            const std::int64_t last = operands[0].shape()[i - 1] - sizes[i - 1];
            start.push_back(std::clamp<std::int64_t>(l->element_as_int(0), 0, last));
            limit.push_back(start.back() + sizes[i - 1]);
        }
        return ops::slice(operands[0], start, limit);
    }

    Ranges ranges_;
};

} // namespace

ir::FunctionPtr simplify(const ir::FunctionPtr& f) { return Simplify().run(f); }

} // namespace stithy::pass
