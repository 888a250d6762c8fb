#include "ops/check.hpp"

#include <algorithm>

namespace stithy::ops {

void refuse(const InferContext& context, std::string_view text) { fail(ir::name(context.code), text, context.location); }

std::string text_of(const Dims& dims) { return Shape(dims).str(); }

std::string text_of(TypeRefs types) {
    std::string text;
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (i > 0) text += i + 1 == types.size() ? " and " : ", ";
        text += types[i].str();
    }
    return text;
}

void expect_operands(const InferContext& context, std::size_t count) {
    if (context.operands.size() == count) return;
    refuse(context, std::to_string(context.operands.size()) + " operands given, expected " + std::to_string(count));
}

void expect_tensors(const InferContext& context) {
    for (std::size_t i = 0; i < context.operands.size(); ++i)
        if (!context.operands[i].is_tensor()) refuse(context, "operands " + text_of(context.operands) + ", expected tensors");
}

const Type& declared_tensor(const InferContext& context) {
    internal_check(context.declared.size() == 1, "an operation without its result type");
    const Type& type = context.declared[0];
    if (!type.is_tensor()) refuse(context, "result type " + type.str() + ", expected a tensor");
    expect_extents(context, type);
    return type;
}

void expect_axis(const InferContext& context, std::int64_t axis, std::size_t rank, std::string_view what) {
    if (axis >= 0 && axis < static_cast<std::int64_t>(rank)) return;
    refuse(context, std::string(what) + " " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
}

void expect_axes(const InferContext& context, const Dims& axes, std::size_t rank, std::string_view what) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        expect_axis(context, axes[i], rank, what);
        if (std::find(axes.begin(), axes.begin() + i, axes[i]) != axes.begin() + i)
            refuse(context, std::string(what) + " " + std::to_string(axes[i]) + " is given twice in " + text_of(axes));
    }
}

const char* fault_of_extents(DType dtype, const Shape& shape) {
    constexpr std::int64_t limit = std::int64_t{1} << 58; // more cannot be addressed
    auto bytes = static_cast<std::int64_t>(dtype.size());
    bool too_large = false;
    for (std::int64_t extent : shape) {
        if (extent < 0) return "has a negative extent";
        too_large = too_large || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes) || bytes >= limit;
    }
    return too_large ? "is too large" : nullptr;
}

void expect_extents(const InferContext& context, const Type& result) {
    if (const char* fault = fault_of_extents(result.dtype(), result.shape())) refuse(context, "the result " + result.str() + " " + fault);
}

} // namespace stithy::ops
