#pragma once
#include "stithy/device.hpp"
#include "stithy/dtype.hpp"
#include "stithy/error.hpp"
#include "stithy/shape.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace stithy {

class Index;
class Operand;
class Update;

/// C++ numbers that arrays are made of and read as.
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;

namespace detail {
class ArrayNode;

/// The count of handles, the first member of every node.
struct NodeCount {
    mutable std::atomic<std::uint32_t> references{1};
};
/// Gives a count back; the last one destroys the node.
void release_node(NodeCount* node) noexcept;

/// "No index in this place": the default of Array's index parameters.
const Index& no_index() noexcept;
/// The element of a one-element array as the bits of `dtype`; waits. Error when it has more elements, is traced by a staging trace, or does
/// not fit.
std::uint64_t read_element(const NodeCount* node, DType dtype, const char* operation, const std::source_location& location);
/// All elements, row-major; waits. Error when the dtype is another.
const std::byte* read_elements(const NodeCount* node, DType dtype, const char* operation, const std::source_location& location);
NodeCount* make_scalar(DType dtype, std::uint64_t bits, const std::source_location& location);

template <class T>
std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
} // namespace detail

/// A multi-dimensional array: a cheap handle with the semantics of a value. Copies share the elements, which never change.
/// dtype, shape and device are known at once; the elements may still be computing. A default-made array is empty: it may only be assigned
/// to, copied and asked `defined()`.
class Array {
public:
    /// Holds nothing yet.
    Array() = default;
    /// A rank-0 array of the number's own dtype (`Array(2.0)` is f64, `Array(0)` is i32).
    template <Number E>
    explicit Array(E value, std::source_location location = std::source_location::current())
        : node_(detail::make_scalar(dtype_of<E>, detail::to_bits(value), location)) {}
    Array(const Array& other) noexcept : node_(other.node_) { retain(); }
    Array(Array&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Array& operator=(const Array& other) & noexcept {
        Array copy(other);
        std::swap(node_, copy.node_);
        return *this;
    }
    Array& operator=(Array&& other) & noexcept {
        Array moved(std::move(other));
        std::swap(node_, moved.node_);
        return *this;
    }
    ~Array() { release(); }

    /// False for a default-made array.
    [[nodiscard]] bool defined() const noexcept { return node_ != nullptr; }
    /// Element type.
    [[nodiscard]] DType dtype(std::source_location location = std::source_location::current()) const;
    /// Extents of all axes.
    [[nodiscard]] const Shape& shape(std::source_location location = std::source_location::current()) const;
    /// Extent of one axis; negative axes count from the end. Error for an axis out of range.
    [[nodiscard]] std::int64_t shape(int axis, std::source_location location = std::source_location::current()) const;
    /// Number of axes.
    [[nodiscard]] int ndim(std::source_location location = std::source_location::current()) const;
    /// The same as ndim.
    [[nodiscard]] int rank(std::source_location location = std::source_location::current()) const { return ndim(location); }
    /// Number of elements.
    [[nodiscard]] std::int64_t size(std::source_location location = std::source_location::current()) const;
    /// Where the elements live.
    [[nodiscard]] Device device(std::source_location location = std::source_location::current()) const;

    /// The element of a one-element array as an E; waits. Error where the value does not fit an E exactly, or inside a staged function.
    template <Number E>
    [[nodiscard]] E item(std::source_location location = std::source_location::current()) const {
        return detail::from_bits<E>(detail::read_element(node_, dtype_of<E>, "item", location));
    }
    /// As `item`, for `static_cast<double>(x)`.
    template <Number E>
        requires(!std::is_same_v<E, bool>)
    explicit operator E() const {
        return detail::from_bits<E>(detail::read_element(node_, dtype_of<E>, "conversion", std::source_location()));
    }
    /// Whether the element of a one-element array is not zero; waits.
    explicit operator bool() const { return detail::read_element(node_, boolean, "bool", std::source_location()) != 0; }
    /// All elements, row-major; waits. E must be the dtype's own type.
    template <Number E>
    [[nodiscard]] std::vector<E> to_vector(std::source_location location = std::source_location::current()) const {
        const auto* data = reinterpret_cast<const E*>(detail::read_elements(node_, dtype_of<E>, "to_vector", location));
        return std::vector<E>(data, data + size());
    }
    /// The elements in place, row-major, valid while this array lives; waits. E must be the dtype's own type.
    template <Number E>
    [[nodiscard]] std::span<const E> span(std::source_location location = std::source_location::current()) const& {
        const auto* data = reinterpret_cast<const E*>(detail::read_elements(node_, dtype_of<E>, "span", location));
        return {data, static_cast<std::size_t>(size())};
    }
    template <Number E>
    std::span<const E> span() const&& = delete;

    /// True when reading would not wait.
    [[nodiscard]] bool ready(std::source_location location = std::source_location::current()) const;
    /// Waits until the elements are there; throws what went wrong while computing them. A staged value is left alone.
    const Array& wait(std::source_location location = std::source_location::current()) const&;
    Array wait(std::source_location location = std::source_location::current()) &&;

    /// The same values as another dtype, converted as C++ converts.
    [[nodiscard]] Array astype(DType dtype, std::source_location location = std::source_location::current()) const;
    /// The same values on another device. Error for a device that is not there.
    [[nodiscard]] Array to(Device device, std::source_location location = std::source_location::current()) const;
    /// All axes in reverse order.
    [[nodiscard]] Array T(std::source_location location = std::source_location::current()) const;
    /// The last two axes exchanged; needs rank 2 or more.
    [[nodiscard]] Array mT(std::source_location location = std::source_location::current()) const;

    /// A part of the array: `x(1, range(0, end, 2), all, newaxis, indices)`. Missing indices at the end mean all.
    /// Array indices clamp. Errors: too many indices; an integer out of range; a step that is not positive; an index array of floats or
    /// bools.
    [[nodiscard]] Array operator()(const Index& i0, const Index& i1 = detail::no_index(), const Index& i2 = detail::no_index(),
                                   const Index& i3 = detail::no_index(), const Index& i4 = detail::no_index(),
                                   const Index& i5 = detail::no_index(), const Index& i6 = detail::no_index(),
                                   const Index& i7 = detail::no_index()) const;
    /// A place to update: `x.at(i).set(v)` gives the updated array; x itself does not change. `std::move(x).at(i)` may reuse x's memory.
    [[nodiscard]] Update at(const Index& i0, const Index& i1 = detail::no_index(), const Index& i2 = detail::no_index(),
                            const Index& i3 = detail::no_index(), const Index& i4 = detail::no_index(),
                            const Index& i5 = detail::no_index(), const Index& i6 = detail::no_index(),
                            const Index& i7 = detail::no_index()) const&;
    [[nodiscard]] Update at(const Index& i0, const Index& i1 = detail::no_index(), const Index& i2 = detail::no_index(),
                            const Index& i3 = detail::no_index(), const Index& i4 = detail::no_index(),
                            const Index& i5 = detail::no_index(), const Index& i6 = detail::no_index(),
                            const Index& i7 = detail::no_index()) &&;

    /// For the library: takes a node's count over; the node itself.
    static Array adopt(detail::NodeCount* node) noexcept {
        Array a;
        a.node_ = node;
        return a;
    }
    [[nodiscard]] detail::NodeCount* handle() const noexcept { return node_; }

private:
    void retain() const noexcept {
        if (node_) node_->references.fetch_add(1, std::memory_order_relaxed);
    }
    void release() noexcept {
        if (node_) detail::release_node(node_);
    }
    detail::NodeCount* node_ = nullptr;
};

/// `x.item<T>()`, for generic code.
template <Number T>
[[nodiscard]] T item(const Array& x, std::source_location location = std::source_location::current()) {
    return x.item<T>(location);
}
/// A number is its own item.
template <Number T, Number U>
[[nodiscard]] constexpr T item(U x) {
    return static_cast<T>(x);
}

} // namespace stithy

#include "stithy/index.hpp"
