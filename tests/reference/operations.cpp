#include "reference/operations.hpp"

#include "reference/scalar.hpp"

#include <algorithm>
#include <limits>

namespace stithy::reference {

using ir::OpCode;
using ir::Type;

namespace {
Value bitcast(const Type& result, const Value& x) {
    const auto from = static_cast<std::int64_t>(x.dtype().size()), to = static_cast<std::int64_t>(result.dtype().size());
    std::vector<std::byte> bytes(static_cast<std::size_t>(x.elements() * from));
    for (std::int64_t i = 0; i < x.elements(); ++i)
        std::memcpy(bytes.data() + i * from, &(*x.bits)[static_cast<std::size_t>(i)], static_cast<std::size_t>(from));
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(result.elements()));
    for (std::size_t i = 0; i < bits.size(); ++i)
        std::memcpy(&bits[i], bytes.data() + i * static_cast<std::size_t>(to), static_cast<std::size_t>(to));
    return tensor(result, std::move(bits));
}

Value broadcast_in_dim(const Dims& dims, const Type& result, const Value& x) {
    return generate(result, [&](const Dims& index) {
        Dims from(dims.size(), 0);
        for (std::size_t i = 0; i < dims.size(); ++i) from[i] = x.shape()[i] == 1 ? 0 : index[static_cast<std::size_t>(dims[i])];
        return x[ravel(from, x.shape())];
    });
}

Value transpose(const Dims& permutation, const Type& result, const Value& x) {
    return generate(result, [&](const Dims& index) {
        Dims from(permutation.size(), 0);
        for (std::size_t i = 0; i < permutation.size(); ++i) from[static_cast<std::size_t>(permutation[i])] = index[i];
        return x[ravel(from, x.shape())];
    });
}

Value slice(const ir::SliceAttr& attr, const Type& result, const Value& x) {
    return generate(result, [&](Dims index) {
        for (std::size_t i = 0; i < index.size(); ++i) index[i] = attr.start[i] + index[i] * (attr.stride.empty() ? 1 : attr.stride[i]);
        return x[ravel(index, x.shape())];
    });
}

Value dynamic_slice(const Dims& sizes, const Type& result, const Values& operands) {
    const Value& x = operands[0];
    const Dims starts = clamped_starts(x.shape(), sizes, std::span(operands).subspan(1));
    return generate(result, [&](Dims index) {
        for (std::size_t i = 0; i < index.size(); ++i) index[i] += starts[i];
        return x[ravel(index, x.shape())];
    });
}

Value dynamic_update_slice(const Type& result, const Values& operands) {
    const Value &x = operands[0], &update = operands[1];
    const Dims starts = clamped_starts(x.shape(), update.shape().dims(), std::span(operands).subspan(2));
    return generate(result, [&](const Dims& index) {
        Dims inner = index;
        for (std::size_t i = 0; i < index.size(); ++i) inner[i] -= starts[i];
        return in_bounds(inner, update.shape()) ? update[ravel(inner, update.shape())] : x[ravel(index, x.shape())];
    });
}

Value concatenate(std::size_t dim, const Type& result, const Values& operands) {
    return generate(result, [&](Dims index) {
        std::size_t part = 0;
        for (; index[dim] >= operands[part].shape()[dim]; ++part) index[dim] -= operands[part].shape()[dim];
        return operands[part][ravel(index, operands[part].shape())];
    });
}

Value pad(const ir::PadAttr& attr, const Type& result, const Value& x, const Value& value) {
    return generate(result, [&](Dims index) {
        for (std::size_t i = 0; i < index.size(); ++i) {
            const std::int64_t step = attr.interior.empty() ? 1 : attr.interior[i] + 1, at = index[i] - attr.low[i];
            if (at < 0 || at % step != 0) return value[0];
            index[i] = at / step;
        }
        return in_bounds(index, x.shape()) ? x[ravel(index, x.shape())] : value[0];
    });
}

Value reverse(const Dims& dims, const Type& result, const Value& x) {
    return generate(result, [&](Dims index) {
        for (std::int64_t d : dims) {
            const auto axis = static_cast<std::size_t>(d);
            index[axis] = x.shape()[axis] - 1 - index[axis];
        }
        return x[ravel(index, x.shape())];
    });
}

Value iota(std::size_t dim, const Type& result) {
    return generate(result, [&](const Dims& index) {
        return result.dtype().is_floating() ? convert(i64, result.dtype(), static_cast<std::uint64_t>(index[dim]))
                                            : from_int(result.dtype(), index[dim]);
    });
}
} // namespace

