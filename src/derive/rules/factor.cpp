#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// The scale may join the sum if the sum's product has weights whose iterators cover the scale's.
bool can_join(Scalar scale, Scalar reduction) {
    for (const Axis& axis : reduction->axes)
        if (uses(scale, axis.iterator)) return false;
    Scalar body = reduction->operands[0];
    if (body->kind != ScalarKind::Mul) return false;
    std::set<Iterator> covered;
    for (Scalar factor : body->operands)
        if (is_weight_only(factor)) covered.merge(free_iterators(factor));
    std::set<Iterator> needed = free_iterators(scale);
    return !covered.empty() &&
           std::includes(covered.begin(), covered.end(), needed.begin(), needed.end());
}

/// w * sum[y] f with weight-only w.
std::optional<Scalar> factored(Scalar s, const std::set<Scalar>& shared) {
    if (s->kind != ScalarKind::Mul) return std::nullopt;
    auto found = std::find_if(s->operands.begin(), s->operands.end(), [](Scalar x) {
        return x->kind == ScalarKind::Reduce && x->monoid == Monoid::Sum;
    });
    if (found == s->operands.end() || shared.contains(*found)) return std::nullopt;
    Scalar reduction = *found;
    std::vector<Scalar> inside{reduction->operands[0]};
    std::vector<Scalar> outside;
    for (Scalar operand : s->operands) {
        if (operand == reduction) continue;
        bool joins = is_weight_only(operand) && can_join(operand, reduction);
        (joins ? inside : outside).push_back(operand);
    }
    if (inside.size() == 1) return std::nullopt;
    Arena& arena = *s->arena;
    outside.push_back(arena.reduce(Monoid::Sum, reduction->axes, arena.mul(std::move(inside))));
    return arena.mul(std::move(outside));
}

Scalar factor_all(Scalar body) {
    std::set<Scalar> shared = shared_reductions(body);
    return rewrite(body, [&](Scalar s) { return factored(s, shared).value_or(s); });
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (!is_weight_only(definition) && factor_all(definition->body) != definition->body)
            found.push_back({definition, definition->name, "scales into sums", {}});
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    return with_new_body(expr, site.definition, factor_all(site.definition->body));
}

}  // namespace

extern const Rule factor{"factor",
                         "w * sum[y] f(y) = sum[y] w * f(y)",
                         "w depends on weights only, does not use y, the sum occurs once, and f "
                         "has weight-only factors over w's iterators.",
                         "A scale is folded into the weights, which are computed once.",
                         "exact",
                         0,
                         sites,
                         apply,
                         {{"input A: f32[8, 4]\nweight K: f32[4, 5]\nweight g: f32[5]\n"
                           "output Y: f32[h:8, f:5] = (sum[c:4] A[h, c] * K[c, f]) * g[f]\n",
                           "",
                           "input A: f32[8, 4]\nweight K: f32[4, 5]\nweight g: f32[5]\n"
                           "output Y: f32[h:8, f:5] = sum[c:4] A[h, c] * K[c, f] * g[f]\n",
                           ""}}};

}  // namespace ollie::derive::rules
