#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"

namespace ollie {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The end of the identifier that begins here.
size_t end_of_name(std::string_view text, size_t at) {
    while (at < text.size()) {
        bool joins = text[at] == '.' && at + 1 < text.size() && is_name_part(text[at + 1]);
        if (!is_name_part(text[at]) && !joins) break;
        ++at;
    }
    return at;
}

size_t end_of_digits(std::string_view text, size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

size_t end_of_number(std::string_view text, size_t at, TokenKind& kind) {
    kind = TokenKind::Integer;
    at = end_of_digits(text, at);
    if (at < text.size() && text[at] == '.' && !text.substr(at).starts_with("..")) {
        kind = TokenKind::Float;
        at = end_of_digits(text, at + 1);
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        size_t digits = at + 1;
        if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
        if (digits < text.size() && is_digit(text[digits])) {
            kind = TokenKind::Float;
            at = end_of_digits(text, digits);
        }
    }
    return at;
}

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// What stands between the quotation marks.
std::string unquoted(std::string_view token) {
    std::string result;
    for (size_t i = 1; i + 1 < token.size(); ++i) {
        char c = token[i];
        if (c == '\\') {
            c = token[++i];
            if (c == 'n') c = '\n';
            if (c == 't') c = '\t';
            if (c == 'x' && i + 3 < token.size()) {
                c = static_cast<char>(hex_digit(token[i + 1]) * 16 + hex_digit(token[i + 2]));
                i += 2;
            }
        }
        result += c;
    }
    return result;
}

std::string description(const Token& token) {
    return token.kind == TokenKind::End ? "the end of the text" : fmt::format("'{}'", token.text);
}

}  // namespace

bool is_identifier(std::string_view name) {
    return !name.empty() && is_name_start(name.front()) && end_of_name(name, 0) == name.size();
}

std::string quoted_text(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            result += {'\\', c};
        else if (c == '\n')
            result += "\\n";
        else if (c == '\t')
            result += "\\t";
        else if (static_cast<unsigned char>(c) < 32)
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            result += c;
    }
    return result + '"';
}

std::string name_text(std::string_view name) {
    return is_identifier(name) ? std::string(name) : quoted_text(name);
}

std::string number_text(double value) {
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

TextReader::TextReader(std::string_view text) : text_(text) { split(); }

size_t TextReader::end_of_token(size_t begin, TokenKind& kind) const {
    static constexpr std::array<std::string_view, 6> long_symbols{
        "..", "->", "<=", ">=", "==", "!="};
    char c = text_[begin];
    if (is_name_start(c)) {
        kind = TokenKind::Name;
        return end_of_name(text_, begin);
    }
    if (is_digit(c)) return end_of_number(text_, begin, kind);
    if (c == '"') {
        kind = TokenKind::String;
        size_t at = begin + 1;
        while (at < text_.size() && text_[at] != '"' && text_[at] != '\n')
            at += text_[at] == '\\' ? 2 : 1;
        if (at >= text_.size() || text_[at] != '"')
            throw_user_error("{}: a string without its closing quotation mark", place_of(begin));
        return at + 1;
    }
    kind = TokenKind::Symbol;
    for (std::string_view symbol : long_symbols)
        if (text_.substr(begin).starts_with(symbol)) return begin + symbol.size();
    return begin + 1;
}

void TextReader::split() {
    bool starts_line = true;
    for (size_t at = 0; at < text_.size();) {
        char c = text_[at];
        if (is_space(c)) {
            starts_line = starts_line || c == '\n';
            ++at;
        } else if (c == '#') {
            while (at < text_.size() && text_[at] != '\n') ++at;
        } else {
            Token token{TokenKind::End, {}, at, starts_line};
            size_t end = end_of_token(at, token.kind);
            token.text = text_.substr(at, end - at);
            tokens_.push_back(token);
            starts_line = false;
            at = end;
        }
    }
    tokens_.push_back({TokenKind::End, {}, text_.size(), true});
}

const Token& TextReader::peek(size_t ahead) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& TextReader::next() {
    const Token& token = peek();
    if (token.kind != TokenKind::End) ++position_;
    return token;
}

bool TextReader::accept(std::string_view symbol_or_name) {
    if (!peek().is(symbol_or_name)) return false;
    ++position_;
    return true;
}

void TextReader::expect(std::string_view symbol_or_name) {
    if (!accept(symbol_or_name)) fail_expected(fmt::format("'{}'", symbol_or_name));
}

bool TextReader::peek_is_name() const {
    return peek().kind == TokenKind::Name || peek().kind == TokenKind::String;
}

std::string TextReader::name() {
    if (!peek_is_name()) fail_expected("a name");
    return peek().kind == TokenKind::String ? string() : std::string(next().text);
}

std::string TextReader::string() {
    if (peek().kind != TokenKind::String) fail_expected("a string");
    return unquoted(next().text);
}

int64_t TextReader::integer() {
    bool negative = accept("-");
    if (peek().kind != TokenKind::Integer) fail_expected("an integer");
    std::string_view digits = peek().text;
    uint64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    uint64_t limit =
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
    if (error != std::errc() || value > limit) fail_expected("an integer of 64 bits");
    next();
    return static_cast<int64_t>(negative ? 0 - value : value);
}

double TextReader::number() {
    double sign = accept("-") ? -1 : 1;
    if (accept("inf")) return sign * std::numeric_limits<double>::infinity();
    if (accept("nan")) return std::numeric_limits<double>::quiet_NaN();
    if (peek().kind != TokenKind::Integer && peek().kind != TokenKind::Float)
        fail_expected("a number");
    std::string_view digits = next().text;
    double value = 0;
    auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc::result_out_of_range)
        value = std::strtod(std::string(digits).c_str(), nullptr);
    return sign * value;
}

void TextReader::fail_expected(std::string_view expected) const {
    throw_user_error("{}: found {}, expected {}", place_of(peek().offset), description(peek()),
                     expected);
}

void TextReader::fail_at(size_t position, std::string_view message) const {
    throw_user_error("{}: {}", place_of(tokens_[std::min(position, tokens_.size() - 1)].offset),
                     message);
}

std::string TextReader::place_of(size_t offset) const {
    std::string_view before = text_.substr(0, offset);
    auto line = std::count(before.begin(), before.end(), '\n') + 1;
    size_t line_start = before.rfind('\n');
    size_t column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
    return fmt::format("line {}, column {}", line, column);
}

}  // namespace ollie
