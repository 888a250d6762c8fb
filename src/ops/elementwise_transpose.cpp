#include "ops/build.hpp"
#include "ops/elementwise.hpp"

namespace stithy::ops {

Values transpose_add(const TransposeContext& c) {
    const Value ct = c.cotangents[0];
    return {c.linear[0] ? ct : Value(), c.linear[1] ? ct : Value()};
}

Values transpose_subtract(const TransposeContext& c) {
    const Value ct = c.cotangents[0];
    return {c.linear[0] ? ct : Value(), c.linear[1] ? -ct : Value()};
}

Values transpose_negate(const TransposeContext& c) { return {-c.cotangents[0]}; }

Values transpose_multiply(const TransposeContext& c) {
    internal_check(c.linear[0] != c.linear[1], "multiply: not linear");
    const Value ct = c.cotangents[0];
    if (c.linear[0]) return {ct * c.operands[1], Value()};
    return {Value(), ct * c.operands[0]};
}

Values transpose_divide(const TransposeContext& c) {
    internal_check(!c.linear[1], "divide: not linear");
    return {c.cotangents[0] / c.operands[1], Value()};
}

Values transpose_select(const TransposeContext& c) {
    internal_check(!c.linear[0], "select: not linear");
    const Value predicate = c.operands[0], ct = c.cotangents[0];
    Value zero = zeros_like(ct);
    return {Value(), c.linear[1] ? select(predicate, ct, zero) : Value(), c.linear[2] ? select(predicate, zero, ct) : Value()};
}

Values transpose_convert(const TransposeContext& c) { return {convert(c.cotangents[0], c.types[0].dtype())}; }

} // namespace stithy::ops
