// The elementwise functions of one operand and what is made of them.
#include "array/elementwise.hpp"
#include "array/numbers.hpp"
#include "stithy/elementwise.hpp"

#include <cmath>
#include <limits>

namespace stithy {

using detail::unary;
using ir::OpCode;

namespace {
constexpr double ln2 = 0.693147180559945309417, ln10 = 2.302585092994045684018;

/// The operand as an array of a floating dtype.
Array real(const Operand& x, const char* name) {
    const DType d = x.is_number() ? x.number_dtype() : detail::node_of(x.array(), name, x.location()).dtype();
    return detail::to_array(x, d.is_floating() ? d : f64, name);
}

bool is_floating(const Operand& x, const char* name) {
    return (x.is_number() ? x.number_dtype() : detail::node_of(x.array(), name, x.location()).dtype()).is_floating();
}

/// A function that leaves integers alone.
Array rounding(const char* name, OpCode code, const Operand& x) {
    return is_floating(x, name) ? unary(name, code, x, false) : detail::to_array(x);
}
} // namespace

Array exp(const Operand& x) { return unary("exp", OpCode::exponential, x, true); }
Array expm1(const Operand& x) { return unary("expm1", OpCode::exponential_minus_one, x, true); }
Array log(const Operand& x) { return unary("log", OpCode::log, x, true); }
Array log1p(const Operand& x) { return unary("log1p", OpCode::log_plus_one, x, true); }
Array sqrt(const Operand& x) { return unary("sqrt", OpCode::sqrt, x, true); }
Array rsqrt(const Operand& x) { return unary("rsqrt", OpCode::rsqrt, x, true); }
Array cbrt(const Operand& x) { return unary("cbrt", OpCode::cbrt, x, true); }
Array sin(const Operand& x) { return unary("sin", OpCode::sine, x, true); }
Array cos(const Operand& x) { return unary("cos", OpCode::cosine, x, true); }
Array tan(const Operand& x) { return unary("tan", OpCode::tan, x, true); }
Array tanh(const Operand& x) { return unary("tanh", OpCode::tanh, x, true); }
Array sigmoid(const Operand& x) { return unary("sigmoid", OpCode::logistic, x, true); }
Array logistic(const Operand& x) { return unary("logistic", OpCode::logistic, x, true); }

Array exp2(const Operand& x) {
    const Array r = real(x, "exp2");
    return pow({detail::constant(ir::Literal::splat(ir::Type(r.dtype(), r.shape()), 2.0), x.location()), x.location()}, {r, x.location()});
}
Array log2(const Operand& x) { return Operand(log(x), x.location()) / Operand(ln2, x.location()); }
Array log10(const Operand& x) { return Operand(log(x), x.location()) / Operand(ln10, x.location()); }

Array atan(const Operand& x) {
    const Array r = real(x, "atan");
    return atan2({r, x.location()}, {1.0, x.location()});
}

Array asin(const Operand& x) {
    const Location& at = x.location();
    const Array r = real(x, "asin");
    // (1 - x)(1 + x) keeps its digits near 1, where 1 - x * x loses them.
    const Array rest = sqrt({Operand(Operand(1.0, at) - Operand(r, at), at) * Operand(Operand(1.0, at) + Operand(r, at), at), at});
    return atan2({r, at}, {rest, at});
}

Array acos(const Operand& x) {
    const Location& at = x.location();
    const Array r = real(x, "acos");
    const Array rest = sqrt({Operand(Operand(1.0, at) - Operand(r, at), at) * Operand(Operand(1.0, at) + Operand(r, at), at), at});
    return atan2({rest, at}, {r, at});
}

namespace {
/// |x| with slope 1 at 0, for functions whose derivative there is not that of |x|; split at a size from which e^-x does not count.
struct Split {
    Array negative, large, small_part, half; ///< x < 0; |x| > 22; |x| or 0; e^(|x|/2) of large ones
};

Split split_exponent(const Array& r, const Location& at) {
    Split s;
    s.negative = Operand(r, at) < Operand(0, at);
    const Array size = where({s.negative, at}, {-Operand(r, at), at}, {r, at});
    s.large = Operand(size, at) > Operand(22, at);
    s.small_part = where({s.large, at}, {0.0, at}, {size, at});
    s.half = exp({Operand(where({s.large, at}, {size, at}, {0.0, at}), at) * Operand(0.5, at), at});
    return s;
}

/// e^|x| / 2 as (h / 2) h, which overflows only where the result does.
Array large_part(const Split& s, const Location& at) { return Operand(Operand(s.half, at) * Operand(0.5, at), at) * Operand(s.half, at); }
} // namespace

Array sinh(const Operand& x) {
    const Location& at = x.location();
    const Split s = split_exponent(real(x, "sinh"), at);
    // With e = expm1(|x|): sinh = (e + e / (e + 1)) / 2 keeps its digits near 0.
    const Array e = expm1({s.small_part, at});
    const Array twice = Operand(e, at) + Operand(Operand(e, at) / Operand(Operand(e, at) + Operand(1.0, at), at), at);
    const Array size = where({s.large, at}, {large_part(s, at), at}, {Operand(twice, at) * Operand(0.5, at), at});
    return where({s.negative, at}, {-Operand(size, at), at}, {size, at});
}

Array cosh(const Operand& x) {
    const Location& at = x.location();
    const Split s = split_exponent(real(x, "cosh"), at);
    // With e = expm1(|x|): cosh = 1 + e^2 / (2 (e + 1)), whose slope keeps its digits near 0.
    const Array e = expm1({s.small_part, at});
    const Array above =
        Operand(Operand(e, at) * Operand(e, at), at) / Operand(Operand(Operand(e, at) + Operand(1.0, at), at) * Operand(2.0, at), at);
    return where({s.large, at}, {large_part(s, at), at}, {Operand(above, at) + Operand(1.0, at), at});
}

Array relu(const Operand& x) {
    const Location& at = x.location();
    const Array r = detail::to_array(x);
    return where({Operand(r, at) <= Operand(0, at), at}, {0, at}, {r, at}); // the slope at 0 is 0; NaN stays
}

Array softplus(const Operand& x) {
    const Array r = real(x, "softplus");
    return logaddexp({r, x.location()}, {0.0, x.location()});
}

Array silu(const Operand& x) {
    const Array r = real(x, "silu");
    return Operand(r, x.location()) * Operand(sigmoid({r, x.location()}), x.location());
}

Array abs(const Operand& x) {
    const DType d = x.is_number() ? x.number_dtype() : detail::node_of(x.array(), "abs", x.location()).dtype();
    return d.is_unsigned() || d.is_bool() ? detail::to_array(x) : unary("abs", OpCode::abs, x, false);
}
Array negative(const Operand& x) { return -x; }
Array sign(const Operand& x) { return unary("sign", OpCode::sign, x, false); }

Array square(const Operand& x) {
    const Array a = detail::to_array(x);
    return Operand(a, x.location()) * Operand(a, x.location());
}

Array reciprocal(const Operand& x) { return Operand(1.0, x.location()) / x; }
Array floor(const Operand& x) { return rounding("floor", OpCode::floor, x); }
Array ceil(const Operand& x) { return rounding("ceil", OpCode::ceil, x); }
Array round(const Operand& x) { return rounding("round", OpCode::round_nearest_even, x); }

Array trunc(const Operand& x) {
    if (!is_floating(x, "trunc")) return detail::to_array(x);
    const Location& at = x.location();
    const Array a = detail::to_array(x);
    return where({Operand(a, at) < Operand(0, at), at}, {ceil({a, at}), at}, {floor({a, at}), at});
}

namespace {
/// Whether integers are something: the same answer everywhere.
Array everywhere(const Operand& x, bool answer) {
    const Array a = detail::to_array(x);
    return detail::constant(ir::Literal::splat(ir::Type(boolean, a.shape()), answer ? 1 : 0), x.location());
}
} // namespace

Array isfinite(const Operand& x) {
    return is_floating(x, "isfinite") ? unary("isfinite", OpCode::is_finite, x, false) : everywhere(x, true);
}

Array isinf(const Operand& x) {
    if (!is_floating(x, "isinf")) return everywhere(x, false);
    return Operand(abs(x), x.location()) == Operand(std::numeric_limits<double>::infinity(), x.location());
}

Array isnan(const Operand& x) {
    if (!is_floating(x, "isnan")) return everywhere(x, false);
    const Array a = detail::to_array(x);
    return Operand(a, x.location()) != Operand(a, x.location());
}

Array logical_not(const Operand& x) {
    const DType d = x.is_number() ? x.number_dtype() : detail::node_of(x.array(), "logical_not", x.location()).dtype();
    return d.is_bool() ? unary("logical_not", OpCode::not_, x, false) : x == Operand(0, x.location());
}

Array stop_gradient(const Operand& x) {
    Array a = detail::to_array(x);
    // What recording traces derive is the value above; the one below is constant to them.
    while (detail::node(a).traced() && !detail::node(a).trace()->is_staging()) a = Array(detail::node(a).below());
    if (!detail::node(a).traced() || !a.dtype().is_floating()) return a;
    // A staged value may be differentiated later: integers have no derivative, and reading the bits as such costs nothing.
    const DType bits = a.dtype() == f32 ? i32 : i64;
    return bitcast({bitcast({a, x.location()}, bits), x.location()}, a.dtype());
}

Array bitwise_not(const Operand& x) { return ~x; }

Array bitcast(const Operand& x, DType dtype) {
    const Array a = detail::to_array(x);
    if (a.dtype().size() != dtype.size())
        fail("bitcast", "the sizes differ: " + detail::node(a).type().str() + " as " + std::string(dtype.name()), x.location());
    if (a.dtype() == dtype) return a;
    return detail::bind_as({dtype, a.shape()}, OpCode::bitcast_convert, {a}, nullptr, x.location());
}

} // namespace stithy
