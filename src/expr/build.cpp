#include "expr/build.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "expr/visit.h"

namespace ollie::expr {

Index operator+(Index a, Index b) {
    if (b->terms.empty()) return a + b->constant;
    std::vector<Term> terms = a->terms;
    terms.insert(terms.end(), b->terms.begin(), b->terms.end());
    return a->arena->linear(a->constant + b->constant, std::move(terms));
}

Index operator*(Index a, int64_t factor) {
    if (factor == 1) return a;
    std::vector<Term> terms = a->terms;
    for (Term& term : terms) term.coefficient *= factor;
    return a->arena->linear(a->constant * factor, std::move(terms));
}

Index operator-(Index a) { return a * -1; }
Index operator-(Index a, Index b) { return a + -b; }
Index operator+(Index a, int64_t b) {
    return b == 0 ? a : a->arena->linear(a->constant + b, a->terms);
}
Index operator-(Index a, int64_t b) { return a + -b; }
Index div(Index a, int64_t k) { return a->arena->floor_div(a, k); }
Index mod(Index a, int64_t k) { return a - div(a, k) * k; }
Index index_of(Iterator iterator) { return iterator->arena->index(iterator); }
bool is_constant(Index index) { return index->terms.empty(); }

std::optional<Iterator> as_iterator(Index index) {
    if (index->constant != 0 || index->terms.size() != 1) return std::nullopt;
    const Term& term = index->terms.front();
    if (term.coefficient != 1 || term.atom->kind != AtomKind::Iterator) return std::nullopt;
    return term.atom->iterator;
}

int64_t coefficient(Index index, Iterator iterator) {
    for (const Term& term : index->terms)
        if (term.atom->kind == AtomKind::Iterator && term.atom->iterator == iterator)
            return term.coefficient;
    return 0;
}

bool uses(Index index, Iterator iterator) {
    for (const Term& term : index->terms) {
        const AtomNode& atom = *term.atom;
        if (atom.kind == AtomKind::Iterator
                ? atom.iterator == iterator
                : uses(atom.a, iterator) || (atom.b && uses(atom.b, iterator)))
            return true;
    }
    return false;
}

bool uses(Predicate predicate, Iterator iterator) {
    if (predicate->index && uses(predicate->index, iterator)) return true;
    return std::any_of(predicate->operands.begin(), predicate->operands.end(),
                       [&](Predicate p) { return uses(p, iterator); });
}

bool uses(Scalar scalar, Iterator iterator) {
    if (scalar->predicate && uses(scalar->predicate, iterator)) return true;
    return std::any_of(scalar->indices.begin(), scalar->indices.end(),
                       [&](Index i) { return uses(i, iterator); }) ||
           std::any_of(scalar->operands.begin(), scalar->operands.end(),
                       [&](Scalar s) { return uses(s, iterator); });
}

Predicate operator>=(Index a, int64_t b) { return a->arena->non_negative(a - b); }
Predicate operator<(Index a, int64_t b) { return a->arena->non_negative(-a + (b - 1)); }
Predicate operator==(Index a, int64_t b) { return a->arena->zero(a - b); }
Predicate operator&&(Predicate a, Predicate b) { return a->arena->conjunction({a, b}); }
Predicate operator||(Predicate a, Predicate b) { return a->arena->disjunction({a, b}); }
Predicate operator!(Predicate a) { return a->arena->negation(a); }
Predicate in_range(Index index, int64_t lo, int64_t hi) { return index >= lo && index < hi; }

Scalar operator+(Scalar a, Scalar b) { return a->arena->add({a, b}); }
Scalar operator*(Scalar a, Scalar b) { return a->arena->mul({a, b}); }
Scalar operator-(Scalar a) {
    if (a->kind == ScalarKind::Constant) return a->arena->constant_scalar(-a->constant);
    return a->arena->mul({a->arena->constant_scalar(-1), a});
}
Scalar operator-(Scalar a, Scalar b) { return a + -b; }
Scalar operator/(Scalar a, Scalar b) { return a * a->arena->function(Function::Reciprocal, {b}); }
Scalar operator+(Scalar a, double b) { return a + a->arena->constant_scalar(b); }
Scalar operator*(Scalar a, double b) { return a * a->arena->constant_scalar(b); }
Scalar max(Scalar a, Scalar b) { return a->arena->function(Function::Max, {a, b}); }
Scalar min(Scalar a, Scalar b) { return a->arena->function(Function::Min, {a, b}); }
Scalar relu(Scalar a) { return max(a, a->arena->constant_scalar(0)); }
Scalar sum(std::vector<Axis> axes, Scalar body) {
    return body->arena->reduce(Monoid::Sum, std::move(axes), body);
}

double identity(Monoid monoid) {
    switch (monoid) {
        case Monoid::Sum:
            return 0;
        case Monoid::Prod:
            return 1;
        case Monoid::Max:
            return -std::numeric_limits<double>::infinity();
        case Monoid::Min:
            return std::numeric_limits<double>::infinity();
    }
    CHECK(false);
}

std::vector<Index> indices_of(const std::vector<Axis>& axes) {
    std::vector<Index> result;
    for (const Axis& axis : axes) result.push_back(index_of(axis.iterator));
    return result;
}

std::vector<Axis> fresh(Arena& arena, const std::vector<Axis>& axes) {
    std::vector<Axis> result = axes;
    for (Axis& axis : result) axis.iterator = arena.iterator(axis.iterator->name);
    return result;
}

}  // namespace ollie::expr
