#include "ops/build.hpp"

#include <array>
#include <limits>
#include <mutex>

namespace stithy::ops {

namespace {
std::uint64_t lowest_bits(DType dtype) {
    if (dtype.is_floating()) return ir::bits_of(dtype, -std::numeric_limits<double>::infinity());
    if (dtype.is_signed()) return ir::bits_of(dtype, std::numeric_limits<std::int64_t>::min() >> (64 - dtype.bits()));
    return 0; // unsigned, bool
}
std::uint64_t highest_bits(DType dtype) {
    if (dtype.is_floating()) return ir::bits_of(dtype, std::numeric_limits<double>::infinity());
    if (dtype.is_bool()) return 1;
    return std::numeric_limits<std::uint64_t>::max() >> (64 - dtype.bits() + (dtype.is_signed() ? 1 : 0));
}

/// A table of regions by operation and dtype, filled as they are asked for.
class RegionCache {
public:
    template <class Make>
    FunctionPtr get(std::size_t row, DType dtype, Make make) {
        FunctionPtr& place = table_[row][dtype.code()];
        std::lock_guard lock(mutex_);
        if (!place) place = make();
        return place;
    }

private:
    std::mutex mutex_;
    std::array<std::array<FunctionPtr, dtype_count>, ir::opcode_count + 1> table_;
};

/// Regions by operation and dtype, and in the last row those of `second`. Never destroyed, since code that runs at exit may ask.
RegionCache& region_cache() {
    static auto* cache = new RegionCache;
    return *cache;
}

bool commutes(OpCode code) {
    switch (code) {
    case OpCode::add:
    case OpCode::multiply:
    case OpCode::minimum:
    case OpCode::maximum:
    case OpCode::and_:
    case OpCode::or_:
    case OpCode::xor_: return true;
    default: return false;
    }
}
} // namespace

Value reduce(OpCode combine, Value x, const Dims& axes) {
    if (axes.empty()) return x;
    const DType dtype = x.dtype();
    Value init = constant(x.builder(), identity_literal(combine, dtype));
    return emit1(x.builder(), OpCode::reduce, {x, init}, ir::make_attr(ir::DimsAttr{axes}), {combiner_region(combine, dtype)});
}

Value reduce_sum(Value x, const Dims& axes) { return reduce(OpCode::add, x, axes); }

Value dot_general(Value a, Value b, ir::DotAttr dims) {
    return emit1(a.builder(), OpCode::dot_general, {a, b}, ir::make_attr(std::move(dims)));
}

ir::Literal identity_literal(OpCode combine, DType dtype) {
    const Type type(dtype, Shape());
    switch (combine) {
    case OpCode::add:
    case OpCode::or_:
    case OpCode::xor_: return ir::Literal::splat_bits(type, 0);
    case OpCode::multiply: return ir::Literal::splat(type, 1);
    case OpCode::and_: return ir::Literal::splat(type, dtype.is_unsigned() ? static_cast<std::int64_t>(highest_bits(dtype)) : -1);
    case OpCode::maximum: return ir::Literal::splat_bits(type, lowest_bits(dtype));
    case OpCode::minimum: return ir::Literal::splat_bits(type, highest_bits(dtype));
    default: internal_error("identity of an operation that has none");
    }
}

FunctionPtr combiner_region(OpCode combine, DType dtype) {
    return region_cache().get(static_cast<std::size_t>(combine), dtype, [&] {
        const LocationScope no_line{Location()};
        Builder builder{std::string(ir::name(combine))};
        const Type type(dtype, Shape());
        const ValueId a = builder.parameter(type), b = builder.parameter(type);
        const Value result = binary(combine, Value(builder, a), Value(builder, b));
        return builder.finish({result.id()});
    });
}

std::optional<OpCode> combiner_of(const ir::Function& region) {
    if (region.parameter_count() != 2 || region.ops().size() != 1 || region.results().size() != 1) return std::nullopt;
    const Op& op = region.ops()[0];
    if (!ir::is_binary_elementwise(op.code) || region.results()[0] != op.first_result) return std::nullopt;
    const ValueId a = op.operands[0], b = op.operands[1];
    if (a == 0 && b == 1) return op.code;
    if (a == 1 && b == 0 && commutes(op.code)) return op.code;
    return std::nullopt;
}

FunctionPtr second_region(DType dtype) {
    return region_cache().get(ir::opcode_count, dtype, [&] {
        Builder builder{"second"};
        const Type type(dtype, Shape());
        builder.parameter(type);
        const ValueId update = builder.parameter(type);
        return builder.finish({update});
    });
}

} // namespace stithy::ops
