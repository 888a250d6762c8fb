#include "ir/text/reader.hpp"

#include "ir/text/locations.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace stithy::ir::text {

namespace {
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }
int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
} // namespace

void Reader::skip_space() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
            while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        } else {
            return;
        }
    }
}

char Reader::peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool Reader::looks_at(std::string_view prefix) {
    skip_space();
    return text_.substr(at_).starts_with(prefix);
}

bool Reader::accept(std::string_view punctuation) {
    if (!looks_at(punctuation)) return false;
    at_ += punctuation.size();
    return true;
}

void Reader::expect(std::string_view punctuation) {
    if (!accept(punctuation)) fail("expected '" + std::string(punctuation) + "', found " + found());
}

bool Reader::accept_word(std::string_view word) {
    if (!looks_at(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
}

void Reader::expect_word(std::string_view word) {
    if (!accept_word(word)) fail("expected '" + std::string(word) + "', found " + found());
}

std::string_view Reader::word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return since(start);
}

std::string_view Reader::expect_name(std::string_view what) {
    const std::string_view name = word();
    if (name.empty()) fail("expected " + std::string(what) + ", found " + found());
    return name;
}

std::string_view Reader::value_name() {
    expect("%");
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) {
        if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') break;
        ++at_;
    }
    if (at_ == start) fail("expected a value's name after '%'");
    return since(start);
}

std::string Reader::symbol() {
    expect("@");
    if (at_ < text_.size() && text_[at_] == '"') return string();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) ++at_;
    if (at_ == start) fail("expected a symbol's name after '@'");
    return std::string(since(start));
}

std::string Reader::string() {
    expect("\"");
    const std::size_t start = at_ - 1;
    std::string value;
    for (;;) {
        const std::size_t stop = text_.find_first_of("\"\\", at_);
        if (stop == std::string_view::npos) fail("string without an end", start);
        value += text_.substr(at_, stop - at_);
        at_ = stop + 1;
        if (text_[stop] == '"') return value;
        if (at_ >= text_.size()) fail("string without an end", start);
        const char c = text_[at_++];
        const int high = hex_digit(c), low = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
        if (c == 'n')
            value += '\n';
        else if (c == 't')
            value += '\t';
        else if (c == '"' || c == '\\')
            value += c;
        else if (high >= 0 && low >= 0) {
            value += static_cast<char>(high * 16 + low);
            ++at_;
        } else {
            fail("unknown escape in a string", at_ - 1);
        }
    }
}

bool Reader::at_number() {
    const char c = peek();
    return is_digit(c) || ((c == '-' || c == '+') && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
}

std::string_view Reader::number() {
    if (!at_number()) fail("expected a number, found " + found());
    const std::size_t start = at_;
    if (!is_digit(text_[at_])) ++at_;
    if (text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X")) {
        at_ += 2;
        while (at_ < text_.size() && hex_digit(text_[at_]) >= 0) ++at_;
        return since(start);
    }
    while (at_ < text_.size()) {
        const char c = text_[at_];
        const bool sign_of_exponent = (c == '-' || c == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign_of_exponent) break;
        ++at_;
    }
    return since(start);
}

std::int64_t Reader::integer() {
    skip_space();
    const std::size_t start = at_;
    std::string_view digits = number();
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
        fail("expected an integer of 64 bits, found '" + std::string(digits) + "'", start);
    return value;
}

void Reader::skip_group() {
    const char first = peek();
    const std::size_t start = at_;
    std::string open;
    if (first != '(' && first != '[' && first != '{' && first != '<') fail("expected a bracket, found " + found());
    do {
        if (at_ >= text_.size()) fail("bracket without an end", start);
        const char c = text_[at_];
        if (c == '"') {
            (void)string();
            continue;
        }
        if (text_.substr(at_).starts_with("//")) {
            skip_space();
            continue;
        }
        ++at_;
        if (c == '(')
            open += ')';
        else if (c == '[')
            open += ']';
        else if (c == '{')
            open += '}';
        else if (c == '<')
            open += '>';
        else if (c == '-' && at_ < text_.size() && text_[at_] == '>')
            ++at_;
        else if (c == ')' || c == ']' || c == '}' || c == '>') {
            if (open.back() != c) fail("brackets do not match", at_ - 1);
            open.pop_back();
        }
    } while (!open.empty());
}

void Reader::skip_location() {
    if (!looks_at("loc") || text_.substr(at_ + 3).find_first_not_of(" \t") == std::string_view::npos) return;
    const std::size_t start = at_;
    if (!accept_word("loc")) return;
    if (peek() == '(')
        skip_group();
    else
        at_ = start;
}

Reader::LineColumn Reader::line_of(std::size_t at) const {
    if (lines_.empty()) {
        lines_.push_back(0);
        for (std::size_t i = 0; i < text_.size(); ++i)
            if (text_[i] == '\n') lines_.push_back(i + 1);
    }
    const auto line = std::prev(std::upper_bound(lines_.begin(), lines_.end(), std::min(at, text_.size())));
    return {static_cast<std::size_t>(line - lines_.begin()) + 1, std::min(at, text_.size()) - *line + 1};
}

std::string Reader::where(std::size_t at) const {
    const LineColumn place = line_of(at);
    return std::string(file_) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

Location Reader::location(std::size_t at) const {
    const LineColumn place = line_of(at);
    return location_in(file_, static_cast<std::uint32_t>(place.line), static_cast<std::uint32_t>(place.column));
}

std::string Reader::found() const {
    if (at_ >= text_.size()) return "the end of the text";
    std::size_t end = at_;
    while (end < text_.size() && end - at_ < 40 && (is_word(text_[end]) || text_[end] == '%' || text_[end] == '@' || text_[end] == '#'))
        ++end;
    const std::string_view piece = text_.substr(at_, std::max<std::size_t>(1, end - at_));
    std::string shown;
    for (char c : piece) shown += c >= ' ' && c <= '~' ? c : '?';
    return "'" + shown + "'";
}

void Reader::fail(std::string_view message, std::size_t at) const { throw Error(where(at) + ": " + std::string(message)); }

void Reader::not_supported(const std::string& thing, std::size_t at) const {
    throw NotSupported(where(at) + ": not supported: " + thing, thing);
}

} // namespace stithy::ir::text
