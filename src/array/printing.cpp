#include "stithy/printing.hpp"

#include "array/bind.hpp"
#include "array/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

namespace stithy {

using detail::node;

namespace {
constexpr std::int64_t threshold = 1000; // more elements than this are elided
constexpr std::int64_t edge = 3;         // how many stay at either side
constexpr std::size_t line_width = 100;

/// The elements that are printed, as text of one width.
class Elements {
public:
    Elements(DType dtype, const Shape& shape, const std::byte* data)
        : dtype_(dtype), shape_(shape), data_(data), elide_(shape.elements() > threshold) {
        std::vector<std::int64_t> shown;
        collect(0, 0, shown);
        if (dtype_.is_floating()) choose_format(shown);
        for (std::int64_t i : shown) width_ = std::max(width_, raw(i).size());
    }
    [[nodiscard]] bool elided(std::int64_t extent) const { return elide_ && extent > 2 * edge; }
    [[nodiscard]] std::string text(std::int64_t i) const {
        std::string t = raw(i);
        return std::string(width_ - std::min(width_, t.size()), ' ') + t;
    }

private:
    void collect(std::size_t axis, std::int64_t offset, std::vector<std::int64_t>& shown) const {
        if (axis == shape_.rank()) {
            shown.push_back(offset);
            return;
        }
        for (std::int64_t i = 0; i < shape_[axis]; ++i) {
            if (elided(shape_[axis]) && i == edge) i = shape_[axis] - edge;
            collect(axis + 1, offset * shape_[axis] + i, shown);
        }
    }

    [[nodiscard]] std::uint64_t bits(std::int64_t i) const {
        std::uint64_t b = 0;
        std::memcpy(&b, data_ + static_cast<std::size_t>(i) * dtype_.size(), dtype_.size());
        return b;
    }
    [[nodiscard]] double number(std::int64_t i) const {
        return dtype_ == f32 ? static_cast<double>(detail::from_bits<float>(bits(i))) : detail::from_bits<double>(bits(i));
    }

    /// NumPy's choice: exponents where the numbers are large, tiny or far apart; else as many decimals as the longest number needs, at
    /// most 8.
    void choose_format(const std::vector<std::int64_t>& shown) {
        double high = 0, low = INFINITY;
        for (std::int64_t i : shown) {
            const double a = std::abs(number(i));
            if (!std::isfinite(a) || a == 0) continue;
            high = std::max(high, a);
            low = std::min(low, a);
        }
        scientific_ = high >= 1e8 || (high > 0 && (low < (dtype_ == f32 ? static_cast<double>(1e-4F) : 1e-4) || high / low > 1000.0));
        if (high >= 1e16) scientific_ = true;
        for (std::int64_t i : shown)
            if (std::isfinite(number(i))) decimals_ = std::max(decimals_, static_cast<int>(Digits(*this, i).fraction.size()));
    }

    static constexpr int most_decimals = 8;

    [[nodiscard]] std::string formatted(std::int64_t i, bool shortest) const {
        char text[400]; // of f64's largest number, if it came to that
        const auto format = scientific_ ? std::chars_format::scientific : std::chars_format::fixed;
        const auto write = [&](auto v) {
            const auto end = shortest ? std::to_chars(text, text + sizeof text, v, format)
                                      : std::to_chars(text, text + sizeof text, v, format, most_decimals);
            return std::string(text, end.ptr);
        };
        return dtype_ == f32 ? write(static_cast<float>(number(i))) : write(number(i));
    }

    /// A finite number in the shortest digits that tell it from its neighbours in its own dtype, at most 8 decimals: "12", "5", "e+20".
    struct Digits {
        std::string whole, fraction, exponent;
        Digits(const Elements& elements, std::int64_t i) {
            split(elements.formatted(i, true));
            if (fraction.size() > most_decimals) split(elements.formatted(i, false));
            fraction.erase(fraction.find_last_not_of('0') + 1);
        }

    private:
        void split(const std::string& text) {
            const std::size_t e = std::min(text.find('e'), text.size()), dot = std::min(text.find('.'), e);
            whole = text.substr(0, dot);
            fraction = dot < e ? text.substr(dot + 1, e - dot - 1) : "";
            exponent = text.substr(e);
        }
    };

    [[nodiscard]] std::string raw(std::int64_t i) const {
        if (!dtype_.is_floating()) return detail::element_text(dtype_, bits(i));
        const double v = number(i);
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
        Digits d(*this, i);
        // zeros before an exponent, else spaces, so that the points stand in one column
        d.fraction.resize(static_cast<std::size_t>(decimals_), scientific_ ? '0' : ' ');
        return d.whole + '.' + d.fraction + d.exponent;
    }

    DType dtype_;
    const Shape& shape_;
    const std::byte* data_;
    bool elide_, scientific_ = false;
    int decimals_ = 0;
    std::size_t width_ = 0;
};

/// Brackets, one level an axis; rows wrap at the line width.
void write(std::string& out, const Elements& elements, const Shape& shape, std::size_t axis, std::int64_t offset, std::size_t indent) {
    if (axis == shape.rank()) {
        out += elements.text(offset);
        return;
    }
    const std::int64_t extent = shape[axis];
    const bool innermost = axis + 1 == shape.rank();
    std::size_t line_start = out.size() - indent;
    const auto separate = [&](std::size_t next) {
        if (!innermost) {
            out += std::string(shape.rank() - axis - 1, '\n') + std::string(indent + 1, ' ');
        } else if (out.size() - line_start + 1 + next > line_width) {
            out += '\n';
            line_start = out.size();
            out += std::string(indent + 1, ' ');
        } else
            out += ' ';
    };
    out += '[';
    for (std::int64_t i = 0; i < extent; ++i) {
        if (i > 0) separate(innermost ? elements.text(offset * extent + i).size() : 0);
        if (elements.elided(extent) && i == edge) {
            out += "...";
            i = extent - edge;
            separate(0);
        }
        write(out, elements, shape, axis + 1, offset * extent + i, indent + 1);
    }
    out += ']';
}
} // namespace

std::string repr(const Array& x) {
    if (!x.defined()) return "(empty array)";
    const detail::ArrayNode& n = node(x);
    std::string header = n.type().str();
    if (n.trace()) {
        if (!n.trace()->alive()) return header + " of a trace that has ended (" + n.trace()->name() + ")";
        const Array* at = &x;
        while (node(*at).traced() && node(*at).below().defined()) at = &node(*at).below();
        if (node(*at).traced()) return header + " traced (" + node(*at).trace()->name() + ")";
    }
    const Array& concrete = detail::bottom(x, "printing", Location());
    const detail::ArrayNode& values = node(concrete);
    values.buffer()->wait();
    std::string text = header + " " + values.device().str() + "\n";
    const Elements elements(values.dtype(), values.shape(), static_cast<const std::byte*>(values.buffer()->data()));
    if (values.shape().elements() == 0) return text + "[]";
    write(text, elements, values.shape(), 0, 0, 0);
    return text;
}

std::ostream& operator<<(std::ostream& out, const Array& x) { return out << repr(x) << '\n'; }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype.name(); }
std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

} // namespace stithy
