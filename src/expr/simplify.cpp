#include "expr/simplify.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "expr/build.h"
#include "expr/range.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

bool is_exact_product(double a, double b) {
    double product = a * b;
    return std::isfinite(product) && std::fma(a, b, -product) == 0 &&
           (product == 0 || std::abs(product) > 1e-280);
}

bool is_exact_sum(double a, double b) {
    double sum = a + b;
    double back = sum - a;
    return std::isfinite(sum) && (a - (sum - back)) + (b - back) == 0;
}

bool is_power_of_two(double value) {
    int exponent;
    return std::isfinite(value) && value != 0 && std::abs(std::frexp(value, &exponent)) == 0.5;
}

/// Folds constants among the operands into one, as far as that is exact; it goes last (+) or first
/// (*).
std::vector<Scalar> fold_constants(const std::vector<Scalar>& operands, bool is_product) {
    std::vector<Scalar> rest;
    std::vector<double> constants;
    for (Scalar s : operands) {
        if (s->kind != ScalarKind::Constant) {
            rest.push_back(s);
            continue;
        }
        double value = s->constant;
        if (!constants.empty()) {
            double& last = constants.back();
            if (is_product ? is_exact_product(last, value) : is_exact_sum(last, value)) {
                last = is_product ? last * value : last + value;
                continue;
            }
        }
        constants.push_back(value);
    }
    Arena& arena = *operands.front()->arena;
    std::vector<Scalar> folded;
    for (double value : constants) folded.push_back(arena.constant_scalar(value));
    rest.insert(is_product ? rest.begin() : rest.end(), folded.begin(), folded.end());
    return rest;
}

bool has_zero(const std::vector<Scalar>& operands) {
    for (Scalar s : operands)
        if (s->kind == ScalarKind::Constant && s->constant == 0) return true;
    return false;
}

class Simplifier {
public:
    explicit Simplifier(const std::vector<Axis>& scope) : ranges_(scope) {}

    Scalar operator()(Scalar s) {
        switch (s->kind) {
            case ScalarKind::Constant:
                return s;
            case ScalarKind::Read:
                return read(s);
            case ScalarKind::Number:
                return s->arena->number(simplify(s->indices[0], ranges_));
            case ScalarKind::Add:
                return sum(s);
            case ScalarKind::Mul:
                return product(s);
            case ScalarKind::Function:
                return function(s);
            case ScalarKind::Select:
                return select(s);
            case ScalarKind::Reduce:
                return reduce(s);
            case ScalarKind::Cast:
                return s->arena->cast(s->type, (*this)(s->operands[0]));
        }
        CHECK(false);
    }

private:
    std::vector<Scalar> operands(Scalar s) {
        std::vector<Scalar> result;
        for (Scalar operand : s->operands) result.push_back((*this)(operand));
        return result;
    }

    Scalar read(Scalar s) {
        std::vector<Index> indices;
        for (Index index : s->indices) indices.push_back(simplify(index, ranges_));
        if (!s->has_outside) return with_indices(s, std::move(indices));
        for (size_t i = 0; i < indices.size(); ++i) {
            Interval interval = interval_of(indices[i], ranges_);
            const Axis& axis = s->tensor->axes[i];
            if (interval.lo <= interval.hi && (interval.hi < axis.lo || interval.lo >= axis.hi))
                return s->arena->constant_scalar(s->constant);
        }
        if (is_inside(s->tensor, indices, ranges_))
            return s->arena->read(s->tensor, std::move(indices));
        return with_indices(s, std::move(indices));
    }

    Scalar sum(Scalar s) {
        Scalar flat = s->arena->add(operands(s));
        if (flat->kind != ScalarKind::Add) return flat;
        return s->arena->add(fold_constants(flat->operands, false));
    }

    Scalar product(Scalar s) {
        Scalar flat = s->arena->mul(operands(s));
        if (flat->kind != ScalarKind::Mul) return flat;
        if (has_zero(flat->operands)) return s->arena->constant_scalar(0);
        return s->arena->mul(fold_constants(flat->operands, true));
    }

