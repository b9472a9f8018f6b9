#include <set>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// Factors for an iterator of a sum: strides of what it is added to in some access.
std::set<int64_t> factors(const Tensor* definition, const Axis& r) {
    std::set<int64_t> found;
    for (Index access : accesses_of(definition->body)) {
        if (std::abs(coefficient(access, r.iterator)) != 1) continue;
        for (const Term& term : access->terms) {
            if (term.atom->kind != AtomKind::Iterator || term.atom->iterator == r.iterator)
                continue;
            int64_t stride = std::abs(term.coefficient);
            if (stride > 1 && stride < r.extent()) found.insert(stride);
        }
    }
    return found;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition)) continue;
        std::vector<Scalar> reductions = reductions_of(definition->body, Monoid::Sum);
        for (size_t which = 0; which < reductions.size(); ++which)
            for (size_t i = 0; i < reductions[which]->axes.size(); ++i)
                for (int64_t k : factors(definition, reductions[which]->axes[i])) {
                    const std::string& r = reductions[which]->axes[i].iterator->name;
                    found.push_back({definition,
                                     definition->name + ": " + r,
                                     r + " = " + std::to_string(k) + " * t + " + r,
                                     {static_cast<int64_t>(which), static_cast<int64_t>(i), k}});
                }
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Scalar reduction = reductions_of(site.definition->body, Monoid::Sum)[site.values[0]];
    const Axis r = reduction->axes[site.values[1]];
    int64_t k = site.values[2];
    Arena& arena = *expr.arena;
    Axis t{arena.iterator("t"), 0, (r.extent() + k - 1) / k};
    Axis p{arena.iterator(r.iterator->name), 0, k};
    Scalar body = reduction->operands[0];
    if (r.extent() % k != 0) {
        auto bounded = with_zero_beyond(body, r);
        body = bounded ? *bounded
                       : arena.select(index_of(r.iterator) < r.hi, body, arena.constant_scalar(0));
    }
    body = substitute(body, {{r.iterator, index_of(t.iterator) * k + index_of(p.iterator) + r.lo}});
    Ranges ranges = scope_of(site.definition);
    ranges.add({t, p});
    std::vector<Axis> axes;
    for (const Axis& axis : reduction->axes) {
        axes.push_back(axis.iterator == r.iterator ? t : axis);
        if (axis.iterator == r.iterator) axes.push_back(p);
    }
    Scalar split = arena.reduce(Monoid::Sum, std::move(axes), with_guarded_reads(body, ranges));
    return with_new_body(expr, site.definition,
                         replace_node(site.definition->body, reduction, split));
}

}  // namespace

extern const Rule split_reduction{
    "split_reduction",
    "sum[r in 0..R] f(r) = sum[t, p in 0..k] [k*t + p < R] f(k*t + p)",
    "What lies beyond R has the coefficient 0: as the outside value of a factor that is read at r "
    "over the same range, else as a guard.",
    "A stride's residues join the reduced iterators.",
    "exact",
    1,
    sites,
    apply,
    {{"input A: f32[12]\nweight K: f32[3]\n"
      "output Y: f32[h:4] = sum[r:3] A[2 * h + r] * K[r]\n",
      "",
      "input A: f32[12]\nweight K: f32[3]\n"
      "output Y: f32[h:4] = sum[t:2, r:2] A[2 * h + 2 * t + r] * K[2 * t + r | 0]\n",
      ""}}};

}  // namespace ollie::derive::rules
