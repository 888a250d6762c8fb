#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace stithy {

namespace detail {
/// One extent of a shape: made from any integer type, not from bool or floating point.
struct Extent {
    std::int64_t value;
    template <class T>
        requires(std::integral<T> && !std::same_as<T, bool>)
    constexpr Extent(T v) : value(static_cast<std::int64_t>(v)) {}
};

/// A short vector of 64-bit integers with room for six inside, for shapes and attributes.
class Dims {
public:
    Dims() : local_{} {}
    Dims(std::size_t count, std::int64_t value) : Dims() {
        resize(count);
        std::fill(begin(), end(), value);
    }
    Dims(const Dims& other) : Dims() { assign(other); }
    Dims(Dims&& other) noexcept : Dims() { take(other); }
    Dims& operator=(const Dims& other) {
        if (this != &other) assign(other);
        return *this;
    }
    Dims& operator=(Dims&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~Dims() { release(); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] const std::int64_t* data() const { return capacity_ > inside ? heap_ : local_; }
    [[nodiscard]] std::int64_t* data() { return capacity_ > inside ? heap_ : local_; }
    [[nodiscard]] const std::int64_t* begin() const { return data(); }
    [[nodiscard]] const std::int64_t* end() const { return data() + size_; }
    [[nodiscard]] std::int64_t* begin() { return data(); }
    [[nodiscard]] std::int64_t* end() { return data() + size_; }
    std::int64_t operator[](std::size_t i) const { return data()[i]; }
    std::int64_t& operator[](std::size_t i) { return data()[i]; }
    [[nodiscard]] std::int64_t back() const { return data()[size_ - 1]; }
    void push_back(std::int64_t value) {
        const std::size_t at = size_;
        resize(at + 1);
        data()[at] = value;
    }
    void insert(std::size_t at, std::int64_t value) {
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(std::size_t at) {
        std::copy(begin() + at + 1, end(), begin() + at);
        --size_;
    }
    void resize(std::size_t count) {
        if (count > capacity_) grow(count);
        for (std::size_t i = size_; i < count; ++i) data()[i] = 0;
        size_ = static_cast<std::uint32_t>(count);
    }
    void clear() { size_ = 0; }
    friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

private:
    static constexpr std::uint32_t inside = 6;
    void assign(const Dims& other) {
        if (capacity_ == inside && other.capacity_ == inside) { // all six: quicker than as many as there are
            std::copy(other.local_, other.local_ + inside, local_);
        } else {
            if (other.size_ > capacity_) grow(other.size_);
            std::copy(other.begin(), other.end(), data());
        }
        size_ = other.size_;
    }
    void grow(std::size_t count) {
        const auto room = static_cast<std::uint32_t>(std::max<std::size_t>(count, std::size_t{2} * capacity_));
        auto* memory = new std::int64_t[room];
        std::copy(begin(), end(), memory);
        release();
        heap_ = memory;
        capacity_ = room;
    }
    void release() {
        if (capacity_ > inside) delete[] heap_;
        capacity_ = inside;
    }
    void take(Dims& other) {
        size_ = other.size_;
        capacity_ = other.capacity_;
        if (other.capacity_ > inside)
            heap_ = other.heap_;
        else
            std::copy(other.local_, other.local_ + inside, local_);
        other.size_ = 0;
        other.capacity_ = inside;
    }
    std::uint32_t size_ = 0, capacity_ = inside;
    union {
        std::int64_t local_[inside];
        std::int64_t* heap_;
    };
};
} // namespace detail

/// Extents of an array, outermost first; rank 0 is a scalar. Made from integers of any type: `Shape({2, n})`, `Shape{}`.
/// Extents are not checked here; operations reject negative ones.
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<detail::Extent> extents) {
        dims_.resize(extents.size());
        std::size_t i = 0;
        for (detail::Extent e : extents) dims_[i++] = e.value;
    }
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    explicit Shape(std::span<const T> extents) {
        for (T e : extents) dims_.push_back(static_cast<std::int64_t>(e));
    }
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Shape(const std::vector<T>& extents) : Shape(std::span<const T>(extents)) {}
    explicit Shape(detail::Dims dims) : dims_(std::move(dims)) {}

    [[nodiscard]] std::size_t rank() const { return dims_.size(); }
    [[nodiscard]] std::size_t size() const { return dims_.size(); }
    [[nodiscard]] bool empty() const { return dims_.empty(); }
    std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
    [[nodiscard]] const std::int64_t* begin() const { return dims_.begin(); }
    [[nodiscard]] const std::int64_t* end() const { return dims_.end(); }
    [[nodiscard]] const detail::Dims& dims() const { return dims_; }
    [[nodiscard]] detail::Dims& dims() { return dims_; }
    /// Number of elements (1 for rank 0).
    [[nodiscard]] std::int64_t elements() const {
        std::int64_t n = 1;
        for (std::int64_t e : dims_) n *= e;
        return n;
    }
    /// "[2,3]"; "[]" for rank 0.
    [[nodiscard]] std::string str() const;
    friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

private:
    detail::Dims dims_;
};

} // namespace stithy
