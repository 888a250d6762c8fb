#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace stithy {

/// Base of objects that `Ref` counts. The count starts at one, which `make_ref` hands to the first `Ref`.
/// A class with another way to count or to die hides `retain`, `release` or `destroy` (see runtime::Buffer).
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) noexcept {}
    RefCounted& operator=(const RefCounted&) noexcept { return *this; }

    void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    /// Drops one count; true when it was the last one.
    [[nodiscard]] bool release() const noexcept {
        // The last holder needs no locked instruction: nobody else can add a count.
        if (count_.load(std::memory_order_acquire) == 1) return true;
        return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    [[nodiscard]] std::uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }
    template <class T>
    static void destroy(T* object) noexcept {
        delete object;
    }

protected:
    ~RefCounted() = default;

private:
    mutable std::atomic<std::uint32_t> count_{1};
};

/// Shared pointer to a reference-counted object: one word, atomic counts, null when default-constructed.
/// Copies may be used from several threads at once; one `Ref` object may not.
template <class T>
class Ref {
public:
    using element_type = T;

    constexpr Ref() noexcept = default;
    constexpr Ref(std::nullptr_t) noexcept {}
    /// Shares an object that somebody else already holds.
    explicit Ref(T* object) noexcept : object_(object) {
        if (object_) object_->retain();
    }
    Ref(const Ref& other) noexcept : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <class U>
        requires std::is_convertible_v<U*, T*>
    Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}
    template <class U>
        requires std::is_convertible_v<U*, T*>
    Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
    Ref& operator=(const Ref& other) noexcept {
        Ref(other).swap(*this);
        return *this;
    }
    Ref& operator=(Ref&& other) noexcept {
        Ref(std::move(other)).swap(*this);
        return *this;
    }
    ~Ref() {
        if (object_ && object_->release()) std::remove_const_t<T>::destroy(const_cast<std::remove_const_t<T>*>(object_));
    }

    /// Takes over a count that the caller holds.
    [[nodiscard]] static Ref adopt(T* object) noexcept {
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    /// Gives the pointer and its count to the caller.
    [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }
    void reset() noexcept { Ref().swap(*this); }
    void swap(Ref& other) noexcept { std::swap(object_, other.object_); }

    [[nodiscard]] T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    /// True when this is the only `Ref` to its object; false for null.
    [[nodiscard]] bool unique() const noexcept { return object_ && object_->use_count() == 1; }

    friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }
    friend bool operator==(const Ref& a, std::nullptr_t) noexcept { return a.object_ == nullptr; }

private:
    T* object_ = nullptr;
};

/// Makes a T on the heap and the first `Ref` to it.
template <class T, class... Args>
[[nodiscard]] Ref<T> make_ref(Args&&... args) {
    return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

} // namespace stithy

template <class T>
struct std::hash<stithy::Ref<T>> {
    std::size_t operator()(const stithy::Ref<T>& ref) const noexcept { return std::hash<T*>()(ref.get()); }
};
