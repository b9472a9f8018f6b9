#include "derive/rule.h"
#include "derive/scope.h"
#include "expr/print.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// `[e mod m = 0]` recognized in the canonical form e - m * (e div m) = 0.
struct Congruence {
    Predicate predicate;
    Index e;
    int64_t modulus;
};

std::optional<Congruence> as_congruence(Predicate p) {
    if (p->kind != PredicateKind::Zero) return std::nullopt;
    for (const Term& term : p->index->terms) {
        if (term.atom->kind != AtomKind::FloorDiv) continue;
        int64_t modulus = term.atom->divisor;
        if (std::abs(term.coefficient) != modulus) continue;
        Index e = p->index - p->index->arena->linear(0, {term});
        if (term.coefficient > 0) e = -e;
        Index difference = e - term.atom->a;
        if (is_constant(difference) && difference->constant % modulus == 0)
            return Congruence{p, e, modulus};
    }
    return std::nullopt;
}

/// A congruence of a sum's guard and an iterator of the sum that it determines.
struct Elimination {
    Congruence congruence;
    Axis replaced;
    int64_t inverse;  ///< Of minus the iterator's coefficient, modulo the modulus.
};

std::optional<int64_t> inverse_of(int64_t value, int64_t modulus) {
    for (int64_t x = 0; x < modulus; ++x)
        if (((value * x) % modulus + modulus) % modulus == 1 % modulus) return x;
    return std::nullopt;
}

std::vector<Elimination> eliminations(Scalar reduction) {
    std::vector<Elimination> found;
    if (!is_guarded(reduction->operands[0])) return found;
    for (Predicate p : conjuncts(reduction->operands[0]->predicate)) {
        auto congruence = as_congruence(p);
        if (!congruence) continue;
        for (const Axis& axis : reduction->axes) {
            int64_t a = coefficient(congruence->e, axis.iterator);
            if (a == 0 || axis.lo != 0) continue;
            if (uses(congruence->e - index_of(axis.iterator) * a, axis.iterator)) continue;
            if (auto inverse = inverse_of(-a, congruence->modulus))
                found.push_back({*congruence, axis, *inverse});
        }
    }
    return found;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        std::vector<Scalar> reductions = reductions_of(definition->body, Monoid::Sum);
        for (size_t which = 0; which < reductions.size(); ++which) {
            std::vector<Elimination> all = eliminations(reductions[which]);
            for (size_t i = 0; i < all.size(); ++i)
                found.push_back({definition,
                                 definition->name + ": " + print(all[i].congruence.predicate),
                                 "replaces " + all[i].replaced.iterator->name,
                                 {static_cast<int64_t>(which), static_cast<int64_t>(i)}});
        }
    }
    return found;
}

/// The sum's body with what remains of its guard and the bound of r.
Scalar bounded_body(Scalar guarded, const Elimination& chosen, bool may_exceed) {
    std::vector<Predicate> guards = conjuncts(guarded->predicate);
    std::erase(guards, chosen.congruence.predicate);
    Scalar body = guarded->operands[0];
    Arena& arena = *body->arena;
    if (may_exceed) {
        if (auto bounded = with_zero_beyond(body, chosen.replaced))
            body = *bounded;
        else
            guards.push_back(index_of(chosen.replaced.iterator) < chosen.replaced.hi);
    }
    return arena.select(arena.conjunction(guards), body, arena.constant_scalar(0));
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Scalar reduction = reductions_of(site.definition->body, Monoid::Sum)[site.values[0]];
    Elimination chosen = eliminations(reduction)[site.values[1]];
    const Axis& r = chosen.replaced;
    Arena& arena = *expr.arena;
    Index e = chosen.congruence.e;
    int64_t m = chosen.congruence.modulus;
    Index rest = e - index_of(r.iterator) * coefficient(e, r.iterator);
    Axis t{arena.iterator("t"), 0, (r.extent() + m - 1) / m};
    Index solution = index_of(t.iterator) * m + mod(rest * chosen.inverse, m);
    Ranges ranges = scope_of(site.definition);
    ranges.add({t});
    bool may_exceed = interval_of(solution, ranges).hi >= r.hi;
    Scalar body = bounded_body(reduction->operands[0], chosen, may_exceed);
    body = with_guarded_reads(substitute(body, {{r.iterator, solution}}), ranges);
    std::vector<Axis> axes;
    for (const Axis& axis : reduction->axes) axes.push_back(axis.iterator == r.iterator ? t : axis);
    Scalar replaced = arena.reduce(Monoid::Sum, std::move(axes), body);
    return with_new_body(expr, site.definition,
                         replace_node(site.definition->body, reduction, replaced));
}

}  // namespace

extern const Rule congruence{
    "congruence",
    "sum[r in 0..R] [(e + a*r) mod m = 0] f(r) = sum[t] [r(t) < R] f(r(t)), "
    "r(t) = m*t + (-a^-1 * e) mod m",
    "a is invertible modulo m; r(t) < R becomes the outside value 0 of a factor that is read at r "
    "over the same range, else a guard.",
    "Of a strided transposed convolution's taps only those that meet the grid are visited.",
    "A non-finite factor no longer meets the 0 of the other branch.",
    1,
    sites,
    apply,
    {{"input X: f32[5]\nweight K: f32[4]\n"
      "output Y: f32[h:12] = sum[r:4] select((h + 1 - r) mod 2 == 0, "
      "X[(h + 1 - r) div 2 | 0] * K[r], 0)\n",
      "",
      "input X: f32[5]\nweight K: f32[4]\n"
      "output Y: f32[h:12] = sum[t:2] X[(h + 1) div 2 - t | 0] * K[2 * t + (h + 1) mod 2]\n",
      ""}}};

}  // namespace ollie::derive::rules
