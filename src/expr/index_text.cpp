#include "expr/index_text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"

namespace ollie::expr {

void NameScope::push(Iterator iterator) {
    std::string stem = iterator->name.empty() ? "i" : iterator->name;
    std::string name = stem;
    for (int suffix = 2; !names_.insert(name).second; ++suffix)
        name = fmt::format("{}_{}", stem, suffix);
    entries_[iterator] = {name, entries_.size()};
}

void NameScope::pop(Iterator iterator) {
    auto found = entries_.find(iterator);
    if (found == entries_.end()) return;
    names_.erase(found->second.name);
    entries_.erase(found);
}

namespace {

bool is_index_word(std::string_view name) {
    return name == "div" || name == "mod" || name == "min" || name == "max" || name == "not" ||
           name == "true" || name == "false" || name == "and" || name == "or";
}

}  // namespace

std::string NameScope::text_of(Iterator iterator) const {
    auto found = entries_.find(iterator);
    const std::string& name = found == entries_.end() ? iterator->name : found->second.name;
    return is_index_word(name) ? quoted_text(name) : name_text(name);
}

uint64_t NameScope::position_of(Iterator iterator) const {
    auto found = entries_.find(iterator);
    return found == entries_.end() ? (uint64_t{1} << 32) + iterator->id : found->second.position;
}

namespace {

/// coefficient * text
struct Part {
    int64_t coefficient;
    std::string text;
    bool is_compound;   ///< Needs parentheses beside a factor.
    uint64_t position;  ///< Of a plain iterator; compounds come after all iterators.
};

/// constant + sum of parts
struct Parts {
    int64_t constant = 0;
    std::vector<Part> parts;
};

constexpr uint64_t after_iterators = std::numeric_limits<uint64_t>::max();

class IndexPrinter {
public:
    explicit IndexPrinter(const NameScope& scope) : scope_(scope) {}

    std::string index(Index index) { return sum(parts_of(index)); }

    Parts parts_of(Index index) {
        Parts result{index->constant, {}};
        std::vector<Term> terms = index->terms;
        recover_remainders(terms, result);
        for (const Term& term : terms) result.parts.push_back(part(term));
        std::sort(result.parts.begin(), result.parts.end(), [](const Part& x, const Part& y) {
            return x.position != y.position ? x.position < y.position : x.text < y.text;
        });
        return result;
    }

    static std::string sum(const Parts& parts) {
        std::string result = leading(parts);
        for (const Part& part : rest(parts)) append(part, result);
        if (!starts_with_constant(parts) && (parts.constant != 0 || result.empty()))
            append_constant(parts.constant, result);
        return result;
    }

private:
    Part part(const Term& term) {
        const AtomNode& atom = *term.atom;
        uint64_t position =
            atom.kind == AtomKind::Iterator ? scope_.position_of(atom.iterator) : after_iterators;
        return {term.coefficient, text(atom), atom.kind == AtomKind::FloorDiv, position};
    }

    std::string text(const AtomNode& atom) {
        switch (atom.kind) {
            case AtomKind::Iterator:
                return scope_.text_of(atom.iterator);
            case AtomKind::FloorDiv:
                return fmt::format("{} div {}", operand(atom.a), atom.divisor);
            case AtomKind::Min:
            case AtomKind::Max: {
                std::string a = index(atom.a);
                std::string b = index(atom.b);
                bool is_in_order =
                    atom.a->terms.empty() == atom.b->terms.empty() ? a <= b : atom.b->terms.empty();
                if (!is_in_order) std::swap(a, b);
                return fmt::format("{}({}, {})", atom.kind == AtomKind::Min ? "min" : "max", a, b);
            }
            case AtomKind::Table:
                return fmt::format("{{{}}}[{}]", fmt::join(atom.table, ", "), index(atom.a));
        }
        CHECK(false);
    }

    /// As the left operand of div and mod.
    std::string operand(Index i) {
        bool is_plain = i->constant == 0 && i->terms.size() == 1 &&
                        i->terms.front().coefficient == 1 &&
                        i->terms.front().atom->kind != AtomKind::FloorDiv;
        return is_plain ? index(i) : fmt::format("({})", index(i));
    }

    /// Turns m * x and -m * k * (x div k) into m * (x mod k), and likewise where x itself is a
    /// quotient y div j, when x div k is y div (j * k).
    void recover_remainders(std::vector<Term>& terms, Parts& result) {
        std::vector<std::pair<std::string, Atom>> quotients;
        for (const Term& term : terms)
            if (term.atom->kind == AtomKind::FloorDiv)
                quotients.emplace_back(text(*term.atom), term.atom);
        std::sort(quotients.begin(), quotients.end(),
                  [](const auto& x, const auto& y) { return x.first < y.first; });
        for (const auto& [unused, quotient] : quotients) {
            auto term = std::find_if(terms.begin(), terms.end(),
                                     [&](const Term& t) { return t.atom == quotient; });
            if (term == terms.end()) continue;
            Term whole = *term;
            for (const auto& [operand, divisor] : dividends(whole, terms))
                if (recover(whole, operand, divisor, terms, result)) break;
        }
    }

