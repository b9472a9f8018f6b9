#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// Holds a sum, and none that occurs elsewhere too.
bool has_sum(Scalar s, const std::set<Scalar>& shared) {
    std::vector<Scalar> sums = reductions_of(s, Monoid::Sum);
    return !sums.empty() &&
           std::none_of(sums.begin(), sums.end(), [&](Scalar sum) { return shared.contains(sum); });
}

/// (a + b) * w with weight-only w, where a or b holds a sum that w can be folded into.
std::optional<Scalar> distributed(Scalar s, const std::set<Scalar>& shared) {
    if (s->kind != ScalarKind::Mul) return std::nullopt;
    std::vector<Scalar> factors;
    Scalar addition;
    for (Scalar operand : s->operands) {
        if (is_weight_only(operand)) {
            factors.push_back(operand);
        } else if (operand->kind == ScalarKind::Add && has_sum(operand, shared) && !addition) {
            addition = operand;
        } else {
            return std::nullopt;
        }
    }
    if (!addition) return std::nullopt;
    std::vector<Scalar> terms;
    for (Scalar term : addition->operands) {
        std::vector<Scalar> product{term};
        product.insert(product.end(), factors.begin(), factors.end());
        terms.push_back(s->arena->mul(std::move(product)));
    }
    return s->arena->add(std::move(terms));
}

Scalar distribute_all(Scalar body) {
    std::set<Scalar> shared = shared_reductions(body);
    return rewrite(body, [&](Scalar s) { return distributed(s, shared).value_or(s); });
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (!is_weight_only(definition) && distribute_all(definition->body) != definition->body)
            found.push_back({definition, definition->name, "weight-only factors", {}});
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    return with_new_body(expr, site.definition, distribute_all(site.definition->body));
}

}  // namespace

extern const Rule distribute{
    "distribute",
    "(a + b) * w = a * w + b * w",
    "w depends on weights only, and a or b holds a sum that occurs nowhere else; all other factors "
    "are weight-only too.",
    "Brings the scale of a normalization to the sum that it can be folded into.",
    "exact",
    0,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4]\nweight m: f32[]\nweight g: f32[]\n"
      "output Y: f32[h:8] = (sum[c:4] A[h, c] * K[c] - m[]) * g[]\n",
      "",
      "input A: f32[8, 4]\nweight K: f32[4]\nweight g: f32[]\nweight m: f32[]\n"
      "output Y: f32[h:8] = (sum[c:4] A[h, c] * K[c]) * g[] - m[] * g[]\n",
      ""}}};

}  // namespace ollie::derive::rules
