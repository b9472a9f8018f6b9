#include "expr/index_parser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "expr/build.h"

namespace ollie::expr {
namespace {

constexpr int deepest = 1000;
constexpr std::array<std::string_view, 6> relations{"<", "<=", ">", ">=", "==", "!="};

bool is_relation(const Token& token) {
    return token.kind == TokenKind::Symbol &&
           std::find(relations.begin(), relations.end(), token.text) != relations.end();
}

bool is_connective(const Token& token) {
    return token.kind == TokenKind::Name &&
           (token.text == "and" || token.text == "or" || token.text == "not" ||
            token.text == "true" || token.text == "false");
}

}  // namespace

DepthGuard::DepthGuard(int& depth, const TextReader& reader) : depth_(depth) {
    if (depth_ >= deepest)
        reader.fail_at(reader.position(), fmt::format("nested more than {} deep", deepest));
    ++depth_;
}

ElementType parse_type(TextReader& reader) {
    auto type = element_type_of(reader.peek().text);
    if (!type) reader.fail_expected("an element type (f32, f64, i8, ..., u64, bool)");
    reader.next();
    return *type;
}

Iterator IteratorScope::push(const std::string& name) {
    if (find(name))
        reader_.fail_at(reader_.position() - 1,
                        fmt::format("an iterator '{}' is in scope already", name));
    iterators_.push_back(arena_.iterator(name));
    return iterators_.back();
}

std::optional<Iterator> IteratorScope::find(std::string_view name) const {
    for (auto it = iterators_.rbegin(); it != iterators_.rend(); ++it)
        if ((*it)->name == name) return *it;
    return std::nullopt;
}

Index IndexParser::index() {
    DepthGuard guard(depth_, reader_);
    Index result = reader_.accept("-") ? -term() : term();
    while (true) {
        if (reader_.accept("+"))
            result = result + term();
        else if (reader_.accept("-"))
            result = result - term();
        else
            return result;
    }
}

Index IndexParser::term() {
    Index result = factor();
    while (true) {
        if (reader_.accept("*"))
            result = product(result, factor());
        else if (reader_.accept("div"))
            result = div(result, divisor());
        else if (reader_.accept("mod"))
            result = mod(result, divisor());
        else
            return result;
    }
}

Index IndexParser::product(Index a, Index b) {
    if (is_constant(b)) return a * b->constant;
    if (!is_constant(a))
        reader_.fail_at(reader_.position() - 1, "a product of two indices, neither constant");
    return b * a->constant;
}

int64_t IndexParser::divisor() {
    size_t position = reader_.position();
    int64_t value = reader_.integer();
    if (value <= 0) reader_.fail_at(position, "a divisor that is not positive");
    return value;
}

Index IndexParser::factor() {
    const Token& token = reader_.peek();
    if (token.kind == TokenKind::Integer || token.is("-"))
        return arena_.constant(reader_.integer());
    if (reader_.accept("(")) {
        Index inner = index();
        reader_.expect(")");
        return inner;
    }
    if (token.is("{")) return table();
    bool is_call = token.is("min") || token.is("max");
    if (is_call && reader_.peek(1).is("(")) return minimum_or_maximum();
    if (!reader_.peek_is_name()) reader_.fail_expected("an index");
    size_t position = reader_.position();
    std::string name = reader_.name();
    auto iterator = scope_.find(name);
    if (!iterator) reader_.fail_at(position, fmt::format("no iterator '{}' in scope", name));
    return index_of(*iterator);
}

Index IndexParser::minimum_or_maximum() {
    bool is_minimum = reader_.next().text == "min";
    reader_.expect("(");
    Index result = index();
    while (reader_.accept(",")) {
        Index operand = index();
        result = is_minimum ? arena_.min(result, operand) : arena_.max(result, operand);
    }
    reader_.expect(")");
    return result;
}

Index IndexParser::table() {
    reader_.expect("{");
    std::vector<int64_t> values;
    do {
        values.push_back(reader_.integer());
    } while (reader_.accept(","));
    reader_.expect("}");
    reader_.expect("[");
    size_t position = reader_.position();
    Index at = index();
    reader_.expect("]");
    int64_t size = static_cast<int64_t>(values.size());
    if (is_constant(at) && (at->constant < 0 || at->constant >= size))
        reader_.fail_at(position, "a position outside of the table");
    return arena_.table(std::move(values), at);
}

Predicate IndexParser::predicate() {
    DepthGuard guard(depth_, reader_);
    std::vector<Predicate> operands{conjunction()};
    while (reader_.accept("or")) operands.push_back(conjunction());
    return operands.size() == 1 ? operands.front() : arena_.disjunction(std::move(operands));
}

Predicate IndexParser::conjunction() {
    std::vector<Predicate> operands{atom()};
    while (reader_.accept("and")) operands.push_back(atom());
    return operands.size() == 1 ? operands.front() : arena_.conjunction(std::move(operands));
}

Predicate IndexParser::atom() {
    if (reader_.accept("true")) return arena_.truth(true);
    if (reader_.accept("false")) return arena_.truth(false);
    if (reader_.accept("not")) {
        DepthGuard guard(depth_, reader_);
        return arena_.negation(atom());
    }
    if (reader_.peek().is("(") && is_parenthesized_predicate()) {
        reader_.next();
        Predicate inner = predicate();
        reader_.expect(")");
        return inner;
    }
    return comparisons();
}

/// A predicate, other than an index, has a relation or a connective between its parentheses.
bool IndexParser::is_parenthesized_predicate() const {
    int open = 0;
    for (size_t ahead = 0;; ++ahead) {
        const Token& token = reader_.peek(ahead);
        if (token.kind == TokenKind::End) return false;
        if (is_relation(token) || is_connective(token)) return true;
        if (token.is("(")) ++open;
        if (token.is(")") && --open == 0) return false;
    }
}

Predicate IndexParser::comparisons() {
    Index left = index();
    if (!is_relation(reader_.peek())) reader_.fail_expected("a comparison");
    std::vector<Predicate> operands;
    while (is_relation(reader_.peek())) {
        std::string_view relation = reader_.next().text;
        Index right = index();
        operands.push_back(comparison(left, relation, right));
        left = right;
    }
    return operands.size() == 1 ? operands.front() : arena_.conjunction(std::move(operands));
}

Predicate IndexParser::comparison(Index a, std::string_view relation, Index b) {
    if (relation == "<") return arena_.non_negative(b - a - 1);
    if (relation == "<=") return arena_.non_negative(b - a);
    if (relation == ">") return arena_.non_negative(a - b - 1);
    if (relation == ">=") return arena_.non_negative(a - b);
    if (relation == "==") return arena_.zero(a - b);
    return arena_.negation(arena_.zero(a - b));
}

}  // namespace ollie::expr
