#include "ops/check.hpp"
#include "ops/elementwise.hpp"

namespace stithy::ops {

namespace {
[[noreturn]] void refuse_kind(const InferContext& c, const Type& given) {
    const Kinds kinds = kinds_of(c.code);
    std::string expected;
    auto add = [&](Kinds k, std::string_view text) {
        if ((kinds & k) == k) expected += (expected.empty() ? "" : ", ") + std::string(text);
    };
    add(bools, "bool");
    if ((kinds & integers) == integers)
        add(integers, "integers");
    else
        add(signed_integers, "signed integers");
    add(floats, "floating point");
    refuse(c, given.str() + " given, expected " + expected);
}

void expect_kind(const InferContext& c, const Type& type) {
    if (!type.is_tensor()) expect_tensors(c);
    if ((kinds_of(c.code) & kind(type.dtype())) == 0) refuse_kind(c, type);
}

[[noreturn]] void refuse_pair(const InferContext& c, const Type& a, const Type& b) {
    expect_tensors(c);
    if (!(a.shape() == b.shape()))
        refuse(c, "shapes " + a.shape().str() + " and " + b.shape().str() + " differ (" + a.str() + " and " + b.str() +
                      "), expected equal shapes");
    refuse(c, "dtypes " + std::string(a.dtype().name()) + " and " + std::string(b.dtype().name()) + " differ (" + a.str() + " and " +
                  b.str() + "), expected equal dtypes");
}

void expect_pair(const InferContext& c, const Type& a, const Type& b) {
    if (a.kind() != b.kind() || !(a.dtype() == b.dtype()) || !(a.shape() == b.shape())) refuse_pair(c, a, b);
}

/// A small operand of rank 0 serves every element.
void expect_scalar_or(const InferContext& c, const Type& type, const Type& whole, std::string_view what) {
    if (type.rank() == 0 || type.shape() == whole.shape()) return;
    refuse(c, std::string(what) + " has shape " + type.shape().str() + ", expected [] or " + whole.shape().str());
}
} // namespace

Types infer_unary(const InferContext& c) {
    expect_operands(c, 1);
    expect_kind(c, c.operands[0]);
    return one(c.operands[0]);
}

Types infer_is_finite(const InferContext& c) {
    expect_operands(c, 1);
    expect_kind(c, c.operands[0]);
    return one(Type(boolean, c.operands[0].shape()));
}

Types infer_convert(const InferContext& c) {
    expect_operands(c, 1);
    expect_kind(c, c.operands[0]);
    internal_check(c.declared.size() == 1 && c.declared[0].is_tensor(), "convert without its result type");
    return one(Type(c.declared[0].dtype(), c.operands[0].shape()));
}

Types infer_binary(const InferContext& c) {
    expect_operands(c, 2);
    const Type& a = c.operands[0];
    expect_pair(c, a, c.operands[1]);
    expect_kind(c, a);
    return one(a);
}

Types infer_compare(const InferContext& c) {
    expect_operands(c, 2);
    expect_pair(c, c.operands[0], c.operands[1]);
    expect_kind(c, c.operands[0]);
    return one(Type(boolean, c.operands[0].shape()));
}

Types infer_select(const InferContext& c) {
    expect_operands(c, 3);
    const Type &predicate = c.operands[0], &a = c.operands[1];
    expect_pair(c, a, c.operands[2]);
    expect_kind(c, a);
    if (!predicate.is_tensor() || !predicate.dtype().is_bool()) refuse(c, "the predicate is " + predicate.str() + ", expected bool");
    expect_scalar_or(c, predicate, a, "the predicate");
    return one(a);
}

Types infer_clamp(const InferContext& c) {
    expect_operands(c, 3);
    expect_tensors(c);
    const Type& x = c.operands[1];
    for (std::size_t i : {std::size_t{0}, std::size_t{2}}) {
        const Type& bound = c.operands[i];
        const char* what = i == 0 ? "the lower bound" : "the upper bound";
        if (!(bound.dtype() == x.dtype()))
            refuse(c, std::string(what) + " is " + bound.str() + " and the operand " + x.str() + ", expected equal dtypes");
        expect_scalar_or(c, bound, x, what);
    }
    expect_kind(c, x);
    return one(x);
}

} // namespace stithy::ops
