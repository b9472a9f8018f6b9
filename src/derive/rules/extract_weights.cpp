#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// Stored, the part may be at most this many times what it reads: residues pad the last period.
constexpr int64_t growth_limit = 2;
constexpr int64_t small_size = 4096;

int64_t elements_read(Scalar s) {
    int64_t count = 0;
    for (Scalar read : reads_of(s)) count = std::max(count, element_count(read->tensor->shape()));
    return count;
}

bool is_worth_storing(Scalar s, const Ranges& ranges) {
    int64_t count = 1;
    for (Iterator iterator : free_iterators(s)) {
        Interval interval = ranges.of(iterator);
        count *= interval.hi - interval.lo + 1;
    }
    return count <= std::max(small_size, growth_limit * elements_read(s));
}

/// The weight-only operands of a sum or product taken together, if there are several.
std::optional<Scalar> weight_part(Scalar s) {
    if (s->kind != ScalarKind::Mul && s->kind != ScalarKind::Add) return std::nullopt;
    std::vector<Scalar> part;
    for (Scalar operand : s->operands)
        if (is_weight_only(operand)) part.push_back(operand);
    if (part.size() < 2 || part.size() == s->operands.size()) return std::nullopt;
    return s->kind == ScalarKind::Mul ? s->arena->mul(part) : s->arena->add(part);
}

bool qualifies(Scalar s, const Ranges& ranges) {
    return is_weight_only(s) && !is_plain_read(s) && !reads_of(s).empty() &&
           is_worth_storing(s, ranges);
}

/// The first maximal weight-only subexpression, outermost first, that is worth storing.
std::optional<Scalar> find_part(Scalar s, const Ranges& ranges) {
    if (qualifies(s, ranges)) return s;
    auto part = weight_part(s);
    if (part && qualifies(*part, ranges)) return part;
    for (Scalar operand : s->operands)
        if (auto found = find_part(operand, ranges)) return found;
    return std::nullopt;
}

/// The body with the part replaced: the node itself, or the operands that make it up.
Scalar without_part(Scalar body, Scalar part, Scalar replacement) {
    return rewrite(body, [&](Scalar s) {
        if (s == part) return replacement;
        if (weight_part(s) != part) return s;
        std::vector<Scalar> operands;
        for (Scalar operand : s->operands)
            if (!is_weight_only(operand)) operands.push_back(operand);
        operands.push_back(replacement);
        return s->kind == ScalarKind::Mul ? s->arena->mul(operands) : s->arena->add(operands);
    });
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition)) continue;
        if (auto part = find_part(definition->body, scope_of(definition)))
            found.push_back({definition,
                             definition->name,
                             reads_of(*part).front()->tensor->name + " and what scales it",
                             {}});
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Ranges ranges = scope_of(site.definition);
    Scalar part = *find_part(site.definition->body, ranges);
    const std::string& source = reads_of(part).front()->tensor->name;
    Scalar stored = extracted(expr, part, ranges, source + "_folded", site.definition->type,
                              site.definition->origin);
    return with_new_body(expr, site.definition, without_part(site.definition->body, part, stored));
}

}  // namespace

extern const Rule extract_weights{
    "extract_weights",
    "L[x] f(w(x), ...) = L[x] f({ L[x] w(x) }[x], ...)",
    "w depends on weights only and, stored, is at most twice as large as what it reads.",
    "Computed once, when optimizing.",
    "exact",
    0,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4, 5]\nweight g: f32[5]\n"
      "output Y: f32[h:8, f:5] = sum[c:4] A[h, c] * K[c, f] * g[f]\n",
      "",
      "input A: f32[8, 4]\nweight K: f32[4, 5]\nweight g: f32[5]\n"
      "pinned K_folded: f32[f:5, c:4] = K[c, f] * g[f]\n"
      "output Y: f32[h:8, f:5] = sum[c:4] A[h, c] * K_folded[f, c]\n",
      ""}}};

}  // namespace ollie::derive::rules
