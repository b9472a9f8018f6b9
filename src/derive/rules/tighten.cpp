#include <algorithm>
#include <limits>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// Where the scalar may differ from 0, as an interval of one traversal iterator.
class Support {
public:
    Support(const Tensor* definition, Iterator iterator)
        : iterator_(iterator), ranges_(scope_of(definition)), all_(ranges_.of(iterator)) {}

    Interval of(Scalar s) const {
        switch (s->kind) {
            case ScalarKind::Constant:
                return s->constant == 0 ? Interval{0, -1} : all_;
            case ScalarKind::Read:
                return of_read(s);
            case ScalarKind::Add:
                return hull(s->operands);
            case ScalarKind::Mul: {
                Interval result = all_;
                for (Scalar operand : s->operands) result = intersect(result, of(operand));
                return result;
            }
            case ScalarKind::Select:
                if (s->operands[1]->kind == ScalarKind::Constant && s->operands[1]->constant == 0)
                    return intersect(of(s->operands[0]), of(s->predicate));
                return hull(s->operands);
            case ScalarKind::Reduce:
                return s->monoid == Monoid::Sum ? of(s->operands[0]) : all_;
            case ScalarKind::Function:
                return s->function == Function::Max || s->function == Function::Min
                           ? hull(s->operands)
                           : all_;
            default:
                return all_;
        }
    }

private:
    static Interval intersect(Interval x, Interval y) {
        return {std::max(x.lo, y.lo), std::min(x.hi, y.hi)};
    }

    Interval hull(const std::vector<Scalar>& operands) const {
        Interval result{0, -1};
        for (Scalar operand : operands) {
            Interval interval = of(operand);
            if (interval.lo > interval.hi) continue;
            result = result.lo > result.hi ? interval
                                           : Interval{std::min(result.lo, interval.lo),
                                                      std::max(result.hi, interval.hi)};
        }
        return result;
    }

    /// Values of the iterator for which the index, +-iterator + rest, can lie in [lo, hi].
    Interval solve(Index index, int64_t lo, int64_t hi) const {
        int64_t sign = coefficient(index, iterator_);
        Index rest = index - index_of(iterator_) * sign;
        if (std::abs(sign) != 1 || uses(rest, iterator_)) return all_;
        Interval around = interval_of(rest, ranges_);
        if (sign > 0) return intersect(all_, {lo - around.hi, hi - around.lo});
        return intersect(all_, {around.lo - hi, around.hi - lo});
    }

    Interval of_read(Scalar read) const {
        Interval result = all_;
        if (!read->has_outside || read->constant != 0) return result;
        for (size_t i = 0; i < read->indices.size(); ++i)
            result = intersect(result, solve(read->indices[i], read->tensor->axes[i].lo,
                                             read->tensor->axes[i].hi - 1));
        return result;
    }

    Interval of(Predicate p) const {
        if (p->kind == PredicateKind::NonNegative)
            return solve(p->index, 0, std::numeric_limits<int32_t>::max());
        if (p->kind == PredicateKind::Zero) return solve(p->index, 0, 0);
        Interval result = all_;
        if (p->kind == PredicateKind::And)
            for (Predicate operand : p->operands) result = intersect(result, of(operand));
        return result;
    }

    Iterator iterator_;
    Ranges ranges_;
    Interval all_;
};

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_output(expr, definition) || definition->pinned || is_weight_only(definition))
            continue;
        for (size_t i = 0; i < definition->rank(); ++i) {
            const Axis& axis = definition->axes[i];
            Interval support = Support(definition, axis.iterator).of(definition->body);
            if (support.lo > support.hi) continue;
            if (support.lo > axis.lo || support.hi < axis.hi - 1)
                found.push_back({definition,
                                 definition->name + ": " + axis.iterator->name,
                                 axis.iterator->name + " in " + std::to_string(support.lo) + ".." +
                                     std::to_string(support.hi + 1),
                                 {static_cast<int64_t>(i), support.lo, support.hi + 1}});
        }
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    if (!has_zero_outside(expr, site.definition))
        return refuse("{} is read with an outside value that is not 0", site.definition->name);
    std::vector<Axis> axes = site.definition->axes;
    Axis& axis = axes[site.values[0]];
    axis.lo = site.values[1];
    axis.hi = site.values[2];
    const Tensor* tight = with_body(site.definition, axes, site.definition->body);
    return change_reads(expr, site.definition,
                        [&](Scalar read) { return read->arena->read(tight, read->indices, 0); });
}

}  // namespace

extern const Rule tighten{
    "tighten",
    "{ L[x in X] f(x) }[phi] = { L[x in X'] f(x) }[phi | 0], where f is 0 on X outside X'",
    "An intermediate whose body is proved to be 0 on the part that goes, and whose reads have no "
    "outside value other than 0.",
    "What is known to be 0 is neither computed nor stored.",
    "exact",
    0,
    sites,
    apply,
    {{"input A: f32[7, 4]\nweight K: f32[4, 5]\n"
      "T: f32[h:-1..8, f:5] = sum[c:4] A[h, c | 0] * K[c, f]\n"
      "output Y: f32[h:9, f:5] = T[h - 1, f]\n",
      "h in 0..7",
      "input A: f32[7, 4]\nweight K: f32[4, 5]\n"
      "T: f32[h:7, f:5] = sum[c:4] A[h, c] * K[c, f]\n"
      "output Y: f32[h:9, f:5] = T[h - 1, f | 0]\n",
      ""},
     {"input A: f32[7]\nT: f32[h:-1..8] = A[h | 0]\noutput Y: f32[h:11] = T[h - 2 | 1]\n",
      "h in 0..7", "", "outside value that is not 0"}}};

}  // namespace ollie::derive::rules
