#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

bool uses_any(Predicate p, const std::vector<Axis>& axes) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const Axis& axis) { return uses(p, axis.iterator); });
}

/// f * select(p, a, 0) = select(p, f * a, 0)
std::optional<Scalar> out_of_product(Scalar s) {
    if (s->kind != ScalarKind::Mul) return std::nullopt;
    Arena& arena = *s->arena;
    std::vector<Scalar> factors;
    Predicate guard = arena.truth(true);
    for (Scalar factor : s->operands) {
        if (is_guarded(factor)) guard = guard && factor->predicate;
        factors.push_back(is_guarded(factor) ? factor->operands[0] : factor);
    }
    if (guard->kind == PredicateKind::True) return std::nullopt;
    return arena.select(guard, arena.mul(factors), arena.constant_scalar(0));
}

/// sum[y] select(p and q, a, 0) = select(p, sum[y] select(q, a, 0), 0) where p does not use y
std::optional<Scalar> out_of_sum(Scalar s) {
    if (s->kind != ScalarKind::Reduce || s->monoid != Monoid::Sum || !is_guarded(s->operands[0]))
        return std::nullopt;
    Arena& arena = *s->arena;
    std::vector<Predicate> outer;
    std::vector<Predicate> inner;
    for (Predicate p : conjuncts(s->operands[0]->predicate))
        (uses_any(p, s->axes) ? inner : outer).push_back(p);
    if (outer.empty()) return std::nullopt;
    Scalar zero = arena.constant_scalar(0);
    Scalar body = arena.select(arena.conjunction(inner), s->operands[0]->operands[0], zero);
    return arena.select(arena.conjunction(outer), arena.reduce(Monoid::Sum, s->axes, body), zero);
}

Scalar moved(Scalar body) {
    return rewrite(body, [](Scalar s) {
        if (auto result = out_of_product(s)) return *result;
        if (auto result = out_of_sum(s)) return *result;
        return s;
    });
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition)) continue;
        if (moved(definition->body) != definition->body)
            found.push_back({definition, definition->name, "out of products and sums", {0}});
        else if (is_guarded(definition->body) && !is_output(expr, definition) &&
                 !definition->pinned && has_zero_outside(expr, definition))
            found.push_back({definition, definition->name, "into its consumers", {1}});
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    const Tensor* definition = site.definition;
    if (site.values[0] == 0) return with_new_body(expr, definition, moved(definition->body));
    const Tensor* unguarded = with_body(definition, definition->body->operands[0]);
    return change_reads(expr, definition, [&](Scalar read) {
        Substitution at;
        for (size_t i = 0; i < definition->rank(); ++i)
            at[definition->axes[i].iterator] = read->indices[i];
        Arena& arena = *read->arena;
        return arena.select(substitute(definition->body->predicate, at),
                            arena.read(unguarded, read->indices, outside_of(read)),
                            arena.constant_scalar(0));
    });
}

}  // namespace

extern const Rule select_motion{
    "select_motion",
    "sum[y] f * select(p and q(y), a, 0) = select(p, sum[y] select(q(y), f * a, 0), 0); "
    "{ L[x] select(p(x), a(x), 0) }[phi] = select(p(phi), { L[x] a(x) }[phi], 0)",
    "The other branch is 0; what leaves a sum does not use its iterators; reads of the definition "
    "have no outside value other than 0.",
    "A guard leaves the product, which becomes a plain contraction.",
    "A non-finite factor no longer meets the 0 of the other branch.",
    0,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4]\n"
      "output Y: f32[h:8] = sum[c:4] select(h >= 2, A[h, c] * K[c], 0)\n",
      "",
      "input A: f32[8, 4]\nweight K: f32[4]\n"
      "output Y: f32[h:8] = select(h - 2 >= 0, sum[c:4] A[h, c] * K[c], 0)\n",
      ""}}};

}  // namespace ollie::derive::rules