    /// The x and k with whole.atom == x div k that may be present in the terms.
    static std::vector<std::pair<Index, int64_t>> dividends(const Term& whole,
                                                            const std::vector<Term>& terms) {
        const AtomNode& atom = *whole.atom;
        std::vector<std::pair<Index, int64_t>> result{{atom.a, atom.divisor}};
        for (const Term& term : terms) {
            const AtomNode& inner = *term.atom;
            if (inner.kind != AtomKind::FloorDiv || term.atom == whole.atom) continue;
            if (atom.divisor % inner.divisor != 0 || atom.a->terms != inner.a->terms) continue;
            int64_t offset = atom.a->constant - inner.a->constant;
            if (offset % inner.divisor != 0) continue;
            Index x = inner.arena->linear(offset / inner.divisor, {{1, term.atom}});
            result.emplace_back(x, atom.divisor / inner.divisor);
        }
        return result;
    }

    bool recover(const Term& whole, Index x, int64_t k, std::vector<Term>& terms, Parts& result) {
        if (whole.coefficient % k != 0) return false;
        int64_t m = -(whole.coefficient / k);
        std::vector<Term> removed{whole};
        for (const Term& term : x->terms) removed.push_back({m * term.coefficient, term.atom});
        for (const Term& term : removed)
            if (std::find(terms.begin(), terms.end(), term) == terms.end()) return false;
        std::erase_if(terms, [&](const Term& term) {
            return std::find(removed.begin(), removed.end(), term) != removed.end();
        });
        result.constant -= m * x->constant;
        result.parts.push_back({m, fmt::format("{} mod {}", operand(x), k), true, after_iterators});
        return true;
    }

    static bool is_positive(const Part& part) { return part.coefficient > 0; }

    static bool starts_with_constant(const Parts& parts) {
        return !parts.parts.empty() && parts.constant > 0 &&
               std::none_of(parts.parts.begin(), parts.parts.end(), is_positive);
    }

    static size_t leading_position(const Parts& parts) {
        auto found = std::find_if(parts.parts.begin(), parts.parts.end(), is_positive);
        return found == parts.parts.end() ? 0 : static_cast<size_t>(found - parts.parts.begin());
    }

    static std::string leading(const Parts& parts) {
        std::string result;
        if (starts_with_constant(parts))
            append_constant(parts.constant, result);
        else if (!parts.parts.empty())
            append(parts.parts[leading_position(parts)], result);
        return result;
    }

    static std::vector<Part> rest(const Parts& parts) {
        std::vector<Part> result = parts.parts;
        if (!starts_with_constant(parts) && !result.empty())
            result.erase(result.begin() + static_cast<int64_t>(leading_position(parts)));
        return result;
    }

    static void append_sign(bool is_negative, std::string& text) {
        if (text.empty())
            text += is_negative ? "-" : "";
        else
            text += is_negative ? " - " : " + ";
    }

    static uint64_t magnitude(int64_t value) {
        return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    }

    static void append(const Part& part, std::string& text) {
        append_sign(part.coefficient < 0, text);
        uint64_t size = magnitude(part.coefficient);
        if (size == 1)
            text += part.text;
        else if (part.is_compound)
            text += fmt::format("{} * ({})", size, part.text);
        else
            text += fmt::format("{} * {}", size, part.text);
    }

    static void append_constant(int64_t value, std::string& text) {
        append_sign(value < 0, text);
        text += fmt::format("{}", magnitude(value));
    }

    const NameScope& scope_;
};

/// parts (+ constant) >= 0 or == 0 with the constant on the right side.
std::string comparison(Parts parts, bool is_equality) {
    int64_t right = -parts.constant;
    parts.constant = 0;
    bool flips = std::none_of(parts.parts.begin(), parts.parts.end(),
                              [](const Part& part) { return part.coefficient > 0; });
    flips = flips || (is_equality && !parts.parts.empty() && parts.parts.front().coefficient < 0);
    if (flips) {
        for (Part& part : parts.parts) part.coefficient = -part.coefficient;
        right = -right;
    }
    std::string_view relation = is_equality ? "==" : flips ? "<=" : ">=";
    return fmt::format("{} {} {}", IndexPrinter::sum(parts), relation, right);
}

std::string connected(Predicate p, const NameScope& scope, std::string_view word,
                      PredicateKind parenthesized) {
    std::string result;
    for (Predicate operand : p->operands) {
        std::string text = text_of(operand, scope);
        if (!result.empty()) result += word;
        result += operand->kind == parenthesized ? fmt::format("({})", text) : text;
    }
    return result;
}

}  // namespace

std::string text_of(Index index, const NameScope& scope) {
    return IndexPrinter(scope).index(index);
}

std::string text_of(Predicate p, const NameScope& scope) {
    switch (p->kind) {
        case PredicateKind::True:
            return "true";
        case PredicateKind::False:
            return "false";
        case PredicateKind::NonNegative:
            return comparison(IndexPrinter(scope).parts_of(p->index), false);
        case PredicateKind::Zero:
            return comparison(IndexPrinter(scope).parts_of(p->index), true);
        case PredicateKind::And:
            return connected(p, scope, " and ", PredicateKind::Or);
        case PredicateKind::Or:
            return connected(p, scope, " or ", PredicateKind::Or);
        case PredicateKind::Not: {
            Predicate inner = p->operands.front();
            if (inner->kind == PredicateKind::Zero) {
                std::string text = text_of(inner, scope);
                return text.replace(text.rfind("=="), 2, "!=");
            }
            return fmt::format("not ({})", text_of(inner, scope));
        }
    }
    CHECK(false);
}

}  // namespace ollie::expr
