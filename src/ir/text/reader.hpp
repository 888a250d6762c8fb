#pragma once
#include "ir/text/text.hpp"

#include <cstdint>
#include <vector>

namespace stithy::ir::text {

/// Reads MLIR's lexical elements straight from characters (a lexer's tokens would split `tensor<0x4xi64>` wrongly). Blanks and comments
/// before an element are skipped.
class Reader {
public:
    Reader(std::string_view text, std::string_view file_name) : text_(text), file_(file_name) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    void go_to(std::size_t at) { at_ = at; }
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] std::string_view since(std::size_t start) const { return text_.substr(start, at_ - start); }

    void skip_space();
    /// The next character after blanks; 0 at the end.
    [[nodiscard]] char peek();
    /// Whether the punctuation (or word prefix) comes next; consumes it.
    bool accept(std::string_view punctuation);
    void expect(std::string_view punctuation);
    /// Whether this whole word comes next; consumes it.
    bool accept_word(std::string_view word);
    void expect_word(std::string_view word);
    [[nodiscard]] bool looks_at(std::string_view prefix);

    /// letters, digits, `_`, `$`, `.` (and `-` where asked); empty when none is next.
    std::string_view word();
    /// As word, but it must be there; `what` is for the message.
    std::string_view expect_name(std::string_view what);
    /// After a sigil (`%`, `@`, `^`, `#`, `!`): the suffix. `@"quoted"` is unquoted.
    std::string_view value_name();
    std::string symbol();
    std::string string();
    std::int64_t integer();
    [[nodiscard]] bool at_number();
    /// A number as written: -12, 1.5e-3, 0x7FC0.
    std::string_view number();
    /// Skips a balanced group that begins with the next bracket; strings and `->` inside are respected.
    void skip_group();
    /// Skips `loc(...)` when it is next.
    void skip_location();

    /// "file:line:column: text".
    [[noreturn]] void fail(std::string_view message, std::size_t at) const;
    [[noreturn]] void fail(std::string_view message) const { fail(message, at_); }
    [[noreturn]] void not_supported(const std::string& thing, std::size_t at) const;
    [[nodiscard]] std::string where(std::size_t at) const;
    /// The place as the location of an operation.
    [[nodiscard]] Location location(std::size_t at) const;
    /// What stands at the place, for messages: 'sine' or end of the text.
    [[nodiscard]] std::string found() const;

private:
    struct LineColumn {
        std::size_t line, column;
    };
    [[nodiscard]] LineColumn line_of(std::size_t at) const;
    std::string_view text_, file_;
    std::size_t at_ = 0;
    mutable std::vector<std::size_t> lines_; ///< where each line begins, once somebody asks
};

} // namespace stithy::ir::text
