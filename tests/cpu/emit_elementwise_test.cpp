#include "emit_support.hpp"

#include "reference/scalar.hpp"

#include <bit>
#include <cmath>
#include <limits>

using namespace stithy;
using ir::OpCode;
using plan::LoopKind;
using plan::NestBuilder;

namespace {

const std::vector<DType> all_dtypes = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64};

std::uint64_t bits_of(DType t, double x) { return reference::from_double(t, x); }

/// Values that are hard for something.
std::vector<std::uint64_t> hard_values(DType t) {
    std::vector<std::uint64_t> values;
    if (t.is_bool()) return {0, 1};
    if (!t.is_floating()) {
        for (std::int64_t v : {0, 1, -1, 2, -2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, -100, 127, -128})
            values.push_back(reference::from_int(t, v));
        const std::uint64_t top = std::uint64_t{1} << (t.bits() - 1);
        for (std::uint64_t v : {top, top - 1, top + 1, top / 3, top + top / 5})
            values.push_back(reference::from_int(t, static_cast<std::int64_t>(v)));
        return values;
    }
    const double infinity = std::numeric_limits<double>::infinity();
    for (double v : {0.0,
                     0.25,
                     0.5,
                     0.75,
                     1.0,
                     1.5,
                     2.5,
                     3.0,
                     7.9,
                     100.0,
                     127.5,
                     255.5,
                     32767.6,
                     2147483647.0,
                     2147483648.0,
                     4294967295.5,
                     9.3e18,
                     1.9e19,
                     1e-5,
                     0.49999999999999994,
                     4503599627370497.5,
                     8388609.0,
                     infinity}) {
        values.push_back(bits_of(t, v));
        values.push_back(bits_of(t, -v));
    }
    values.push_back(bits_of(t, std::numeric_limits<double>::quiet_NaN()));
    const double least =
        t == f64 ? std::numeric_limits<double>::denorm_min() : static_cast<double>(std::numeric_limits<float>::denorm_min());
    for (double v :
         {least, 3 * least, t == f64 ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min())}) {
        values.push_back(bits_of(t, v));
        values.push_back(bits_of(t, -v));
    }
    return values;
}

struct Column {
    std::vector<unsigned char> bytes;
    DType dtype;
    Column(DType t, std::size_t count) : bytes(count * t.size() + 64, 0xee), dtype(t) {}
    void set(std::size_t i, std::uint64_t bits) { std::memcpy(bytes.data() + i * dtype.size(), &bits, dtype.size()); }
    [[nodiscard]] std::uint64_t get(std::size_t i) const {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + i * dtype.size(), dtype.size());
        return bits;
    }
};

bool is_nan(DType t, std::uint64_t bits) { return t.is_floating() && std::isnan(reference::to_double(t, bits)); }

/// Steps between neighbouring floats.
double steps_apart(DType t, std::uint64_t a, std::uint64_t b) {
    const auto key = [t](std::uint64_t bits) {
        const auto s = static_cast<std::int64_t>(bits << (64 - t.bits())) >> (64 - t.bits());
        const std::int64_t low = t == f64 ? std::numeric_limits<std::int64_t>::min() : std::int64_t{-1} << 31;
        return static_cast<double>(s < 0 ? low - s : s);
    };
    return std::fabs(key(a) - key(b));
}

void expect_equal(DType t, std::uint64_t got, std::uint64_t want, double tolerance, const std::string& what) {
    if (is_nan(t, got) && is_nan(t, want)) return;
    if (got == want) return;
    if (tolerance > 0 && t.is_floating() && !is_nan(t, got) && !is_nan(t, want) && steps_apart(t, got, want) <= tolerance) return;
    ADD_FAILURE() << what << " gives " << std::hex << got << ", expected " << want;
}

bool has_tolerance(OpCode op) {
    switch (op) {
    case OpCode::exponential:
    case OpCode::exponential_minus_one:
    case OpCode::log:
    case OpCode::log_plus_one:
    case OpCode::logistic:
    case OpCode::cbrt:
    case OpCode::sine:
    case OpCode::cosine:
    case OpCode::tan:
    case OpCode::tanh:
    case OpCode::rsqrt:
    case OpCode::atan2:
    case OpCode::power: return true;
    default: return false;
    }
}

