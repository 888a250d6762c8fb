#include "ir/text/build.hpp"
#include "ir/text/dense.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

/// Operations of StableHLO, CHLO and their neighbours that are made of others.
namespace stithy::ir::text {

namespace {
/// Emits elementwise operations on values of one type.
template <class Emit>
struct Formula {
    Emit emit;
    Type type;

    [[nodiscard]] ValueId number(double value) const {
        return emit(OpCode::constant, {}, type, make_attr(ConstantAttr{Literal::splat(type, value)}));
    }
    [[nodiscard]] ValueId operator()(OpCode code, ValueId x) const { return emit(code, {x}, type, nullptr); }
    [[nodiscard]] ValueId operator()(OpCode code, ValueId x, ValueId y) const { return emit(code, {x, y}, type, nullptr); }
    [[nodiscard]] ValueId operator()(OpCode code, ValueId x, double y) const { return (*this)(code, x, number(y)); }
    [[nodiscard]] ValueId where(ValueId x, Direction direction, double y, ValueId yes, ValueId no) const {
        const ValueId test =
            emit(OpCode::compare, {x, number(y)}, Type(boolean, type.shape()), make_attr(CompareAttr{direction, CompareKind::number}));
        return emit(OpCode::select, {test, yes, no}, type, nullptr);
    }
};
template <class Emit>
Formula(Emit, Type) -> Formula<Emit>;

double largest_root(DType dtype) {
    return dtype == f64 ? std::sqrt(std::numeric_limits<double>::max()) : std::sqrt(double{std::numeric_limits<float>::max()});
}
} // namespace

void RegionBuilder::build_composed(const SyntaxOp& op) {
    if (op.name.starts_with("check.")) return build_check(op);
    if (op.name == "stablehlo.composite") return build_call(op, "decomposition");
    if (op.name == "stablehlo.dot") return build_dot(op);
    if (op.name == "sdy.sharding_constraint") { // on one device the value itself
        values_.emplace(op.first_result, value(op.operands.at(0)));
        return;
    }
    if (op.name == "stablehlo.get_dimension_size") {
        const Type& type = function_.value_types[op.operands.at(0)];
        const Attribute* dim = op.find("dimension") != nullptr ? op.find("dimension") : op.find("dim");
        if (dim == nullptr || dim->number < 0 || dim->number >= static_cast<std::int64_t>(type.rank()))
            module_.reader().fail("get_dimension_size: bad dim", op.at);
        const Literal extent = Literal::splat(op.result_types.at(0), type.shape()[static_cast<std::size_t>(dim->number)]);
        return bind(op, emit(op, OpCode::constant, {}, op.result_types[0], make_attr(ConstantAttr{extent})));
    }
    if (op.name.starts_with("chlo.")) return bind(op, build_math(op));
    build_with_shape_operand(op);
}

/// The dynamic forms whose result type is known: the operand that holds the shape says nothing new.
void RegionBuilder::build_with_shape_operand(const SyntaxOp& op) {
    SyntaxOp plain;
    plain.name = "stablehlo." + op.name.substr(std::string_view("stablehlo.dynamic_").size());
    plain.at = op.at;
    plain.attributes = op.attributes;
    plain.result_types = op.result_types;
    plain.first_result = op.first_result;
    if (op.operands.size() != (op.name == "stablehlo.dynamic_iota" ? 1u : 2u))
        module_.reader().fail(op.name + " has a wrong number of operands", op.at);
    if (op.operands.size() == 2) plain.operands = {op.operands[0]};
    build_operation(plain);
}

void RegionBuilder::build_dot(const SyntaxOp& op) {
    if (op.operands.size() != 2) module_.reader().fail("dot takes two operands", op.at);
    const auto rank = function_.value_types[op.operands[0]].rank();
    if (rank == 0) module_.reader().fail("dot of a rank-0 operand", op.at);
    DotAttr dims;
    dims.lhs_contract.push_back(static_cast<std::int64_t>(rank) - 1);
    dims.rhs_contract.push_back(0);
    bind(op, emit(op, OpCode::dot_general, operands(op), op.result_types.at(0), make_attr(dims)));
}

/// check.expect_* as custom calls of the same names; limits go into the configuration: {tolerance = 0.1 : f64}.
void RegionBuilder::build_check(const SyntaxOp& op) {
    std::string target = op.name;
    std::vector<ValueId> ids = operands(op);
    if (target.ends_with("_const")) {
        target.resize(target.size() - std::string_view("_const").size());
        const AttrPtr constant = attribute_of(OpCode::constant, op, module_.reader());
        ids.push_back(emit(op, OpCode::constant, {}, std::get<ConstantAttr>(*constant).value.type(), constant));
    }
    if (ids.size() != 2) module_.reader().fail(op.name + " compares two values", op.at);
    std::string limits;
    if (target == "check.expect_almost_eq") {
        const Attribute* tolerance = op.find("tolerance");
        limits = "{tolerance = " + float_text(f64, std::bit_cast<std::uint64_t>(tolerance == nullptr ? 1e-4 : tolerance->real_number)) +
                 " : f64}";
    } else if (target == "check.expect_close") {
        const Attribute *most = op.find("max_ulp_difference"), *least = op.find("min_ulp_difference");
        limits = "{max_ulp_difference = " + std::to_string(most == nullptr ? 3 : static_cast<std::uint64_t>(most->number)) +
                 " : ui64, min_ulp_difference = " + std::to_string(least == nullptr ? 0 : static_cast<std::uint64_t>(least->number)) +
                 " : ui64}";
    }
    Op made;
    made.code = OpCode::custom_call;
    made.effect = Effect::ordered;
    made.operands = std::move(ids);
    made.attr = make_attr(CustomCallAttr{target, limits, 1});
    (void)emit(op, std::move(made), {});
}

/// CHLO's elementary functions by formulas that keep their accuracy near zero and at the ends.
ValueId RegionBuilder::build_math(const SyntaxOp& op) {
    if (op.operands.size() != 1 || op.result_types.size() != 1) module_.reader().fail(op.name + " takes one operand", op.at);
    const ValueId x = value(op.operands[0]);
    const Type type = builder_.type(x);
    const Formula f{[&](OpCode code, std::vector<ValueId> of, const Type& result, AttrPtr attr) {
                        return emit(op, code, std::move(of), result, std::move(attr));
                    },
                    type};
    if (op.name == "chlo.square") return f(OpCode::multiply, x, x);
    if (op.name == "chlo.tan") return f(OpCode::tan, x);
    if (!type.is_tensor() || !type.dtype().is_floating()) module_.reader().not_supported(op.name + " of " + type.text(), op.at);
    if (op.name == "chlo.atan") return f(OpCode::atan2, x, 1.0);
    if (op.name == "chlo.asin" || op.name == "chlo.acos") {
        const ValueId one = f.number(1), up = f(OpCode::add, one, x),
                      leg = f(OpCode::sqrt, f(OpCode::multiply, f(OpCode::subtract, one, x), up));
        if (op.name == "chlo.asin") return f(OpCode::multiply, f(OpCode::atan2, x, f(OpCode::add, one, leg)), 2.0);
        return f.where(x, Direction::eq, -1, f.number(std::numbers::pi), f(OpCode::multiply, f(OpCode::atan2, leg, up), 2.0));
    }
    if (op.name == "chlo.sinh" || op.name == "chlo.cosh") {
        const double half = -std::numbers::ln2; // exp(x - log 2) overflows later than exp(x) / 2
        const ValueId rising = f(OpCode::exponential, f(OpCode::add, x, half)),
                      falling = f(OpCode::exponential, f(OpCode::subtract, f.number(half), x));
        if (op.name == "chlo.cosh") return f(OpCode::add, rising, falling);
        const ValueId e = f(OpCode::exponential_minus_one, x), ratio = f(OpCode::divide, e, f(OpCode::add, e, 1.0));
        const ValueId small = f(OpCode::multiply, f(OpCode::add, e, ratio), 0.5);
        return f.where(f(OpCode::abs, x), Direction::lt, 1, small, f(OpCode::subtract, rising, falling));
    }
    if (op.name == "chlo.atanh")
        return f(OpCode::multiply, f(OpCode::subtract, f(OpCode::log_plus_one, x), f(OpCode::log_plus_one, f(OpCode::negate, x))), 0.5);
    return build_inverse_hyperbolic(op, x);
}

ValueId RegionBuilder::build_inverse_hyperbolic(const SyntaxOp& op, ValueId x) {
    const Type type = builder_.type(x);
    const Formula f{[&](OpCode code, std::vector<ValueId> of, const Type& result, AttrPtr attr) {
                        return emit(op, code, std::move(of), result, std::move(attr));
                    },
                    type};
    const double large = largest_root(type.dtype()) / 2;
    if (op.name == "chlo.acosh") {
        const ValueId over = f(OpCode::subtract, x, 1.0);
        const ValueId root = f(OpCode::sqrt, f(OpCode::multiply, over, f(OpCode::add, over, 2.0)));
        const ValueId usual = f(OpCode::log_plus_one, f(OpCode::add, over, root));
        const ValueId far = f(OpCode::add, f(OpCode::log, x), std::numbers::ln2);
        const ValueId inside = f.where(x, Direction::ge, large, far, usual);
        return f.where(x, Direction::lt, 1, f.number(std::numeric_limits<double>::quiet_NaN()), inside);
    }
    const ValueId a = f(OpCode::abs, x), square = f(OpCode::multiply, a, a);
    const ValueId root = f(OpCode::sqrt, f(OpCode::add, square, 1.0));
    const ValueId usual = f(OpCode::log_plus_one, f(OpCode::add, a, f(OpCode::divide, square, f(OpCode::add, root, 1.0))));
    const ValueId far = f(OpCode::add, f(OpCode::log, a), std::numbers::ln2);
    return f(OpCode::multiply, f(OpCode::sign, x), f.where(a, Direction::ge, large, far, usual));
}

} // namespace stithy::ir::text
