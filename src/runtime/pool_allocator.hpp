#pragma once
#include "runtime/allocator.hpp"

#include <vector>

namespace stithy::runtime {

/// Memory for standard containers from the process's pool, so that making one program after another touches no fresh pages. Not counted as
/// arrays are.
template <class T>
struct PoolAllocator {
    using value_type = T;
    PoolAllocator() = default;
    template <class U>
    PoolAllocator(const PoolAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(allocate_counted(n * sizeof(T), 0)); }
    void deallocate(T* p, std::size_t n) noexcept { deallocate_counted(p, n * sizeof(T), 0); }
    friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};

/// A vector for what lives as long as one program is made.
template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

} // namespace stithy::runtime