Dims clamped_starts(const Shape& shape, const Dims& sizes, std::span<const Value> starts) {
    Dims at(shape.rank(), 0);
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::int64_t start = to_int(starts[i].dtype(), starts[i][0]);
        if (start < 0 && starts[i].dtype() == u64) start = std::numeric_limits<std::int64_t>::max();
        at[i] = std::max<std::int64_t>(0, std::min(start, shape[i] - sizes[i]));
    }
    return at;
}

Value elementwise(const ir::Op& op, const Type& result, const Values& operands) {
    std::vector<std::uint64_t> out(static_cast<std::size_t>(result.elements()));
    auto at = [&](std::size_t operand, std::size_t i) {
        const auto& bits = *operands[operand].bits;
        return operands[operand].type.rank() == 0 ? bits[0] : bits[i]; // select's predicate and clamp's bounds may be rank 0
    };
    const DType in = operands[0].dtype();
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (op.code == OpCode::convert)
            out[i] = convert(in, result.dtype(), at(0, i));
        else if (op.code == OpCode::compare)
            out[i] = compare(op.get<ir::CompareAttr>(), in, at(0, i), at(1, i)) ? 1 : 0;
        else if (op.code == OpCode::select)
            out[i] = at(0, i) ? at(1, i) : at(2, i);
        else if (op.code == OpCode::clamp)
            out[i] = binary(OpCode::minimum, in, binary(OpCode::maximum, in, at(0, i), at(1, i)), at(2, i));
        else if (ir::is_unary_elementwise(op.code))
            out[i] = unary(op.code, in, at(0, i));
        else
            out[i] = binary(op.code, in, at(0, i), at(1, i));
    }
    return tensor(result, std::move(out));
}

Value evaluate_plain(const ir::Op& op, const Type& result, const Values& operands) {
    if (ir::is_elementwise(op.code)) return elementwise(op, result, operands);
    switch (op.code) {
    case OpCode::constant: return from_literal(op.get<ir::ConstantAttr>().value);
    case OpCode::iota: return iota(static_cast<std::size_t>(op.get<ir::DimAttr>().dim), result);
    case OpCode::bitcast_convert: return bitcast(result, operands[0]);
    case OpCode::broadcast_in_dim: return broadcast_in_dim(op.get<ir::DimsAttr>().dims, result, operands[0]);
    case OpCode::reshape: return {result, operands[0].bits, nullptr};
    case OpCode::transpose: return transpose(op.get<ir::DimsAttr>().dims, result, operands[0]);
    case OpCode::slice: return slice(op.get<ir::SliceAttr>(), result, operands[0]);
    case OpCode::dynamic_slice: return dynamic_slice(op.get<ir::DimsAttr>().dims, result, operands);
    case OpCode::dynamic_update_slice: return dynamic_update_slice(result, operands);
    case OpCode::concatenate: return concatenate(static_cast<std::size_t>(op.get<ir::DimAttr>().dim), result, operands);
    case OpCode::pad: return pad(op.get<ir::PadAttr>(), result, operands[0], operands[1]);
    case OpCode::reverse: return reverse(op.get<ir::DimsAttr>().dims, result, operands[0]);
    case OpCode::gather: return gather(op.get<ir::GatherAttr>(), result, operands[0], operands[1]);
    case OpCode::dot_general: return dot_general(op.get<ir::DotAttr>(), result, operands[0], operands[1]);
    default: internal_error("reference: cannot evaluate " + std::string(ir::name(op.code)));
    }
}

} // namespace stithy::reference
