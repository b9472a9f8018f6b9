#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Reading and writing of the text forms: one lexer for all languages.
namespace ollie {

/// A name is an identifier if it is [A-Za-z_][A-Za-z0-9_]*, repeated with single points between
/// ("conv1.weight").
bool is_identifier(std::string_view);
/// The text in quotation marks, with \" \\ \n \t and \xNN.
std::string quoted_text(std::string_view);
/// The name as it is if it is an identifier, else quoted.
std::string name_text(std::string_view);
/// The shortest text that reads back as the same double: 1, 0.1, 1e+30, -0, inf, nan.
std::string number_text(double);

enum class TokenKind { End, Name, String, Integer, Float, Symbol };

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;  ///< As written; a string with its quotation marks.
    size_t offset = 0;
    bool starts_line = false;  ///< The first token of its line.

    bool is(std::string_view symbol_or_name) const {
        return (kind == TokenKind::Symbol || kind == TokenKind::Name) && text == symbol_or_name;
    }
};

/// Splits text into tokens and hands them out in order. Numbers have no sign. The symbols of more
/// than one character are .. -> <= >= == !=, any other character is one of its own. Space, line
/// breaks and comments (from # to the end of the line) separate tokens and are no tokens. Errors:
/// UserError with line, column, what was found and what was expected. The text must outlive the
/// reader.
class TextReader {
public:
    explicit TextReader(std::string_view text);

    bool at_end() const { return peek().kind == TokenKind::End; }
    /// The token that many places ahead.
    const Token& peek(size_t ahead = 0) const;
    const Token& next();
    /// Consumes the token if it is this symbol or this unquoted name.
    bool accept(std::string_view symbol_or_name);
    void expect(std::string_view symbol_or_name);
    bool peek_is_name() const;
    /// An identifier or a quoted string, unquoted.
    std::string name();
    /// A quoted string, unquoted.
    std::string string();
    /// With an optional sign.
    int64_t integer();
    /// With an optional sign; an integer, a decimal, inf or nan.
    double number();

    /// For trying one reading and then another.
    size_t position() const { return position_; }
    void rewind(size_t position) { position_ = position; }

    [[noreturn]] void fail_expected(std::string_view expected) const;
    /// An error at the token at this position.
    [[noreturn]] void fail_at(size_t position, std::string_view message) const;

private:
    std::string place_of(size_t offset) const;
    void split();
    size_t end_of_token(size_t begin, TokenKind& kind) const;

    std::string_view text_;
    std::vector<Token> tokens_;
    size_t position_ = 0;
};

}  // namespace ollie
