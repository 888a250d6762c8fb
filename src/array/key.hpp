#pragma once
#include "base/small_vector.hpp"
#include "ir/function.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace stithy::detail {

/// A cache key under construction: words that say everything that the program depends on, and their hash.
class Key {
public:
    void add(std::uint64_t word) { words_.push_back(word); }
    void add(std::int64_t word) { words_.push_back(static_cast<std::uint64_t>(word)); }
    void add(const Dims& dims) {
        add(static_cast<std::uint64_t>(dims.size()));
        for (std::int64_t d : dims) add(d);
    }
    /// A tensor type, with room for flags of the caller's own.
    void add(DType dtype, const Shape& shape, std::uint64_t flags = 0) {
        add(static_cast<std::uint64_t>(dtype.code()) | shape.rank() << 8 | flags << 32);
        for (std::int64_t d : shape) add(d);
    }
    void add(std::string_view text);
    void add(const ir::Attr& attr);
    /// All that a function is, its regions' regions too, and the lines that its operations name.
    void add(const ir::Function& function);

    [[nodiscard]] std::uint64_t hash() const {
        std::uint64_t h = 0x9e3779b97f4a7c15u;
        for (std::uint64_t w : words_) {
            h = (h ^ w) * 0xd6e8feb86659fd93u;
            h ^= h >> 32;
        }
        return h;
    }
    [[nodiscard]] std::span<const std::uint64_t> words() const { return {words_.data(), words_.size()}; }

private:
    SmallVector<std::uint64_t, 40> words_;
};

} // namespace stithy::detail
