#include "expr/range.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

Interval scaled(Interval x, int64_t factor) {
    return factor >= 0 ? Interval{x.lo * factor, x.hi * factor}
                       : Interval{x.hi * factor, x.lo * factor};
}

Interval plus(Interval x, Interval y) { return {x.lo + y.lo, x.hi + y.hi}; }

Interval intersection(Interval x, Interval y) {
    return {std::max(x.lo, y.lo), std::min(x.hi, y.hi)};
}

Interval interval_of(const AtomNode& atom, const Ranges& ranges) {
    switch (atom.kind) {
        case AtomKind::Iterator:
            return ranges.of(atom.iterator);
        case AtomKind::FloorDiv: {
            Interval a = expr::interval_of(atom.a, ranges);
            return {floor_quotient(a.lo, atom.divisor), floor_quotient(a.hi, atom.divisor)};
        }
        case AtomKind::Min: {
            Interval a = expr::interval_of(atom.a, ranges);
            Interval b = expr::interval_of(atom.b, ranges);
            return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
        }
        case AtomKind::Max: {
            Interval a = expr::interval_of(atom.a, ranges);
            Interval b = expr::interval_of(atom.b, ranges);
            return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
        }
        case AtomKind::Table: {
            auto [lo, hi] = std::minmax_element(atom.table.begin(), atom.table.end());
            return {*lo, *hi};
        }
    }
    CHECK(false);
}

/// The sum of the intervals of the terms: sound, and exact where no iterator occurs twice.
Interval termwise(Index index, const Ranges& ranges) {
    Interval result{index->constant, index->constant};
    for (const Term& term : index->terms)
        result = plus(result, scaled(interval_of(*term.atom, ranges), term.coefficient));
    return result;
}

/// How many iterators occur more than once, counting occurrences inside atoms.
bool has_correlation(Index index) {
    std::set<Iterator> seen;
    for (const Term& term : index->terms) {
        Index alone = index->arena->linear(0, {term});
        for (Iterator iterator : iterators_of(alone))
            if (!seen.insert(iterator).second) return true;
    }
    return false;
}

}  // namespace

void Ranges::add(const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) map_[axis.iterator] = {axis.lo, axis.hi - 1};
}

Interval Ranges::of(Iterator iterator) const {
    auto found = map_.find(iterator);
    CHECK(found != map_.end(), "iterator {} is not in scope", iterator->name);
    return found->second;
}

namespace {

/// What a quotient's term is traded for: c * floor(a / k) = c / k * (a - a mod k), or, where the
/// index has floor(a / d) too and k = d * m, c / m * (floor(a / d) - floor(a / d) mod m).
struct Trade {
    Index instead;
    int64_t scale;
    int64_t modulus;
};

std::vector<Trade> trades(Index index, const Term& term) {
    std::vector<Trade> result;
    const AtomNode& atom = *term.atom;
    if (atom.kind != AtomKind::FloorDiv) return result;
    auto add = [&](Index part, int64_t modulus) {
        if (term.coefficient % modulus == 0)
            result.push_back({part, term.coefficient / modulus, modulus});
    };
    add(atom.a, atom.divisor);
    for (const Term& other : index->terms)
        if (other.atom->kind == AtomKind::FloorDiv && other.atom->a == atom.a &&
            other.atom->divisor < atom.divisor && atom.divisor % other.atom->divisor == 0)
            add(index->arena->linear(0, {{1, other.atom}}), atom.divisor / other.atom->divisor);
    return result;
}

}  // namespace

/// Beyond the termwise enclosure, trades each quotient for its numerator or for a quotient of the
/// same numerator, less a remainder of known range.
Interval interval_of(Index index, const Ranges& ranges) {
    Interval best = termwise(index, ranges);
    if (!has_correlation(index)) return best;
    for (const Term& term : index->terms) {
        for (const Trade& trade : trades(index, term)) {
            Index rest = index - index->arena->linear(0, {term}) + trade.instead * trade.scale;
            Interval remainder = scaled({0, trade.modulus - 1}, -trade.scale);
            best = intersection(best, plus(interval_of(rest, ranges), remainder));
        }
    }
    return best;
}

