#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// Rows of bits, for relations between values.
class BitRows {
public:
    BitRows() = default;
    BitRows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}

    [[nodiscard]] bool test(std::size_t row, std::size_t column) const {
        return (bits_[row * words_ + column / 64] >> (column % 64) & 1) != 0;
    }
    void set(std::size_t row, std::size_t column) { bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64); }
    /// Joins row `other` of `from` to a row; both have as many columns.
    void join(std::size_t row, const BitRows& from, std::size_t other) {
        for (std::size_t w = 0; w < words_; ++w) bits_[row * words_ + w] |= from.bits_[other * words_ + w];
    }
    /// Whether two rows have a column in common.
    [[nodiscard]] bool meets(std::size_t row, const BitRows& from, std::size_t other) const {
        for (std::size_t w = 0; w < words_; ++w)
            if ((bits_[row * words_ + w] & from.bits_[other * words_ + w]) != 0) return true;
        return false;
    }
    void clear(std::size_t row) {
        for (std::size_t w = 0; w < words_; ++w) bits_[row * words_ + w] = 0;
    }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
};

/// What each result of a function (or operation) depends on among its parameters (operands), computed once: every question about masks is
/// answered from here, so that analyses of nested regions look at each operation once.
struct Flow {
    std::size_t parameters = 0, results = 0;
    BitRows rows; ///< one for each result; the last for what the ordered operations take

    /// Which results depend on the marked parameters.
    [[nodiscard]] Mask forward(const Mask& marked) const;
    /// Which parameters the marked results, and the ordered operations, depend on.
    [[nodiscard]] Mask backward(const Mask& marked) const;
};

/// Of a function; memoised on it. `differentiable`: only through values that carry tangents, see dependent_results.
const Flow& flow_of(const Function& f, bool differentiable);
/// Of a structured operation: loops at their fixed point, what decides a branch or ends a loop included unless `differentiable`.
Flow flow_of(const Op& op, bool differentiable);

} // namespace stithy::transform
