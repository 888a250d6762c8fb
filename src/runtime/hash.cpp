#include "runtime/hash.hpp"

#include <bit>
#include <cstring>

namespace stithy::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

// Odd words of mixed bits: the first 64 bits of the fractions of square roots of 2, 3, 5, 7, made odd.
constexpr std::uint64_t k0 = 0x6a09e667f3bcc909, k1 = 0xbb67ae8584caa73b, k2 = 0x3c6ef372fe94f82b, k3 = 0xa54ff53a5f1d36f1;

/// The two halves of the full product, folded: every input bit reaches the whole word.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const unsigned char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

struct Lanes {
    std::uint64_t a, b;

    // A factor of zero would wipe out its partner, so each lane also gets the other's word added after the product.
    void mix(std::uint64_t x, std::uint64_t y) {
        const std::uint64_t u = fold(a ^ x, y ^ k0) + std::rotl(y, 29);
        b = fold(b ^ y, x ^ k1) + std::rotl(x, 31) + std::rotl(a, 17);
        a = u ^ b;
    }
};

} // namespace

Hash128 hash128(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    const auto* at = static_cast<const unsigned char*>(data);
    Lanes even{seed ^ k2, std::rotl(seed, 32) ^ k3}, odd{seed + k3, seed ^ k1};
    std::size_t left = size;
    for (; left >= 32; left -= 32, at += 32) { // two chains of products run side by side
        even.mix(load(at), load(at + 8));
        odd.mix(load(at + 16), load(at + 24));
    }
    unsigned char tail[32] = {};
    if (left) std::memcpy(tail, at, left);
    even.mix(load(tail), load(tail + 8));
    odd.mix(load(tail + 16), load(tail + 24));
    even.mix(odd.a, odd.b ^ size); // the length tells a tail of zeros from none
    even.mix(k2 ^ size, k3);
    even.mix(odd.b, k0);
    return {fold(even.a ^ k1, even.b ^ k2), fold(even.b ^ k3, even.a + k0)};
}

std::string Hash128::hex() const {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text(32, '0');
    for (std::size_t i = 0; i < 16; ++i) {
        text[15 - i] = digits[high >> (4 * i) & 15];
        text[31 - i] = digits[low >> (4 * i) & 15];
    }
    return text;
}

} // namespace stithy::runtime
