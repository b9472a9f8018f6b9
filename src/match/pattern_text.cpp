#include "match/pattern_text.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "match/group.h"

namespace ollie::match {
namespace {

int find_or_add(std::vector<std::string>& names, const std::string& name) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) found = names.insert(names.end(), name);
    return static_cast<int>(found - names.begin());
}

class PatternParser {
public:
    explicit PatternParser(std::string_view text) : text_(text) { pattern_.text = text; }

    Pattern parse() {
        pattern_.result = name();
        iterator_list();
        pattern_.traversal_count = static_cast<int>(pattern_.iterators.size());
        expect("=");
        parse_reduction();
        if (accept_word("select")) {
            parse_select();
        } else {
            parse_product();
        }
        if (accept_word("where")) parse_not_units();
        CHECK(peek() == '\0', "pattern '{}': unread text at {}", text_, at_);
        return std::move(pattern_);
    }

private:
    void parse_reduction() {
        static constexpr std::pair<std::string_view, expr::Monoid> monoids[] = {
            {"sum", expr::Monoid::Sum}, {"max", expr::Monoid::Max}, {"min", expr::Monoid::Min}};
        for (auto [word, monoid] : monoids) {
            if (!accept_word(word)) continue;
            pattern_.monoid = monoid;
            iterator_list();
            return;
        }
    }

    void parse_not_units() {
        do {
            int first = iterator_name();
            pattern_.not_units.emplace_back(first, accept_word("or") ? iterator_name() : first);
        } while (accept(","));
    }

    void parse_select() {
        expect("(");
        do {
            pattern_.zeros.push_back(index());
            expect("==");
            CHECK(integer() == 0, "pattern '{}'", text_);
        } while (accept_word("and"));
        expect(",");
        parse_product();
        expect(",");
        CHECK(integer() == 0, "pattern '{}'", text_);
        expect(")");
    }

    void parse_product() {
        do {
            pattern_.reads.push_back(read());
        } while (accept("*"));
    }

    PatternRead read() {
        PatternRead result;
        result.name = name();
        expect("[");
        while (!accept("]")) {
            result.indices.push_back(index());
            if (accept("|")) {
                result.has_outside = true;
                bool negative = accept("-");
                result.outside = accept_word("inf") ? std::numeric_limits<double>::infinity()
                                                    : static_cast<double>(integer());
                if (negative) result.outside = -result.outside;
            }
            accept(",");
        }
        return result;
    }

    void iterator_list() {
        expect("[");
        while (!accept("]")) {
            find_or_add(pattern_.iterators, name());
            accept_pack();
            accept(",");
        }
    }

    void accept_pack() {
        if (accept("..")) pattern_.is_contraction = true;
    }

    PatternIndex index() {
        PatternIndex result;
        peek();
        size_t begin = at_;
        int sign = accept("-") ? -1 : 1;
        while (true) {
            term(sign, result);
            if (accept("+"))
                sign = 1;
            else if (accept("-"))
                sign = -1;
            else
                break;
        }
        result.text = std::string(text_.substr(begin, at_ - begin));
        while (result.text.ends_with(' ')) result.text.pop_back();
        return result;
    }

    void term(int sign, PatternIndex& sum) {
        PatternTerm term;
        term.coefficient.number = sign;
        do {
            factor(term);
        } while (accept("*"));
        if (term.iterator < 0 && !term.numerator)
            sum.constant.push_back(term.coefficient);
        else
            sum.terms.push_back(std::move(term));
    }

    void factor(PatternTerm& term) {
        PatternIndex inner;
        if (accept("(")) {
            inner = index();
            expect(")");
        } else if (peek() == '$' || std::isdigit(static_cast<unsigned char>(peek()))) {
            scale(term.coefficient);
            return;
        } else {
            PatternTerm iterator;
            iterator.iterator = iterator_name();
            inner.terms.push_back(iterator);
        }
        bool is_quotient = accept_word("div");
        bool is_remainder = !is_quotient && accept_word("mod");
        if (is_quotient || is_remainder) {
            term.is_remainder = is_remainder;
            scale(term.divisor);
            term.numerator = std::make_shared<const PatternIndex>(std::move(inner));
            return;
        }
        CHECK(inner.terms.size() == 1 && inner.constant.empty(), "pattern '{}'", text_);
        PatternFactor coefficient = term.coefficient;
        term = inner.terms.front();
        CHECK(term.coefficient.number == 1 && term.coefficient.parameter < 0, "'{}'", text_);
        term.coefficient = coefficient;
    }

    void scale(PatternFactor& factor) {
        if (accept("$")) {
            CHECK(factor.parameter < 0, "pattern '{}': two parameters in a product", text_);
            factor.parameter = find_or_add(pattern_.parameters, name());
        } else {
            factor.number *= integer();
        }
    }

    int iterator_name() {
        std::string word = name();
        accept_pack();
        auto found = std::find(pattern_.iterators.begin(), pattern_.iterators.end(), word);
        CHECK(found != pattern_.iterators.end(), "pattern '{}': '{}' is not bound", text_, word);
        return static_cast<int>(found - pattern_.iterators.begin());
    }

    char peek() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    bool accept(std::string_view token) {
        peek();
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }

    void expect(std::string_view token) {
        CHECK(accept(token), "pattern '{}': '{}' expected at {}", text_, token, at_);
    }

    static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

    bool accept_word(std::string_view word) {
        peek();
        if (text_.substr(at_, word.size()) != word) return false;
        if (at_ + word.size() < text_.size() && is_word(text_[at_ + word.size()])) return false;
        at_ += word.size();
        return true;
    }

    std::string name() {
        peek();
        size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        CHECK(at_ > begin, "pattern '{}': a name expected at {}", text_, at_);
        return std::string(text_.substr(begin, at_ - begin));
    }

    int64_t integer() {
        std::string digits = name();
        return std::stoll(digits);
    }

    std::string_view text_;
    size_t at_ = 0;
    Pattern pattern_;
};

bool uses(const PatternRead& read, int iterator) {
    return std::any_of(read.indices.begin(), read.indices.end(),
                       [&](const PatternIndex& index) { return uses(index, iterator); });
}

void add_occurrences(Pattern& pattern) {
    for (int i = 0; i < static_cast<int>(pattern.iterators.size()); ++i) {
        uint8_t set = 0;
        for (size_t read = 0; read < pattern.reads.size(); ++read)
            set |= static_cast<uint8_t>(uses(pattern.reads[read], i) << read);
        pattern.occurs.push_back(set);
    }
}

}  // namespace

bool uses(const PatternIndex& index, int iterator) {
    return std::any_of(index.terms.begin(), index.terms.end(), [&](const PatternTerm& term) {
        return term.numerator ? uses(*term.numerator, iterator) : term.iterator == iterator;
    });
}

std::shared_ptr<const Pattern> parse_pattern(std::string_view text) {
    Pattern pattern;
    pattern.text = text;
    if (text.find('\n') != std::string_view::npos) {
        pattern.group = parse_group(text);
    } else {
        pattern = PatternParser(text).parse();
        add_occurrences(pattern);
    }
    return std::make_shared<const Pattern>(std::move(pattern));
}

}  // namespace ollie::match
