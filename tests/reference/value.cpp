#include "reference/value.hpp"

namespace stithy::reference {

Value from_literal(const ir::Literal& literal) {
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(literal.type().elements()));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = literal.element_bits(static_cast<std::int64_t>(i));
    return tensor(literal.type(), std::move(bits));
}

ir::Literal to_literal(const Value& value) {
    const std::size_t size = value.dtype().size();
    std::vector<std::byte> bytes(static_cast<std::size_t>(value.elements()) * size);
    for (std::size_t i = 0; i < value.bits->size(); ++i) std::memcpy(bytes.data() + i * size, &(*value.bits)[i], size);
    return ir::Literal::dense(value.type.as_tensor(), std::move(bytes));
}

Value tensor(const ir::Type& type, std::vector<std::uint64_t> bits) {
    internal_check(static_cast<std::int64_t>(bits.size()) == type.elements(), "reference: wrong number of elements for " + type.str());
    return {type, std::make_shared<const std::vector<std::uint64_t>>(std::move(bits)), nullptr};
}

Value filled(const ir::Type& type, std::uint64_t bits) {
    return tensor(type, std::vector<std::uint64_t>(static_cast<std::size_t>(type.elements()), bits));
}

Value with_members(const ir::Type& type, Values members) { return {type, nullptr, std::make_shared<const Values>(std::move(members))}; }

Dims unravel(std::int64_t i, const Shape& shape) {
    Dims index(shape.rank(), 0);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        index[axis] = i % shape[axis];
        i /= shape[axis];
    }
    return index;
}

std::int64_t ravel(const Dims& index, const Shape& shape) {
    std::int64_t i = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) i = i * shape[axis] + index[axis];
    return i;
}

bool in_bounds(const Dims& index, const Shape& shape) {
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if (index[axis] < 0 || index[axis] >= shape[axis]) return false;
    return true;
}

} // namespace stithy::reference
