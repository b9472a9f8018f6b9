#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// The two halves of the reduction's iterators: the first are those whose bit is set.
std::pair<std::vector<Axis>, std::vector<Axis>> halves(Scalar reduction, int64_t bits) {
    std::pair<std::vector<Axis>, std::vector<Axis>> result;
    for (size_t i = 0; i < reduction->axes.size(); ++i)
        (bits >> i & 1 ? result.first : result.second).push_back(reduction->axes[i]);
    return result;
}

/// Bits of the iterators that share no access with an iterator of the traversal: they have one fate
/// only, and stay in the inner sum.
int64_t uncoupled(const Tensor* definition, Scalar reduction) {
    int64_t bits = (int64_t{1} << reduction->axes.size()) - 1;
    for (Index access : accesses_of(reduction->operands[0])) {
        bool meets_traversal =
            std::any_of(definition->axes.begin(), definition->axes.end(),
                        [&](const Axis& axis) { return uses(access, axis.iterator); });
        if (!meets_traversal) continue;
        for (size_t i = 0; i < reduction->axes.size(); ++i)
            if (uses(access, reduction->axes[i].iterator)) bits &= ~(int64_t{1} << i);
    }
    return bits;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition)) continue;
        std::vector<Scalar> reductions = reductions_of(definition->body, Monoid::Sum);
        for (size_t which = 0; which < reductions.size(); ++which) {
            size_t count = reductions[which]->axes.size();
            if (count < 2 || count > 10) continue;
            int64_t fixed = uncoupled(definition, reductions[which]);
            for (int64_t bits = 1; bits + 1 < int64_t{1} << count; ++bits) {
                if ((bits & fixed) != fixed) continue;
                auto [inner, outer] = halves(reductions[which], bits);
                found.push_back({definition,
                                 definition->name + ": sum[" + text(reductions[which]->axes) + "]",
                                 "{" + text(outer) + "} from {" + text(inner) + "}",
                                 {static_cast<int64_t>(which), bits}});
            }
        }
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Scalar reduction = reductions_of(site.definition->body, Monoid::Sum)[site.values[0]];
    auto [inner, outer] = halves(reduction, site.values[1]);
    Arena& arena = *expr.arena;
    Scalar partial = arena.reduce(Monoid::Sum, inner, reduction->operands[0]);
    std::vector<Axis> axes;
    for (const Axis& axis : site.definition->axes)
        if (uses(partial, axis.iterator)) axes.push_back(axis);
    for (const Axis& axis : outer)
        if (uses(partial, axis.iterator)) axes.push_back(axis);
    const Tensor* part =
        arena.define(unused_name(expr, site.definition->name + "_part"), site.definition->type,
                     axes, partial, site.definition->origin);
    std::vector<Axis> outer_again = fresh(arena, outer);
    Substitution renaming;
    for (size_t i = 0; i < outer.size(); ++i)
        renaming[outer[i].iterator] = index_of(outer_again[i].iterator);
    Scalar whole = arena.reduce(Monoid::Sum, outer_again,
                                substitute(arena.read(part, indices_of(axes)), renaming));
    return with_new_body(expr, site.definition,
                         replace_node(site.definition->body, reduction, whole));
}

}  // namespace

extern const Rule split_sum{
    "split_sum",
    "L[x] sum[y, z] f(x, y, z) = L[x] sum[y] { L[x, y] sum[z] f(x, y, z) }[x, y]",
    "z holds every iterator that shares no access with one of x, and is a proper non-empty subset.",
    "Exposes a product inside a convolution.",
    "exact",
    1,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "output Y: f32[h:6, f:5] = sum[c:4, r:3] A[h + r, c] * K[c, r, f]\n",
      "{r} from {c}",
      "input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "Y_part: f32[h:6, f:5, r:3] = sum[c:4] A[h + r, c] * K[c, r, f]\n"
      "output Y: f32[h:6, f:5] = sum[r:3] Y_part[h, f, r]\n",
      ""}}};

}  // namespace ollie::derive::rules