    Scalar function(Scalar s) {
        std::vector<Scalar> arguments = operands(s);
        bool all_constant = true;
        for (Scalar a : arguments) all_constant = all_constant && a->kind == ScalarKind::Constant;
        if (all_constant && s->function == Function::Reciprocal &&
            is_power_of_two(arguments[0]->constant))
            return s->arena->constant_scalar(1 / arguments[0]->constant);
        if (all_constant && s->function == Function::Max)
            return s->arena->constant_scalar(
                std::fmax(arguments[0]->constant, arguments[1]->constant));
        if (all_constant && s->function == Function::Min)
            return s->arena->constant_scalar(
                std::fmin(arguments[0]->constant, arguments[1]->constant));
        return s->arena->function(s->function, std::move(arguments));
    }

    Scalar select(Scalar s) {
        Predicate predicate = simplify(s->predicate, ranges_);
        if (predicate->kind == PredicateKind::True) return (*this)(s->operands[0]);
        if (predicate->kind == PredicateKind::False) return (*this)(s->operands[1]);
        return s->arena->select(predicate, (*this)(s->operands[0]), (*this)(s->operands[1]));
    }

    /// Unit iterators are substituted, the others shifted to 0; nested reductions of one monoid
    /// merge; what the body does not use becomes a factor or goes.
    Scalar reduce(Scalar s) {
        Arena& arena = *s->arena;
        Substitution substitution;
        std::vector<Axis> axes;
        for (const Axis& axis : s->axes) {
            if (axis.extent() <= 0) return arena.constant_scalar(identity(s->monoid));
            if (axis.extent() == 1) {
                substitution[axis.iterator] = arena.constant(axis.lo);
            } else if (axis.lo != 0) {
                axes.push_back({arena.iterator(axis.iterator->name), 0, axis.extent()});
                substitution[axis.iterator] = index_of(axes.back().iterator) + axis.lo;
            } else {
                axes.push_back(axis);
            }
        }
        Ranges saved = ranges_;
        ranges_.add(axes);
        Scalar body = (*this)(substitute(s->operands[0], substitution));
        ranges_ = std::move(saved);
        if (body->kind == ScalarKind::Reduce && body->monoid == s->monoid) {
            axes.insert(axes.end(), body->axes.begin(), body->axes.end());
            body = body->operands[0];
        }
        return without_unused(s->monoid, std::move(axes), body);
    }

    Scalar without_unused(Monoid monoid, std::vector<Axis> axes, Scalar body) {
        Arena& arena = *body->arena;
        if (monoid == Monoid::Prod) return arena.reduce(monoid, std::move(axes), body);
        double factor = 1;
        std::vector<Axis> used;
        for (const Axis& axis : axes) {
            if (uses(body, axis.iterator))
                used.push_back(axis);
            else
                factor *= static_cast<double>(axis.extent());
        }
        Scalar reduced = arena.reduce(monoid, std::move(used), body);
        if (monoid != Monoid::Sum || factor == 1) return reduced;
        return (*this)(arena.mul({arena.constant_scalar(factor), reduced}));
    }

    Ranges ranges_;
};