namespace {

/// floor(e / k) where e = g * x + small, g divides k and small lies in [0, g): floor(x / (k / g)).
std::optional<Index> without_small_part(Index numerator, int64_t divisor, const Ranges& ranges) {
    Arena& arena = *numerator->arena;
    for (const Term& candidate : numerator->terms) {
        int64_t unit = std::gcd(candidate.coefficient, divisor);
        if (unit <= 1) continue;
        std::vector<Term> large;
        std::vector<Term> small;
        for (const Term& term : numerator->terms)
            (term.coefficient % unit == 0 ? large : small).push_back(term);
        int64_t whole = floor_quotient(numerator->constant, unit);
        Interval rest =
            interval_of(arena.linear(numerator->constant - whole * unit, small), ranges);
        if (rest.lo < 0 || rest.hi >= unit) continue;
        for (Term& term : large) term.coefficient /= unit;
        return arena.floor_div(arena.linear(whole, std::move(large)), divisor / unit);
    }
    return std::nullopt;
}

Index simplify_quotient(Index numerator, int64_t divisor, const Ranges& ranges) {
    Arena& arena = *numerator->arena;
    Interval interval = interval_of(numerator, ranges);
    int64_t lo = floor_quotient(interval.lo, divisor);
    if (lo == floor_quotient(interval.hi, divisor)) return arena.constant(lo);
    if (auto shorter = without_small_part(numerator, divisor, ranges)) return *shorter;
    return arena.floor_div(numerator, divisor);
}

Index simplify_atom(const Term& term, const Ranges& ranges) {
    Arena& arena = *term.atom->arena;
    const AtomNode& atom = *term.atom;
    switch (atom.kind) {
        case AtomKind::Iterator: {
            Interval interval = ranges.of(atom.iterator);
            if (interval.lo == interval.hi) return arena.constant(interval.lo);
            return arena.linear(0, {{1, term.atom}});
        }
        case AtomKind::FloorDiv:
            return simplify_quotient(simplify(atom.a, ranges), atom.divisor, ranges);
        case AtomKind::Min:
        case AtomKind::Max: {
            Index a = simplify(atom.a, ranges);
            Index b = simplify(atom.b, ranges);
            Interval difference = interval_of(a - b, ranges);
            bool is_min = atom.kind == AtomKind::Min;
            if (difference.hi <= 0) return is_min ? a : b;
            if (difference.lo >= 0) return is_min ? b : a;
            return is_min ? arena.min(a, b) : arena.max(a, b);
        }
        case AtomKind::Table:
            return arena.table(atom.table, simplify(atom.a, ranges));
    }
    CHECK(false);
}

bool is_empty(const Ranges& ranges) {
    return std::any_of(ranges.map().begin(), ranges.map().end(),
                       [](const auto& entry) { return entry.second.lo > entry.second.hi; });
}

}  // namespace

Index simplify(Index index, const Ranges& ranges) {
    if (is_empty(ranges)) return index;
    Index result = index->arena->constant(index->constant);
    for (const Term& term : index->terms)
        result = result + simplify_atom(term, ranges) * term.coefficient;
    return result == index ? index : simplify(result, ranges);
}

std::optional<bool> decide(Predicate p, const Ranges& ranges) {
    switch (p->kind) {
        case PredicateKind::True:
            return true;
        case PredicateKind::False:
            return false;
        case PredicateKind::NonNegative: {
            Interval interval = interval_of(p->index, ranges);
            if (interval.lo >= 0) return true;
            if (interval.hi < 0) return false;
            return std::nullopt;
        }
        case PredicateKind::Zero: {
            Interval interval = interval_of(p->index, ranges);
            if (interval.lo == 0 && interval.hi == 0) return true;
            if (interval.lo > 0 || interval.hi < 0) return false;
            int64_t common = 0;
            for (const Term& term : p->index->terms) common = std::gcd(common, term.coefficient);
            if (common > 1 && p->index->constant % common != 0) return false;
            return std::nullopt;
        }
        case PredicateKind::And:
        case PredicateKind::Or: {
            bool absorbing = p->kind == PredicateKind::Or;
            bool all_decided = true;
            for (Predicate operand : p->operands) {
                auto value = decide(operand, ranges);
                if (value == absorbing) return absorbing;
                all_decided = all_decided && value.has_value();
            }
            if (all_decided) return !absorbing;
            return std::nullopt;
        }
        case PredicateKind::Not: {
            auto value = decide(p->operands.front(), ranges);
            if (value) return !*value;
            return std::nullopt;
        }
    }
    CHECK(false);
}

bool is_inside(const Tensor* tensor, const std::vector<Index>& indices, const Ranges& ranges) {
    if (is_empty(ranges)) return true;
    for (size_t i = 0; i < indices.size(); ++i) {
        Interval interval = interval_of(indices[i], ranges);
        if (interval.lo < tensor->axes[i].lo || interval.hi >= tensor->axes[i].hi) return false;
    }
    return true;
}

Predicate simplify(Predicate p, const Ranges& ranges) {
    Arena& arena = *p->arena;
    if (is_empty(ranges)) return p;
    if (auto value = decide(p, ranges)) return arena.truth(*value);
    switch (p->kind) {
        case PredicateKind::NonNegative:
            return arena.non_negative(simplify(p->index, ranges));
        case PredicateKind::Zero:
            return arena.zero(simplify(p->index, ranges));
        case PredicateKind::And:
        case PredicateKind::Or:
        case PredicateKind::Not: {
            std::vector<Predicate> operands;
            for (Predicate operand : p->operands) operands.push_back(simplify(operand, ranges));
            if (p->kind == PredicateKind::And) return arena.conjunction(std::move(operands));
            if (p->kind == PredicateKind::Or) return arena.disjunction(std::move(operands));
            return arena.negation(operands.front());
        }
        default:
            return p;
    }
}

}  // namespace ollie::expr