std::vector<OpCode> operations(DType t, bool binary) {
    const std::vector<OpCode> unary_int = {OpCode::abs,  OpCode::negate, OpCode::sign,
                                           OpCode::not_, OpCode::popcnt, OpCode::count_leading_zeros};
    const std::vector<OpCode> unary_float = {OpCode::abs,
                                             OpCode::negate,
                                             OpCode::sign,
                                             OpCode::ceil,
                                             OpCode::floor,
                                             OpCode::round_nearest_afz,
                                             OpCode::round_nearest_even,
                                             OpCode::sqrt,
                                             OpCode::rsqrt,
                                             OpCode::is_finite,
                                             OpCode::exponential,
                                             OpCode::exponential_minus_one,
                                             OpCode::log,
                                             OpCode::log_plus_one,
                                             OpCode::logistic,
                                             OpCode::cbrt,
                                             OpCode::sine,
                                             OpCode::cosine,
                                             OpCode::tan,
                                             OpCode::tanh};
    const std::vector<OpCode> binary_bool = {OpCode::add,  OpCode::multiply, OpCode::and_,   OpCode::or_,
                                             OpCode::xor_, OpCode::maximum,  OpCode::minimum};
    const std::vector<OpCode> binary_int = {OpCode::add,
                                            OpCode::subtract,
                                            OpCode::multiply,
                                            OpCode::divide,
                                            OpCode::remainder,
                                            OpCode::power,
                                            OpCode::maximum,
                                            OpCode::minimum,
                                            OpCode::and_,
                                            OpCode::or_,
                                            OpCode::xor_,
                                            OpCode::shift_left,
                                            OpCode::shift_right_arithmetic,
                                            OpCode::shift_right_logical};
    const std::vector<OpCode> binary_float = {OpCode::add,   OpCode::subtract, OpCode::multiply, OpCode::divide, OpCode::remainder,
                                              OpCode::power, OpCode::maximum,  OpCode::minimum,  OpCode::atan2};
    if (t.is_bool()) return binary ? binary_bool : std::vector<OpCode>{OpCode::not_};
    if (t.is_floating()) return binary ? binary_float : unary_float;
    return binary ? binary_int : unary_int;
}

/// All dtypes for the best level; the lower levels share most of the code.
std::vector<DType> dtypes_for(const cpu::TargetOptions& level, bool vectors) {
    if (level.vector_bytes == test::levels().back().vector_bytes) return all_dtypes;
    return vectors ? std::vector<DType>{boolean, i8, u32, i64, f32, f64} : std::vector<DType>{f32, f64};
}

class Elementwise : public testing::TestWithParam<bool> {
protected:
    [[nodiscard]] LoopKind kind() const { return GetParam() ? LoopKind::vector : LoopKind::serial; }
};

TEST_P(Elementwise, OneOperand) {
    for (const auto& level : test::levels()) {
        for (DType t : dtypes_for(level, GetParam())) {
            const auto ops = operations(t, false);
            NestBuilder b;
            const auto i = b.loop(kind(), b.range_begin(), b.range_end());
            const auto x = b.load(t, b.buffer(0), i);
            for (std::size_t k = 0; k < ops.size(); ++k) {
                const DType r = ops[k] == OpCode::is_finite ? boolean : t;
                b.store(r, b.buffer(k + 1), i, b.apply(ops[k], r, x));
            }
            b.end();
            const test::Kernel kernel(b.finish(), level);
            const auto values = hard_values(t);
            Column input(t, values.size());
            for (std::size_t n = 0; n < values.size(); ++n) input.set(n, values[n]);
            std::vector<Column> outputs(ops.size(), Column(t, values.size()));
            std::vector<void*> buffers = {input.bytes.data()};
            for (std::size_t k = 0; k < ops.size(); ++k) {
                if (ops[k] == OpCode::is_finite) outputs[k].dtype = boolean;
                buffers.push_back(outputs[k].bytes.data());
            }
            ASSERT_EQ(kernel(buffers, {}, static_cast<std::int64_t>(values.size())), 0);
            for (std::size_t k = 0; k < ops.size(); ++k) {
                for (std::size_t n = 0; n < values.size(); ++n) {
                    const std::string what = std::string(ir::name(ops[k])) + " " + std::string(t.name()) + " " + level.cpu + " of " +
                                             std::to_string(reference::to_double(t, values[n]));
                    expect_equal(outputs[k].dtype, outputs[k].get(n), reference::unary(ops[k], t, values[n]), has_tolerance(ops[k]) ? 4 : 0,
                                 what);
                }
            }
        }
    }
}

