#pragma once
#include "stithy/array.hpp"

#include <concepts>
#include <cstdint>
#include <source_location>

namespace stithy {

namespace detail {
template <class T>
concept PlainInteger = std::integral<T> && !std::same_as<T, bool>;

/// A place along an axis, from its beginning or (`end - 1`) from its end.
struct Place {
    std::int64_t value = 0;
    bool from_end = false;
    template <PlainInteger T>
    constexpr Place(T v) : value(static_cast<std::int64_t>(v)) {}
    constexpr Place(std::int64_t v, bool counted_from_end) : value(v), from_end(counted_from_end) {}
};
} // namespace detail

/// The end of an axis: `range(1, end)`, `range(0, end - 1)`, `x(end - 1)`.
struct End {
    std::int64_t offset = 0;
    constexpr operator detail::Place() const { return {offset, true}; }
    friend constexpr End operator-(End e, std::int64_t n) { return {e.offset - n}; }
    friend constexpr End operator+(End e, std::int64_t n) { return {e.offset + n}; }
};
inline constexpr End end{};

/// The half-open range from `start` to `stop` (not included) in steps; negative places count from the end.
struct Range {
    detail::Place start, stop;
    std::int64_t step = 1;
};
template <detail::PlainInteger S = int>
[[nodiscard]] constexpr Range range(detail::Place start, detail::Place stop, S step = 1) {
    return {start, stop, static_cast<std::int64_t>(step)};
}

struct NewAxis {};
struct Ellipsis {};
/// A new axis of extent 1 in this place.
inline constexpr NewAxis newaxis{};
/// As many `all` as are missing.
inline constexpr Ellipsis ellipsis{};

class All; // reductions.hpp: `all` is an index and, as `all(x)`, a reduction

/// One index of `x(...)`: an integer (negative: from the end), `end - 1`, a range, `all`, `newaxis`, `ellipsis`, or an Array of integers.
class Index {
public:
    enum class Kind : std::uint8_t { none, integer, range, all, new_axis, dots, array };

    template <detail::PlainInteger T>
    Index(T i, std::source_location location = std::source_location::current())
        : kind_(Kind::integer), range_{static_cast<std::int64_t>(i), 0}, location_(location) {}
    Index(End place, std::source_location location = std::source_location::current())
        : kind_(Kind::integer), range_{place, 0}, location_(location) {}
    Index(const Range& range, std::source_location location = std::source_location::current())
        : kind_(Kind::range), range_(range), location_(location) {}
    Index(const All&, std::source_location location = std::source_location::current()) : kind_(Kind::all), location_(location) {}
    Index(NewAxis, std::source_location location = std::source_location::current()) : kind_(Kind::new_axis), location_(location) {}
    Index(Ellipsis, std::source_location location = std::source_location::current()) : kind_(Kind::dots), location_(location) {}
    Index(Array indices, std::source_location location = std::source_location::current())
        : kind_(Kind::array), array_(std::move(indices)), location_(location) {}

    [[nodiscard]] Kind kind() const { return kind_; }
    /// The integer stands in `start`.
    [[nodiscard]] const Range& range() const { return range_; }
    [[nodiscard]] const Array& array() const { return array_; }
    [[nodiscard]] const std::source_location& location() const { return location_; }

private:
    friend const Index& detail::no_index() noexcept;
    Index() = default;
    Kind kind_ = Kind::none;
    Range range_{0, 0};
    Array array_;
    std::source_location location_;
};

/// What `x.at(...)` gives: each function makes an array of x's dtype and shape that differs from x in that place. Where array indices are
/// out of range, updates are dropped.
class Update {
public:
    Update(Array x, std::span<const Index* const> indices);

    /// With `value` there. Error, of each, for a value that does not broadcast to the place, or indices that `x(...)` refuses.
    [[nodiscard]] Array set(const Operand& value) &&;
    /// With `value` added; places that are named several times get it several times.
    [[nodiscard]] Array add(const Operand& value) &&;
    /// With `value` taken away.
    [[nodiscard]] Array subtract(const Operand& value) &&;
    /// Multiplied by `value`.
    [[nodiscard]] Array multiply(const Operand& value) &&;
    /// Divided by `value`. Error for a dtype that is not floating.
    [[nodiscard]] Array divide(const Operand& value) &&;
    /// The lesser of what was there and `value`.
    [[nodiscard]] Array min(const Operand& value) &&;
    /// The greater of what was there and `value`.
    [[nodiscard]] Array max(const Operand& value) &&;
    /// The present value there, as `x(...)`.
    [[nodiscard]] Array get() const;

private:
    Array x_;
    std::vector<Index> indices_;
};

} // namespace stithy
