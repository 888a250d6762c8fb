#include "reference/operations.hpp"
#include "reference/scalar.hpp"

#include <algorithm>

namespace stithy::reference {

using ir::OpCode;
using ir::Type;

namespace {
bool contains(const Dims& dims, std::size_t axis) {
    return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(axis)) != dims.end();
}

Dims free_axes(std::size_t rank, const Dims& batch, const Dims& contract) {
    Dims axes;
    for (std::size_t i = 0; i < rank; ++i)
        if (!contains(batch, i) && !contains(contract, i)) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
}

void place(Dims& index, const Dims& axes, const Dims& from, std::size_t first) {
    for (std::size_t i = 0; i < axes.size(); ++i) index[static_cast<std::size_t>(axes[i])] = from[first + i];
}

/// Sum of products of bits: floats rounded after every step, integers modulo their width, bool as or of ands.
class Sum {
public:
    explicit Sum(DType dtype) : dtype_(dtype) {}
    void add(std::uint64_t x, std::uint64_t y, DType lhs, DType rhs) {
        const std::uint64_t a = convert(lhs, dtype_, x), b = convert(rhs, dtype_, y);
        sum_ = binary(OpCode::add, dtype_, sum_, binary(OpCode::multiply, dtype_, a, b));
    }
    [[nodiscard]] std::uint64_t bits() const { return sum_; }

private:
    DType dtype_;
    std::uint64_t sum_ = 0;
};
} // namespace

Value dot_general(const ir::DotAttr& dims, const Type& result, const Value& lhs, const Value& rhs) {
    const Dims lhs_free = free_axes(lhs.type.rank(), dims.lhs_batch, dims.lhs_contract);
    const Dims rhs_free = free_axes(rhs.type.rank(), dims.rhs_batch, dims.rhs_contract);
    Shape inner;
    for (std::int64_t axis : dims.lhs_contract) inner.dims().push_back(lhs.shape()[static_cast<std::size_t>(axis)]);
    return generate(result, [&](const Dims& index) {
        Dims left(lhs.type.rank(), 0), right(rhs.type.rank(), 0);
        place(left, dims.lhs_batch, index, 0);
        place(right, dims.rhs_batch, index, 0);
        place(left, lhs_free, index, dims.lhs_batch.size());
        place(right, rhs_free, index, dims.lhs_batch.size() + lhs_free.size());
        Sum sum(result.dtype());
        for (std::int64_t k = 0; k < inner.elements(); ++k) {
            const Dims at = unravel(k, inner);
            place(left, dims.lhs_contract, at, 0);
            place(right, dims.rhs_contract, at, 0);
            sum.add(lhs[ravel(left, lhs.shape())], rhs[ravel(right, rhs.shape())], lhs.dtype(), rhs.dtype());
        }
        return sum.bits();
    });
}

Values reduce(const ir::Op& op, const std::vector<Type>& results, const Values& operands, const Apply& apply) {
    const Dims& axes = op.get<ir::DimsAttr>().dims;
    const std::size_t n = results.size();
    const Shape& shape = operands[0].shape();
    std::vector<std::vector<std::uint64_t>> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i].assign(static_cast<std::size_t>(results[i].elements()), operands[n + i][0]);
    Values arguments(2 * n);
    for (std::int64_t e = 0; e < shape.elements(); ++e) {
        const Dims index = unravel(e, shape);
        Dims kept;
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            if (!contains(axes, axis)) kept.push_back(index[axis]);
        const auto to = static_cast<std::size_t>(ravel(kept, results[0].shape()));
        for (std::size_t i = 0; i < n; ++i) {
            arguments[i] = filled(Type(results[i].dtype(), {}), out[i][to]);
            arguments[n + i] = filled(Type(operands[i].dtype(), {}), operands[i][e]);
        }
        const Values next = apply(*op.regions[0], arguments);
        for (std::size_t i = 0; i < n; ++i) out[i][to] = next[i][0];
    }
    Values values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(tensor(results[i], std::move(out[i])));
    return values;
}

} // namespace stithy::reference
