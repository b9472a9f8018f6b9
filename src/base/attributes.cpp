#include "base/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace ollie {
namespace {

template <typename T>
std::optional<T> find(const Attributes& attributes, std::string_view name) {
    auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    if (const T* value = std::get_if<T>(&found->second)) return *value;
    return std::nullopt;
}

/// Unlike an integer, a float always has a point or an exponent.
std::string float_text(double value) {
    std::string text = number_text(value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

/// An integer has neither point nor exponent, and inf and nan are no integers.
bool peek_is_float(const TextReader& reader) {
    const Token& token = reader.peek(reader.peek().is("-") ? 1 : 0);
    return token.kind == TokenKind::Float || token.kind == TokenKind::Name;
}

template <typename T>
std::vector<T> rest_of_list(TextReader& reader, T (TextReader::*element)()) {
    std::vector<T> elements;
    do elements.push_back((reader.*element)());
    while (reader.accept(","));
    reader.expect("]");
    return elements;
}

struct Writer {
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return float_text(value); }
    std::string operator()(const std::string& value) const { return quoted_text(value); }
    template <typename T>
    std::string operator()(const std::vector<T>& values) const {
        std::string text = "[";
        for (const T& value : values) text += (text.size() > 1 ? ", " : "") + (*this)(value);
        return text + "]";
    }
};

}  // namespace

std::optional<int64_t> find_int(const Attributes& a, std::string_view name) {
    return find<int64_t>(a, name);
}
std::optional<double> find_float(const Attributes& a, std::string_view name) {
    return find<double>(a, name);
}
std::optional<std::string> find_string(const Attributes& a, std::string_view name) {
    return find<std::string>(a, name);
}
std::optional<std::vector<int64_t>> find_ints(const Attributes& a, std::string_view name) {
    return find<std::vector<int64_t>>(a, name);
}
std::optional<std::vector<double>> find_floats(const Attributes& a, std::string_view name) {
    return find<std::vector<double>>(a, name);
}
std::optional<std::vector<std::string>> find_strings(const Attributes& a, std::string_view name) {
    return find<std::vector<std::string>>(a, name);
}

std::string to_text(const Attribute& attribute) { return std::visit(Writer{}, attribute); }

Attribute read_attribute(TextReader& reader) {
    bool is_list = reader.accept("[");
    if (is_list && reader.accept("]")) return std::vector<int64_t>();
    bool is_text = reader.peek().kind == TokenKind::String;
    bool is_real = !is_text && peek_is_float(reader);
    if (is_list && is_text) return rest_of_list(reader, &TextReader::string);
    if (is_list && is_real) return rest_of_list(reader, &TextReader::number);
    if (is_list) return rest_of_list(reader, &TextReader::integer);
    if (is_text) return reader.string();
    if (is_real) return reader.number();
    return reader.integer();
}

}  // namespace ollie
