#include "array/fill.hpp"

#include "base/error.hpp"
#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"

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
        for (std::int64_t i = begin; i < end; ++i) {
            if constexpr (std::is_integral_v<T>)
                out[i] = static_cast<T>(static_cast<std::int64_t>(start) + i * static_cast<std::int64_t>(step));
            else
                out[i] = static_cast<T>(start + static_cast<double>(i) * step);
        }
    });
}

std::size_t bytes_of(DType dtype, std::int64_t elements) {
    return runtime::checked_multiply(static_cast<std::size_t>(elements), dtype.size());
}
} // namespace

Ref<runtime::Buffer> filled_buffer(DType dtype, std::int64_t elements, std::uint64_t bits) {
    auto buffer = runtime::Buffer::allocate(bytes_of(dtype, elements));
    switch (dtype.size()) {
    case 1: fill_with<std::uint8_t>(buffer->data(), elements, bits); break;
    case 2: fill_with<std::uint16_t>(buffer->data(), elements, bits); break;
    case 4: fill_with<std::uint32_t>(buffer->data(), elements, bits); break;
    default: fill_with<std::uint64_t>(buffer->data(), elements, bits); break;
    }
    return buffer;
}

Ref<runtime::Buffer> range_buffer(DType dtype, std::int64_t elements, double start, double step) {
    auto buffer = runtime::Buffer::allocate(bytes_of(dtype, elements));
    void* out = buffer->data();
    switch (dtype.code()) {
    case DType::boolean: internal_error("range of bool");
    case DType::i8: range_into<std::int8_t>(out, elements, start, step); break;
    case DType::i16: range_into<std::int16_t>(out, elements, start, step); break;
    case DType::i32: range_into<std::int32_t>(out, elements, start, step); break;
    case DType::i64: range_into<std::int64_t>(out, elements, start, step); break;
    case DType::u8: range_into<std::uint8_t>(out, elements, start, step); break;
    case DType::u16: range_into<std::uint16_t>(out, elements, start, step); break;
    case DType::u32: range_into<std::uint32_t>(out, elements, start, step); break;
    case DType::u64: range_into<std::uint64_t>(out, elements, start, step); break;
    case DType::f32: range_into<float>(out, elements, start, step); break;
    case DType::f64: range_into<double>(out, elements, start, step); break;
    }
    return buffer;
}

} // namespace stithy::detail
