#include "ir/text/dense.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace stithy::ir::text {

namespace {
constexpr std::int64_t max_listed = 100; // elements; more are written as hex

class Decoder {
public:
    Decoder(const Reader& reader, std::size_t begin, std::size_t end, const Type& type)
        : reader_(reader), text_(reader.text()), at_(begin), end_(end), type_(type), size_(type.dtype().size()) {}

    Literal decode() {
        skip();
        if (at_ == end_) {
            if (type_.elements() != 0) fail("dense<> needs elements for " + type_.text());
            return Literal::splat_bits(type_, 0);
        }
        if (text_[at_] == '"') return hex();
        if (text_[at_] == '[') return nested();
        const std::uint64_t bits = element();
        skip();
        if (at_ != end_) fail("one element expected in dense<...>");
        return type_.elements() == 0 ? Literal::splat_bits(type_, 0) : Literal::splat_bits(type_, bits);
    }

private:
    [[noreturn]] void fail(std::string_view message) const { reader_.fail(message, at_); }

    void skip() {
        while (at_ < end_ && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    }

    /// Nested lists whose lengths must be the type's extents.
    Literal nested() {
        const std::size_t rank = type_.rank();
        std::vector<std::int64_t> counts(rank + 1, 0);
        std::vector<std::byte> bytes(static_cast<std::size_t>(type_.bytes()));
        std::size_t depth = 0, written = 0;
        bool after_item = false; // a comma or bracket must follow
        for (skip(); at_ < end_; skip()) {
            const char c = text_[at_];
            if (c == ',') {
                if (!after_item || depth == 0) fail("unexpected ',' in dense<...>");
                after_item = false;
                ++at_;
            } else if (c == '[') {
                if (depth == rank || after_item || (depth == 0 && written != 0)) fail("lists do not have the shape of " + type_.text());
                counts[++depth] = 0;
                ++at_;
            } else if (c == ']') {
                if (depth == 0 || counts[depth] != type_.shape()[depth - 1])
                    fail("a list does not have the length that " + type_.text() + " says");
                --depth;
                ++counts[depth];
                after_item = true;
                ++at_;
            } else {
                if (depth != rank || after_item || written + size_ > bytes.size()) fail("lists do not have the shape of " + type_.text());
                const std::uint64_t bits = element();
                std::memcpy(bytes.data() + written, &bits, size_);
                written += size_;
                ++counts[depth];
                after_item = true;
            }
        }
        if (depth != 0 || written != bytes.size()) fail("lists do not have the shape of " + type_.text());
        return Literal::dense(type_, std::move(bytes));
    }

    std::uint64_t element() {
        const std::size_t start = at_;
        while (at_ < end_ && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != ' ' && text_[at_] != '\n') ++at_;
        std::string_view word = text_.substr(start, at_ - start);
        const DType dtype = type_.dtype();
        if (word == "true" || word == "false") {
            if (!dtype.is_bool()) reader_.fail("'" + std::string(word) + "' is no element of " + type_.text(), start);
            return word == "true" ? 1 : 0;
        }
        bool negative = false;
        if (!word.empty() && (word[0] == '-' || word[0] == '+')) {
            negative = word[0] == '-';
            word.remove_prefix(1);
        }
        std::uint64_t bits = 0;
        const bool good = dtype.is_floating() ? real(word, negative, bits) : whole(word, negative, bits);
        if (!good)
            reader_.fail("'" + std::string(text_.substr(start, std::min<std::size_t>(at_ - start, 40))) + "' is no element of " +
                             type_.text(),
                         start);
        return bits;
    }

    static bool digits(std::string_view word, std::uint64_t& value) {
        int base = 10;
        if (word.starts_with("0x") || word.starts_with("0X")) {
            word.remove_prefix(2);
            base = 16;
        }
        auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
        return error == std::errc() && stop == word.data() + word.size();
    }

    bool whole(std::string_view word, bool negative, std::uint64_t& bits) const {
        const DType dtype = type_.dtype();
        if (!digits(word, bits)) return false;
        const std::uint64_t all = dtype.bits() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << dtype.bits()) - 1;
        const std::uint64_t limit = negative ? (dtype.is_signed() ? std::uint64_t{1} << (dtype.bits() - 1) : 0) : all;
        if (bits > limit) return false;
        if (negative) bits = (0 - bits) & all;
        return true;
    }

    bool real(std::string_view word, bool negative, std::uint64_t& bits) const {
        const bool wide = type_.dtype() == f64;
        if (word.starts_with("0x") || word.starts_with("0X")) { // the bits
            return !negative && digits(word, bits) && (wide || bits <= 0xFFFFFFFFu);
        }
        if (word.empty() || word[0] < '0' || word[0] > '9') return false;
        return wide ? real_of<double>(word, negative, bits) : real_of<float>(word, negative, bits);
    }

    template <class T>
    static bool real_of(std::string_view word, bool negative, std::uint64_t& bits) {
        T value{};
        auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (stop != word.data() + word.size()) return false;
        if (error == std::errc::result_out_of_range) {
            const std::string copy(word); // too large or too small: C's functions give infinity or zero
            if constexpr (sizeof(T) == 8)
                value = std::strtod(copy.c_str(), nullptr);
            else
                value = std::strtof(copy.c_str(), nullptr);
        } else if (error != std::errc()) {
            return false;
        }
        if (negative) value = -value;
        bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return true;
    }

