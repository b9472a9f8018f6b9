#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"
#include "expr/print.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

bool has_axis(const std::vector<Axis>& axes, Iterator iterator) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const Axis& axis) { return axis.iterator == iterator; });
}

/// The access is over traversal iterators only, uses this one, and is more than a mere iterator.
bool is_candidate(const Tensor* definition, Index access, Iterator iterator) {
    if (as_iterator(access) || !uses(access, iterator)) return false;
    for (Iterator used : iterators_of(access))
        if (!has_axis(definition->axes, used)) return false;
    return true;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_output(expr, definition) || is_weight_only(definition)) continue;
        std::vector<Index> accesses = accesses_of(definition->body);
        for (size_t a = 0; a < accesses.size(); ++a)
            for (size_t i = 0; i < definition->rank(); ++i)
                if (is_candidate(definition, accesses[a], definition->axes[i].iterator))
                    found.push_back(
                        {definition,
                         definition->name + ": " + print(accesses[a]),
                         definition->axes[i].iterator->name + " becomes " + print(accesses[a]),
                         {static_cast<int64_t>(a), static_cast<int64_t>(i)}});
    }
    return found;
}

/// The body over u instead of h, where u = access; nothing if h does not go away.
std::optional<Scalar> body_over(Scalar body, Index access, Iterator h, Index u) {
    Scalar abstracted = abstract(body, access, u);
    if (!uses(abstracted, h)) return abstracted;
    int64_t sign = coefficient(access, h);
    Index rest = access - index_of(h) * sign;
    if (std::abs(sign) != 1 || uses(rest, h)) return std::nullopt;
    return substitute(body, {{h, (u - rest) * sign}});
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    const Tensor* definition = site.definition;
    Index access = accesses_of(definition->body)[site.values[0]];
    size_t position = static_cast<size_t>(site.values[1]);
    Arena& arena = *expr.arena;
    for (size_t i = 0; i < definition->rank(); ++i)
        if (uses(access, definition->axes[i].iterator) && !always_read_inside(expr, definition, i))
            return refuse("{} may be read outside along {}", definition->name,
                          definition->axes[i].iterator->name);
    Iterator h = definition->axes[position].iterator;
    Interval range = interval_of(access, Ranges(definition->axes));
    Axis u{arena.iterator(h->name), range.lo, range.hi + 1};
    auto body = body_over(definition->body, access, h, index_of(u.iterator));
    if (!body) return refuse("{} is used apart from {}", h->name, print(access));
    std::vector<Axis> axes = definition->axes;
    axes[position] = u;
    Ranges ranges = scope_of(definition);
    ranges.add({u});
    const Tensor* skewed = with_body(definition, axes, with_guarded_reads(*body, ranges));
    return change_reads(expr, definition, [&](Scalar read) {
        Substitution at;
        for (size_t i = 0; i < definition->rank(); ++i)
            at[definition->axes[i].iterator] = read->indices[i];
        std::vector<Index> indices = read->indices;
        indices[position] = substitute(access, at);
        return read->arena->read(skewed, std::move(indices), outside_of(read));
    });
}

}  // namespace

extern const Rule skew{
    "skew",
    "L[x] f(x) = L[x] { L[u] f(phi^-1(u)) }[phi(x)], where u = phi(x) is an access of f",
    "The access uses traversal iterators only; it has coefficient +-1 in the replaced iterator, or "
    "the body uses that iterator only through the access. What the box adds is never read.",
    "h + r becomes one axis, so that neighbouring windows share their products.",
    "exact",
    1,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "T: f32[h:6, f:5, r:3] = sum[c:4] A[h + r, c] * K[c, r, f]\n"
      "output Y: f32[h:6, f:5] = sum[r:3] T[h, f, r]\n",
      "h becomes h + r",
      "input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "T: f32[h:8, f:5, r:3] = sum[c:4] A[h, c] * K[c, r, f]\n"
      "output Y: f32[h:6, f:5] = sum[r:3] T[h + r, f, r]\n",
      ""},
     {"input A: f32[16]\nT: f32[h:8] = A[2 * h] + A[h]\noutput Y: f32[h:8] = T[h]\n",
      "h becomes 2 * h", "", "used apart from"}}};

}  // namespace ollie::derive::rules