TEST_P(Elementwise, TwoOperands) {
    for (const auto& level : test::levels()) {
        for (DType t : dtypes_for(level, GetParam())) {
            const auto ops = operations(t, true);
            NestBuilder b;
            const auto i = b.loop(kind(), b.range_begin(), b.range_end());
            const auto x = b.load(t, b.buffer(0), i), y = b.load(t, b.buffer(1), i);
            for (std::size_t k = 0; k < ops.size(); ++k) b.store(t, b.buffer(k + 2), i, b.apply(ops[k], t, x, y));
            b.end();
            const test::Kernel kernel(b.finish(), level);
            const auto values = hard_values(t);
            const std::size_t count = values.size() * values.size();
            Column left(t, count), right(t, count);
            for (std::size_t n = 0; n < count; ++n) {
                left.set(n, values[n / values.size()]);
                right.set(n, values[n % values.size()]);
            }
            std::vector<Column> outputs(ops.size(), Column(t, count));
            std::vector<void*> buffers = {left.bytes.data(), right.bytes.data()};
            for (auto& o : outputs) buffers.push_back(o.bytes.data());
            ASSERT_EQ(kernel(buffers, {}, static_cast<std::int64_t>(count)), 0);
            for (std::size_t k = 0; k < ops.size(); ++k) {
                for (std::size_t n = 0; n < count; ++n) {
                    const std::string what = std::string(ir::name(ops[k])) + " " + std::string(t.name()) + " " + level.cpu + " of " +
                                             std::to_string(reference::to_double(t, left.get(n))) + " and " +
                                             std::to_string(reference::to_double(t, right.get(n)));
                    expect_equal(t, outputs[k].get(n), reference::binary(ops[k], t, left.get(n), right.get(n)),
                                 has_tolerance(ops[k]) ? 4 : 0, what);
                }
            }
        }
    }
}

TEST_P(Elementwise, Compare) {
    for (const auto& level : test::levels()) {
        for (DType t : dtypes_for(level, GetParam())) {
            NestBuilder b;
            const auto i = b.loop(kind(), b.range_begin(), b.range_end());
            const auto x = b.load(t, b.buffer(0), i), y = b.load(t, b.buffer(1), i);
            for (unsigned k = 0; k < 12; ++k) {
                b.store(boolean, b.buffer(k + 2), i,
                        b.compare(static_cast<ir::Direction>(k % 6), x, y, k < 6 ? ir::CompareKind::number : ir::CompareKind::total_order));
            }
            b.end();
            const test::Kernel kernel(b.finish(), level);
            const auto values = hard_values(t);
            const std::size_t count = values.size() * values.size();
            Column left(t, count), right(t, count);
            for (std::size_t n = 0; n < count; ++n) {
                left.set(n, values[n / values.size()]);
                right.set(n, values[n % values.size()]);
            }
            std::vector<Column> outputs(12, Column(boolean, count));
            std::vector<void*> buffers = {left.bytes.data(), right.bytes.data()};
            for (auto& o : outputs) buffers.push_back(o.bytes.data());
            ASSERT_EQ(kernel(buffers, {}, static_cast<std::int64_t>(count)), 0);
            for (unsigned k = 0; k < 12; ++k) {
                const ir::CompareAttr attr{static_cast<ir::Direction>(k % 6),
                                           k < 6 ? ir::CompareKind::number : ir::CompareKind::total_order};
                for (std::size_t n = 0; n < count; ++n) {
                    ASSERT_EQ(outputs[k].get(n), reference::compare(attr, t, left.get(n), right.get(n)) ? 1u : 0u)
                        << "compare " << k << " " << t.name() << " " << level.cpu << " of " << std::hex << left.get(n) << " and "
                        << right.get(n);
                }
            }
        }
    }
}

TEST_P(Elementwise, Convert) {
    for (const auto& level : test::levels()) {
        for (DType from : dtypes_for(level, GetParam())) {
            NestBuilder b;
            const auto i = b.loop(kind(), b.range_begin(), b.range_end());
            const auto x = b.load(from, b.buffer(0), i);
            for (std::size_t k = 0; k < all_dtypes.size(); ++k)
                b.store(all_dtypes[k], b.buffer(k + 1), i, b.apply(OpCode::convert, all_dtypes[k], x));
            b.end();
            const test::Kernel kernel(b.finish(), level);
            const auto values = hard_values(from);
            Column input(from, values.size());
            for (std::size_t n = 0; n < values.size(); ++n) input.set(n, values[n]);
            std::vector<Column> outputs;
            for (DType to : all_dtypes) outputs.emplace_back(to, values.size());
            std::vector<void*> buffers = {input.bytes.data()};
            for (auto& o : outputs) buffers.push_back(o.bytes.data());
            ASSERT_EQ(kernel(buffers, {}, static_cast<std::int64_t>(values.size())), 0);
            for (std::size_t k = 0; k < all_dtypes.size(); ++k) {
                for (std::size_t n = 0; n < values.size(); ++n) {
                    const std::string what = "convert " + std::string(from.name()) + " to " + std::string(all_dtypes[k].name()) + " " +
                                             level.cpu + " of " + std::to_string(reference::to_double(from, values[n]));
                    expect_equal(all_dtypes[k], outputs[k].get(n), reference::convert(from, all_dtypes[k], values[n]), 0, what);
                }
            }
        }
    }
}

