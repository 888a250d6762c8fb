#include "array/fill.hpp"

#include "base/error.hpp"
#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"
#include "runtime/queue.hpp"

#include <algorithm>
#include <cstring>

namespace stithy::detail {

namespace {
constexpr std::int64_t chunk = std::int64_t{1} << 16; // elements of a parallel piece

/// Calls f(begin, end) over all elements, in pieces fixed by their number.
template <class F>
void over_elements(std::int64_t elements, F f) {
    if (elements <= chunk) {
        if (elements > 0) f(std::int64_t{0}, elements);
        return;
    }
    runtime::parallel_for(elements, chunk, f);
}

template <class T>
void fill_with(void* data, std::int64_t elements, std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    T* out = static_cast<T*>(data);
    over_elements(elements, [=](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, value); });
}

template <class T>
void range_into(void* data, std::int64_t elements, double start, double step) {
    T* out = static_cast<T*>(data);
    over_elements(elements, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(start + static_cast<double>(i) * step);
    });
}

template <class T>
void integers_into(void* data, std::int64_t elements, std::uint64_t start, std::uint64_t step) {
    T* out = static_cast<T*>(data);
    over_elements(elements, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(start + static_cast<std::uint64_t>(i) * step);
    });
}

constexpr std::size_t most_bytes_at_once = std::size_t{1} << 19; // about 50 us
} // namespace

Ref<runtime::Buffer> written_buffer(const char* operation, DType dtype, std::int64_t elements, std::function<void(void*)> write,
                                    const Location& location) {
    const std::size_t bytes = runtime::checked_multiply(static_cast<std::size_t>(elements), dtype.size());
    // a task must not wait for a later one
    if (bytes <= most_bytes_at_once || runtime::Queue::current()) {
        auto buffer = name_shortage(operation, location, [&] { return runtime::Buffer::allocate(bytes); });
        write(buffer->data());
        return buffer;
    }
    auto buffer = runtime::Buffer::make_pending(bytes);
    runtime::cpu_queue().submit({}, {buffer}, [=, write = std::move(write)](runtime::Task& task) {
        name_shortage(operation, location, [&] { task.results[0]->materialize(); });
        write(task.results[0]->data());
    });
    return buffer;
}

void write_equal(void* data, DType dtype, std::int64_t elements, std::uint64_t bits) {
    switch (dtype.size()) {
    case 1: return fill_with<std::uint8_t>(data, elements, bits);
    case 2: return fill_with<std::uint16_t>(data, elements, bits);
    case 4: return fill_with<std::uint32_t>(data, elements, bits);
    default: return fill_with<std::uint64_t>(data, elements, bits);
    }
}

void write_range(void* data, DType dtype, std::int64_t elements, double start, double step) {
    if (dtype == f32)
        range_into<float>(data, elements, start, step);
    else if (dtype == f64)
        range_into<double>(data, elements, start, step);
    else
        internal_error("range of a dtype that is not floating");
}

void write_integers(void* data, DType dtype, std::int64_t elements, std::uint64_t start, std::uint64_t step) {
    switch (dtype.size()) {
    case 1: return integers_into<std::uint8_t>(data, elements, start, step);
    case 2: return integers_into<std::uint16_t>(data, elements, start, step);
    case 4: return integers_into<std::uint32_t>(data, elements, start, step);
    default: return integers_into<std::uint64_t>(data, elements, start, step);
    }
}

} // namespace stithy::detail
