#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace stithy {

/// A vector with room for N elements inside the object, for short lists on hot paths. Elements move when it grows.
template <class T, std::size_t N>
class SmallVector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    SmallVector() noexcept : data_(inside()) {}
    explicit SmallVector(std::size_t count) : SmallVector() { resize(count); }
    SmallVector(std::size_t count, const T& value) : SmallVector() {
        reserve(count);
        for (std::size_t i = 0; i < count; ++i) emplace_back(value);
    }
    SmallVector(std::initializer_list<T> list) : SmallVector(list.begin(), list.end()) {}
    template <std::forward_iterator It>
    SmallVector(It first, It last) : SmallVector() {
        append(first, last);
    }
    SmallVector(const SmallVector& other) : SmallVector() {
        if constexpr (is_plain)
            if (other.size_ <= N) {
                copy_inside(other.data_);
                size_ = other.size_;
                return;
            }
        append(other.begin(), other.end());
    }
    SmallVector(SmallVector&& other) noexcept : SmallVector() { take(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) {
            clear();
            append(other.begin(), other.end());
        }
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~SmallVector() { release(); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    const T& at(std::size_t i) const {
        if (i >= size_) throw std::out_of_range("SmallVector::at");
        return data_[i];
    }
    [[nodiscard]] T& front() { return data_[0]; }
    [[nodiscard]] const T& front() const { return data_[0]; }
    [[nodiscard]] T& back() { return data_[size_ - 1]; }
    [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if (size_ == capacity_) {
            T made(std::forward<Arguments>(arguments)...); // the argument may lie inside
            grow(std::size_t{capacity_} * 2);
            return *std::construct_at(data_ + size_++, std::move(made));
        }
        return *std::construct_at(data_ + size_++, std::forward<Arguments>(arguments)...);
    }
    void push_back(const T& value) { emplace_back(value); }
    void push_back(T&& value) { emplace_back(std::move(value)); }
    void pop_back() { std::destroy_at(data_ + --size_); }
    template <std::forward_iterator It>
    void append(It first, It last) {
        reserve(size_ + static_cast<std::size_t>(std::distance(first, last)));
        for (; first != last; ++first) emplace_back(*first);
    }
    template <std::forward_iterator It>
    void assign(It first, It last) { // the source must not lie inside
        clear();
        append(first, last);
    }
    /// Inserts before `at`; the source must not lie inside.
    template <std::forward_iterator It>
    iterator insert(const_iterator at, It first, It last) {
        const std::size_t index = static_cast<std::size_t>(at - begin()), old = size_;
        append(first, last);
        std::rotate(begin() + index, begin() + old, end());
        return begin() + index;
    }
    iterator insert(const_iterator at, T value) { return insert(at, &value, &value + 1); }
    iterator erase(const_iterator first, const_iterator last) {
        T* from = begin() + (first - begin());
        std::move(begin() + (last - begin()), end(), from);
        for (auto n = last - first; n > 0; --n) pop_back();
        return from;
    }
    iterator erase(const_iterator at) { return erase(at, at + 1); }
    friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
    void reserve(std::size_t count) {
        if (count > capacity_) grow(count);
    }
    void resize(std::size_t count) {
        reserve(count);
        while (size_ > count) pop_back();
        while (size_ < count) emplace_back();
    }
    void clear() {
        std::destroy(begin(), end());
        size_ = 0;
    }

private:
    [[nodiscard]] T* inside() noexcept { return reinterpret_cast<T*>(inside_); }
    /// Elements that may be copied as bytes; a few of them all at once, which is quicker than as many as there are.
    static constexpr bool is_plain = std::is_trivially_copyable_v<T> && N * sizeof(T) <= 64;
    void copy_inside(const T* from) noexcept { std::memcpy(inside_, from, N * sizeof(T)); }
    [[nodiscard]] bool is_inside() const { return capacity_ == N; } // growth always exceeds N
    void grow(std::size_t count) {
        T* memory = std::allocator<T>().allocate(count);
        std::uninitialized_move(begin(), end(), memory);
        const std::uint32_t size = size_;
        release();
        data_ = memory;
        size_ = size;
        capacity_ = static_cast<std::uint32_t>(count);
    }
    void release() noexcept {
        clear();
        if (!is_inside()) std::allocator<T>().deallocate(data_, capacity_);
        data_ = inside();
        capacity_ = N;
    }
    /// Of an empty vector that owns no memory.
    void take(SmallVector& other) noexcept {
        if (other.is_inside()) {
            if constexpr (is_plain) {
                copy_inside(other.data_);
                size_ = std::exchange(other.size_, 0);
                return;
            }
            if (other.size_ == 0) return;
            std::uninitialized_move(other.begin(), other.end(), data_);
            size_ = other.size_;
            other.clear();
            return;
        }
        data_ = std::exchange(other.data_, other.inside());
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(N));
    }

    T* data_;
    std::uint32_t size_ = 0, capacity_ = N;
    alignas(T) std::byte inside_[N * sizeof(T)];
};

} // namespace stithy
