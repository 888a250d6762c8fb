#pragma once
#include "base/error.hpp"
#include "runtime/allocator.hpp"
#include "runtime/buffer.hpp"
#include "stithy/dtype.hpp"

#include <cstdint>
#include <functional>

namespace stithy::detail {

/// Runs f; when memory is short, the error names the operation and the user's line.
template <class F>
auto name_shortage(const char* operation, const Location& location, F f) {
    try {
        return f();
    } catch (const runtime::OutOfMemory& e) {
        fail(operation, e.what(), location);
    }
}

/// A buffer of `elements` elements that `write(memory)` fills: at once when they are few, else in the queue, so that nobody waits for it.
/// Shortage of memory names the operation and the line.
Ref<runtime::Buffer> written_buffer(const char* operation, DType dtype, std::int64_t elements, std::function<void(void*)> write,
                                    const Location& location);
/// Writes equal elements, by several threads where that pays.
void write_equal(void* data, DType dtype, std::int64_t elements, std::uint64_t bits);
/// Writes start, start + step, ... of a floating dtype, computed in f64 as start + i * step.
void write_range(void* data, DType dtype, std::int64_t elements, double start, double step);
/// Writes start, start + step, ... of an integer dtype; wraps.
void write_integers(void* data, DType dtype, std::int64_t elements, std::uint64_t start, std::uint64_t step);

} // namespace stithy::detail