    static int nibble(char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return -1;
    }

    Literal hex() {
        const std::size_t close = text_.find('"', at_ + 1);
        if (close == std::string_view::npos || close >= end_) fail("string without an end");
        std::string_view digits_text = text_.substr(at_ + 1, close - at_ - 1);
        if (!digits_text.starts_with("0x") || digits_text.size() % 2 != 0) reader_.not_supported("tensors of strings", at_);
        digits_text.remove_prefix(2);
        std::vector<std::byte> bytes(digits_text.size() / 2);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const int high = nibble(digits_text[2 * i]), low = nibble(digits_text[2 * i + 1]);
            if (high < 0 || low < 0) reader_.fail("not a hex digit", at_ + 3 + 2 * i);
            bytes[i] = static_cast<std::byte>(high * 16 + low);
        }
        const auto n = static_cast<std::size_t>(type_.elements());
        if (bytes.size() == n * size_) {
            if (type_.dtype().is_bool()) normalise(bytes);
            return Literal::dense(type_, std::move(bytes));
        }
        if (bytes.size() == size_) { // one element: a splat
            std::uint64_t bits = 0;
            std::memcpy(&bits, bytes.data(), size_);
            if (type_.dtype().is_bool()) bits = bits != 0;
            return Literal::splat_bits(type_, bits);
        }
        if (type_.dtype().is_bool() && bytes.size() == (n + 7) / 8) return unpack(bytes, n);
        fail("the hex string has " + std::to_string(bytes.size()) + " bytes, " + type_.text() + " needs " + std::to_string(n * size_));
    }

    static void normalise(std::vector<std::byte>& bools) {
        for (std::byte& b : bools) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
    }

    /// Older texts pack bools, eight in a byte.
    Literal unpack(const std::vector<std::byte>& packed, std::size_t n) const {
        std::vector<std::byte> bools(n);
        for (std::size_t i = 0; i < n; ++i) bools[i] = (packed[i / 8] >> (i % 8)) & std::byte{1};
        return Literal::dense(type_, std::move(bools));
    }

    const Reader& reader_;
    std::string_view text_;
    std::size_t at_, end_;
    const Type& type_;
    std::size_t size_;
};

std::string element_text(DType dtype, std::uint64_t bits) {
    if (dtype.is_bool()) return bits != 0 ? "true" : "false";
    if (dtype.is_floating()) return float_text(dtype, bits);
    if (dtype.is_unsigned()) return std::to_string(bits);
    return std::to_string(static_cast<std::int64_t>(bits << (64 - dtype.bits())) >> (64 - dtype.bits()));
}

std::string hex_text(const Literal& literal) {
    static constexpr char digit[] = "0123456789ABCDEF";
    std::string text = "\"0x";
    text.reserve(literal.bytes().size() * 2 + 4);
    for (std::byte b : literal.bytes()) {
        text += digit[static_cast<unsigned>(b) >> 4];
        text += digit[static_cast<unsigned>(b) & 15];
    }
    return text + "\"";
}
} // namespace

Literal decode_dense(const Reader& reader, std::size_t begin, std::size_t end, const Type& type) {
    while (end > begin && (reader.text()[end - 1] == ' ' || reader.text()[end - 1] == '\n')) --end;
    return Decoder(reader, begin, end, type).decode();
}

std::string float_text(DType dtype, std::uint64_t bits) {
    const double value =
        dtype == f64 ? std::bit_cast<double>(bits) : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    char buffer[40];
    if (!std::isfinite(value)) {
        auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, bits, 16);
        std::string digits(buffer, stop);
        for (char& c : digits) c = static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
        return "0x" + std::string(static_cast<std::size_t>(dtype.bits()) / 4 - digits.size(), '0') + digits;
    }
    const auto result = dtype == f64
                            ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific)
                            : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), std::chars_format::scientific);
    std::string text(buffer, result.ptr);
    if (text.find('.') == std::string::npos) text.insert(text.find('e'), ".0"); // MLIR's floats have a dot
    return text;
}

std::string dense_text(const Literal& literal) {
    const Type& type = literal.type();
    const std::int64_t n = type.elements();
    if (n == 0) return "dense<>";
    if (literal.is_splat()) return "dense<" + element_text(type.dtype(), literal.bits()) + ">";
    if (n > max_listed) return "dense<" + hex_text(literal) + ">";
    std::string text = "dense<";
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t inner = 1; // brackets open and close where the index is a multiple of the inner extents
        std::string opening, closing;
        for (std::size_t axis = type.rank(); axis-- > 0;) {
            inner *= type.shape()[axis];
            if (i % inner == 0) opening += "[";
            if ((i + 1) % inner == 0) closing += "]";
        }
        text += (i != 0 ? ", " : "") + opening + element_text(type.dtype(), literal.element_bits(i)) + closing;
    }
    return text + ">";
}

} // namespace stithy::ir::text
