#include "runtime/hash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using stithy::runtime::Hash128;
using stithy::runtime::hash128;

TEST(Hash, SameBytesSameHash) {
    const std::string text = "stithy kernel text";
    EXPECT_EQ(hash128(text), hash128(std::string(text)));
    EXPECT_NE(hash128(text, 1), hash128(text, 2));
    EXPECT_NE(hash128(""), hash128(std::string_view("\0", 1)));
    alignas(8) char shifted[64];
    std::copy(text.begin(), text.end(), shifted + 3);
    EXPECT_EQ(hash128(shifted + 3, text.size()), hash128(text)); // alignment does not matter
}

TEST(Hash, HexIsThirtyTwoDigits) {
    EXPECT_EQ((Hash128{0x0123456789abcdef, 0xfedcba9876543210}).hex(), "fedcba98765432100123456789abcdef");
    EXPECT_EQ(hash128("x").hex().size(), 32u);
}

TEST(Hash, EveryInputBitReachesEveryOutputBit) {
    std::mt19937_64 random(3);
    for (std::size_t size : std::initializer_list<std::size_t>{1, 7, 8, 16, 24, 31, 32, 33, 64, 100, 200}) {
        const int trials = 400;
        std::vector<std::array<int, 128>> flips(size * 8);
        for (auto& row : flips) row.fill(0);
        for (int trial = 0; trial < trials; ++trial) {
            std::string text(size, '\0');
            for (char& c : text) c = static_cast<char>(random());
            const Hash128 before = hash128(text);
            for (std::size_t bit = 0; bit < size * 8; bit += size > 64 ? 7 : 1) {
                text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
                const Hash128 after = hash128(text);
                text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
                for (std::size_t out = 0; out < 64; ++out) {
                    flips[bit][out] += static_cast<int>((before.low ^ after.low) >> out & 1);
                    flips[bit][64 + out] += static_cast<int>((before.high ^ after.high) >> out & 1);
                }
            }
        }
        // 400 fair coins: standard deviation 10. Seven of them is beyond chance for the 200,000 pairs of the largest case.
        for (std::size_t bit = 0; bit < size * 8; bit += size > 64 ? 7 : 1)
            for (std::size_t out = 0; out < 128; ++out)
                ASSERT_NEAR(flips[bit][out], trials / 2, 70) << size << " bytes, bit " << bit << " -> " << out;
    }
}

TEST(Hash, StructuredInputsDoNotCollide) {
    std::set<std::uint64_t> low, high;
    std::size_t count = 0;
    auto add = [&](std::string_view text) {
        const Hash128 h = hash128(text);
        low.insert(h.low);
        high.insert(h.high);
        ++count;
    };
    for (std::size_t zeros = 0; zeros < 300; ++zeros) add(std::string(zeros, '\0'));
    for (int i = 0; i < 30000; ++i) add("kernel " + std::to_string(i) + " of a program with a long common beginning and end");
    for (std::size_t a = 0; a < 200; ++a) // two bits set in 200 zero bytes
        for (std::size_t b = 0; b < a; ++b) {
            std::string text(200, '\0');
            text[a] = 1;
            text[b] = static_cast<char>(0x80);
            add(text);
        }
    EXPECT_EQ(low.size(), count); // even 64 of the bits do not collide among so few
    EXPECT_EQ(high.size(), count);
}

TEST(Hash, StaysTheSame) {
    // Keys on disk outlive a build: a change of the function must be noticed.
    EXPECT_EQ(hash128("stithy").hex(), "57c294211285910e488d9d352ed45fc9");
}

} // namespace
