#pragma once
#include "base/error.hpp"
#include "runtime/allocator.hpp"
#include "runtime/buffer.hpp"
#include "stithy/dtype.hpp"

#include <cstdint>

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

/// A ready buffer of `elements` equal elements, made by several threads where that pays.
Ref<runtime::Buffer> filled_buffer(DType dtype, std::int64_t elements, std::uint64_t bits);
/// A ready buffer of start, start + step, ... in the dtype (integers wrap; floats: start + i * step).
Ref<runtime::Buffer> range_buffer(DType dtype, std::int64_t elements, double start, double step);

} // namespace stithy::detail
