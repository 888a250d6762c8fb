#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stithy::runtime {

/// 128 bits that stand for a piece of text. Good against accident, not against malice: compare the text on a hit.
struct Hash128 {
    std::uint64_t low = 0, high = 0;

    friend bool operator==(const Hash128&, const Hash128&) = default;
    /// 32 lower-case hexadecimal digits.
    [[nodiscard]] std::string hex() const;
};

/// Hash of bytes; the same on every machine of the same byte order.
[[nodiscard]] Hash128 hash128(const void* data, std::size_t size, std::uint64_t seed = 0) noexcept;
[[nodiscard]] inline Hash128 hash128(std::string_view text, std::uint64_t seed = 0) noexcept {
    return hash128(text.data(), text.size(), seed);
}

} // namespace stithy::runtime

template <>
struct std::hash<stithy::runtime::Hash128> {
    std::size_t operator()(const stithy::runtime::Hash128& h) const noexcept { return static_cast<std::size_t>(h.low); }
};