TEST_P(Elementwise, SelectClampBitcast) {
    for (const auto& level : test::levels()) {
        for (DType t : dtypes_for(level, GetParam())) {
            const DType twin = t == f32 ? i32 : t == f64 ? u64 : t == i32 ? f32 : t == i64 ? f64 : t == u8 ? i8 : t;
            NestBuilder b;
            const auto i = b.loop(kind(), b.range_begin(), b.range_end());
            const auto x = b.load(t, b.buffer(0), i), low = b.literal(t, 0), high = b.literal(t, 1);
            b.store(t, b.buffer(1), i, b.apply(OpCode::clamp, t, low, x, high));
            b.store(t, b.buffer(2), i, b.apply(OpCode::select, t, b.compare(ir::Direction::lt, x, high), x, low));
            b.store(twin, b.buffer(3), i, b.apply(OpCode::bitcast_convert, twin, x));
            b.end();
            const test::Kernel kernel(b.finish(), level);
            const auto values = hard_values(t);
            const std::uint64_t bounds[] = {t.is_floating() ? bits_of(t, -1.5)
                                            : t.is_bool()   ? 0u
                                                            : 2u,
                                            t.is_floating() ? bits_of(t, 100)
                                            : t.is_bool()   ? 1u
                                                            : 31u};
            Column input(t, values.size()), clamped(t, values.size()), selected(t, values.size()), cast(twin, values.size());
            for (std::size_t n = 0; n < values.size(); ++n) input.set(n, values[n]);
            ASSERT_EQ(kernel({input.bytes.data(), clamped.bytes.data(), selected.bytes.data(), cast.bytes.data()},
                             {static_cast<std::int64_t>(bounds[0]), static_cast<std::int64_t>(bounds[1])},
                             static_cast<std::int64_t>(values.size())),
                      0);
            for (std::size_t n = 0; n < values.size(); ++n) {
                const std::uint64_t larger = reference::binary(OpCode::maximum, t, values[n], bounds[0]);
                const bool less = reference::compare({ir::Direction::lt}, t, values[n], bounds[1]);
                expect_equal(t, clamped.get(n), reference::binary(OpCode::minimum, t, larger, bounds[1]), 0,
                             "clamp " + std::string(t.name()));
                expect_equal(t, selected.get(n), less ? values[n] : bounds[0], 0, "select " + std::string(t.name()));
                expect_equal(u64, cast.get(n), values[n], 0, "bitcast " + std::string(t.name()));
            }
        }
    }
}

/// Many values by one: not computed by divisions, but with their results.
TEST(QuotientsByOneNumber, AreThoseOfDivision) {
    NestBuilder b;
    const auto i = b.loop(LoopKind::vector, b.range_begin(), b.range_end());
    b.store(f32, b.buffer(1), i, b.apply(OpCode::divide, f32, b.load(f32, b.buffer(0), i), b.literal(f32, 0)));
    b.end();
    const plan::Nest nest = b.finish();
    std::vector<float> x;
    for (const std::uint64_t bits : hard_values(f32)) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    std::vector<float> divisors = x;
    std::uint32_t state = 1;
    for (int n = 0; n < 4000; ++n) x.push_back(std::bit_cast<float>(state = state * 1664525U + 1013904223U));
    for (int n = 0; n < 200; ++n) divisors.push_back(std::bit_cast<float>(state = state * 1664525U + 1013904223U));
    for (const auto& level : test::levels()) {
        const test::Kernel kernel(nest, level);
        std::vector<float> y(x.size());
        for (const float divisor : divisors) {
            ASSERT_EQ(kernel({x.data(), y.data()}, {test::literal_bits(divisor)}, static_cast<std::int64_t>(x.size())), 0);
            for (std::size_t n = 0; n < x.size(); ++n) {
                const float expected = x[n] / divisor;
                const float slack =
                    std::fabs(expected) < std::numeric_limits<float>::min() ? std::numeric_limits<float>::denorm_min() : 0.0F;
                const bool same = std::isnan(expected) ? std::isnan(y[n])
                                                       : std::signbit(expected) == std::signbit(y[n]) &&
                                                             (expected == y[n] || std::fabs(expected - y[n]) <= slack);
                ASSERT_TRUE(same) << x[n] << " / " << divisor << " gives " << y[n] << " not " << expected;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Elementwise, testing::Values(false, true),
                         [](const auto& p) { return std::string(p.param ? "Vector" : "Scalar"); });

} // namespace