/// The hull of what is read of each axis over all consumers, within the domain.
std::vector<Interval> footprint(const Expr& expr, const Tensor* tensor) {
    const Interval empty{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    std::vector<Interval> hull(tensor->rank(), empty);
    for (const Tensor* consumer : definitions_of(expr)) {
        Ranges ranges(consumer->axes);
        for_each_scalar(consumer->body, [&](Scalar s) {
            if (s->kind == ScalarKind::Reduce) ranges.add(s->axes);
        });
        for (Scalar read : reads_of(consumer->body)) {
            if (read->tensor != tensor) continue;
            for (size_t i = 0; i < hull.size(); ++i) {
                Interval interval = interval_of(read->indices[i], ranges);
                hull[i].lo = std::min(hull[i].lo, std::max(interval.lo, tensor->axes[i].lo));
                hull[i].hi = std::max(hull[i].hi, std::min(interval.hi, tensor->axes[i].hi - 1));
            }
        }
    }
    return hull;
}

/// Whether some read of the tensor may lie outside on this axis.
bool may_be_outside(const Expr& expr, const Tensor* tensor, size_t axis) {
    for (const Tensor* consumer : definitions_of(expr)) {
        Ranges ranges(consumer->axes);
        for_each_scalar(consumer->body, [&](Scalar s) {
            if (s->kind == ScalarKind::Reduce) ranges.add(s->axes);
        });
        for (Scalar read : reads_of(consumer->body)) {
            if (read->tensor != tensor || !read->has_outside) continue;
            Interval interval = interval_of(read->indices[axis], ranges);
            if (interval.lo < tensor->axes[axis].lo || interval.hi >= tensor->axes[axis].hi)
                return true;
        }
    }
    return false;
}

bool is_empty(const Tensor* tensor) {
    for (const Axis& axis : tensor->axes)
        if (axis.extent() <= 0) return true;
    return false;
}

/// How each axis of an intermediate changes: dropped, or moved and cut to [0, extent). Those of
/// pinned ones are only moved.
struct Reshaping {
    std::vector<bool> keep;
    std::vector<int64_t> offset;
    std::vector<Axis> axes;
    Substitution substitution;
    bool changes = false;
};

Reshaping reshaping_of(const Expr& expr, const Tensor* tensor) {
    Arena& arena = *expr.arena;
    Reshaping result;
    std::vector<Interval> hull = footprint(expr, tensor);
    for (size_t i = 0; i < tensor->rank(); ++i) {
        const Axis& axis = tensor->axes[i];
        bool outside = may_be_outside(expr, tensor, i);
        bool whole = outside || tensor->pinned;
        Interval range = whole ? Interval{axis.lo, axis.hi - 1} : hull[i];
        bool drop = !whole && (range.lo == range.hi || !uses(tensor->body, axis.iterator));
        result.keep.push_back(!drop);
        result.offset.push_back(drop ? 0 : range.lo);
        if (drop) {
            result.substitution[axis.iterator] = arena.constant(range.lo);
        } else if (range.lo != 0) {
            Iterator shifted = arena.iterator(axis.iterator->name);
            result.axes.push_back({shifted, 0, range.hi - range.lo + 1});
            result.substitution[axis.iterator] = index_of(shifted) + range.lo;
        } else {
            result.axes.push_back({axis.iterator, 0, range.hi + 1});
        }
        result.changes = result.changes || drop || range != Interval{0, axis.hi - 1};
    }
    return result;
}

Expr reshape(const Expr& expr, const Tensor* tensor, const Reshaping& shape) {
    const Tensor* smaller =
        with_body(tensor, shape.axes, substitute(tensor->body, shape.substitution));
    return change_reads(expr, tensor, [&](Scalar read) {
        std::vector<Index> indices;
        for (size_t i = 0; i < shape.keep.size(); ++i)
            if (shape.keep[i]) indices.push_back(read->indices[i] - shape.offset[i]);
        return read->arena->read(smaller, std::move(indices), outside_of(read));
    });
}

Expr simplify_bodies(const Expr& expr) {
    std::map<const Tensor*, const Tensor*> replacements;
    Expr current = expr;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Tensor* tensor : definitions_of(current)) {
            if (is_empty(tensor)) continue;
            Scalar body = simplify(tensor->body, tensor->axes);
            if (body == tensor->body) continue;
            current = replace(current, {{tensor, with_body(tensor, body)}});
            changed = true;
            break;
        }
    }
    return current;
}

}  // namespace

Scalar simplify(Scalar scalar, const std::vector<Axis>& scope) { return Simplifier(scope)(scalar); }

Expr normalize(const Expr& expr) {
    Expr current = simplify_bodies(expr);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Tensor* tensor : definitions_of(current)) {
            bool is_output = std::find(current.outputs.begin(), current.outputs.end(), tensor) !=
                             current.outputs.end();
            if (is_output || is_empty(tensor)) continue;
            Reshaping shape = reshaping_of(current, tensor);
            if (!shape.changes) continue;
            current = simplify_bodies(reshape(current, tensor, shape));
            changed = true;
            break;
        }
    }
    return current;
}

}  // namespace ollie::expr
