#include "derive/scope.h"

#include <algorithm>

#include "base/error.h"

namespace ollie::derive {

using namespace expr;

Ranges scope_of(const Tensor* definition) {
    Ranges ranges(definition->axes);
    for_each_scalar(definition->body, [&](Scalar s) {
        if (s->kind == ScalarKind::Reduce) ranges.add(s->axes);
    });
    return ranges;
}

std::vector<Scalar> reductions_of(Scalar body, Monoid monoid) {
    std::vector<Scalar> found;
    for_each_scalar(body, [&](Scalar s) {
        if (s->kind == ScalarKind::Reduce && s->monoid == monoid && !is_transform(s) &&
            std::find(found.begin(), found.end(), s) == found.end())
            found.push_back(s);
    });
    return found;
}

std::set<Scalar> shared_reductions(Scalar body) {
    std::set<Scalar> seen, shared;
    for_each_scalar(body, [&](Scalar s) {
        if (s->kind == ScalarKind::Reduce && !seen.insert(s).second) shared.insert(s);
    });
    return shared;
}

bool is_weight_only(Scalar scalar) {
    if (scalar->kind == ScalarKind::Read && !is_weight_only(scalar->tensor)) return false;
    return std::all_of(scalar->operands.begin(), scalar->operands.end(),
                       [](Scalar operand) { return is_weight_only(operand); });
}

bool is_weight_only(const Tensor* tensor) {
    if (tensor->is_definition()) return is_weight_only(tensor->body);
    return tensor->kind == TensorKind::Weight;
}

bool is_output(const Expr& expr, const Tensor* tensor) {
    return std::find(expr.outputs.begin(), expr.outputs.end(), tensor) != expr.outputs.end();
}

Scalar with_guarded_reads(Scalar body, const Ranges& ranges) {
    return rewrite(body, [&](Scalar s) {
        if (s->kind != ScalarKind::Read || s->has_outside) return s;
        return is_inside(s->tensor, s->indices, ranges) ? s
                                                        : s->arena->read(s->tensor, s->indices, 0);
    });
}

namespace {

void collect(Index index, std::vector<Index>& found) {
    if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
    for (const Term& term : index->terms) {
        if (term.atom->kind != AtomKind::FloorDiv) continue;
        Index quotient = index->arena->linear(0, {{1, term.atom}});
        if (quotient != index) collect(quotient, found);
    }
}

}  // namespace

std::vector<Index> accesses_of(Scalar body) {
    std::vector<Index> found;
    for (Scalar read : reads_of(body))
        for (Index index : read->indices) collect(index, found);
    return found;
}

Scalar abstract(Scalar body, Index from, Index to) {
    return rewrite_indices(body, [&](Index index) {
        if (index == from) return to;
        if (from->terms.size() != 1 || from->constant != 0 || from->terms[0].coefficient != 1)
            return index;
        for (const Term& term : index->terms)
            if (term.atom == from->terms[0].atom) return index + (to - from) * term.coefficient;
        return index;
    });
}

bool always_read_inside(const Expr& expr, const Tensor* tensor, size_t axis) {
    for (const Tensor* consumer : definitions_of(expr)) {
        Ranges ranges = scope_of(consumer);
        for (Scalar read : reads_of(consumer->body)) {
            if (read->tensor != tensor) continue;
            Interval interval = interval_of(read->indices[axis], ranges);
            if (interval.lo < tensor->axes[axis].lo || interval.hi >= tensor->axes[axis].hi)
                return false;
        }
    }
    return true;
}

Scalar replace_node(Scalar body, Scalar old, Scalar replacement) {
    if (body == old) return replacement;
    return rewrite(body, [&](Scalar s) { return s == old ? replacement : s; });
}

Expr with_new_body(const Expr& expr, const Tensor* definition, Scalar body) {
    return replace(expr, {{definition, with_body(definition, body)}});
}

bool has_zero_outside(const Expr& expr, const Tensor* tensor) {
    for (const Tensor* consumer : definitions_of(expr))
        for (Scalar read : reads_of(consumer->body))
            if (read->tensor == tensor && read->has_outside && read->constant != 0) return false;
    return true;
}

bool is_guarded(Scalar s) {
    return s->kind == ScalarKind::Select && s->operands[1]->kind == ScalarKind::Constant &&
           s->operands[1]->constant == 0;
}

std::vector<Predicate> conjuncts(Predicate p) {
    return p->kind == PredicateKind::And ? p->operands : std::vector<Predicate>{p};
}

bool is_plain_read(Scalar s) {
    if (s->kind != ScalarKind::Read || s->has_outside) return false;
    std::set<Iterator> seen;
    return std::all_of(s->indices.begin(), s->indices.end(), [&](Index index) {
        auto iterator = as_iterator(index);
        return iterator && seen.insert(*iterator).second;
    });
}

std::optional<Scalar> with_zero_beyond(Scalar product, const Axis& r) {
    std::vector<Scalar> factors =
        product->kind == ScalarKind::Mul ? product->operands : std::vector<Scalar>{product};
    for (Scalar& factor : factors) {
        if (factor->kind != ScalarKind::Read || (factor->has_outside && factor->constant != 0))
            continue;
        for (size_t i = 0; i < factor->indices.size(); ++i) {
            const Axis& axis = factor->tensor->axes[i];
            if (as_iterator(factor->indices[i]) != r.iterator || axis.lo != r.lo || axis.hi != r.hi)
                continue;
            factor = factor->arena->read(factor->tensor, factor->indices, 0);
            return product->arena->mul(factors);
        }
    }
    return std::nullopt;
}

Scalar extracted(const Expr& expr, Scalar part, const Ranges& ranges, const std::string& name,
                 ElementType type, const Origin& origin) {
    Arena& arena = *expr.arena;
    std::vector<Axis> axes;
    std::vector<Index> at;
    Substitution renaming;
    for (Iterator iterator : free_iterators(part)) {
        Interval interval = ranges.of(iterator);
        axes.push_back({arena.iterator(iterator->name), interval.lo, interval.hi + 1});
        renaming[iterator] = index_of(axes.back().iterator);
        at.push_back(index_of(iterator));
    }
    const Tensor* stored =
        arena.define(unused_name(expr, name), type, axes,
                     substitute(with_fresh_reductions(part), renaming), origin, true);
    return arena.read(stored, std::move(at));
}

std::string text(const std::vector<Axis>& axes) {
    std::string result;
    for (const Axis& axis : axes) result += (result.empty() ? "" : ", ") + axis.iterator->name;
    return result;
}

}  // namespace ollie::derive
