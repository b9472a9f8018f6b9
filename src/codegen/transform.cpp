#include "codegen/transform.h"

#include "expr/build.h"
#include "expr/range.h"
#include "expr/simplify.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;

bool is_bound(Scalar transform, Iterator iterator) {
    for (const Axis& axis : transform->axes)
        if (axis.iterator == iterator) return true;
    return false;
}

/// Free iterators of the positions in the matrices.
std::set<Iterator> rows_of(Scalar transform) {
    std::set<Iterator> rows;
    for (Scalar factor : transform->operands[0]->operands) {
        if (factor->kind != ScalarKind::Number) continue;
        for (Iterator iterator : iterators_of(factor->indices[0]))
            if (!is_bound(transform, iterator)) rows.insert(iterator);
    }
    return rows;
}

/// The sum over all points of its iterators, from the `next`th on.
void write_terms(Scalar transform, size_t next, Substitution& at, std::vector<Scalar>& terms,
                 const std::vector<Axis>& scope) {
    Arena& arena = *transform->arena;
    if (next == transform->axes.size()) {
        Scalar term = simplify(substitute(transform->operands[0], at), scope);
        bool is_zero = term->kind == ScalarKind::Constant && term->constant == 0;
        if (!is_zero) terms.push_back(term);
        return;
    }
    const Axis& axis = transform->axes[next];
    for (int64_t value = axis.lo; value < axis.hi; ++value) {
        at[axis.iterator] = arena.constant(value);
        write_terms(transform, next + 1, at, terms, scope);
    }
}

Scalar write_out(Scalar transform, std::vector<Axis> rows, Substitution& at,
                 const std::vector<Axis>& scope) {
    Arena& arena = *transform->arena;
    if (rows.empty()) {
        std::vector<Scalar> terms;
        write_terms(transform, 0, at, terms, scope);
        return terms.empty() ? arena.constant_scalar(0) : arena.add(std::move(terms));
    }
    Axis row = rows.back();
    rows.pop_back();
    Scalar result;
    for (int64_t value = row.hi - 1; value >= row.lo; --value) {
        at[row.iterator] = arena.constant(value);
        Scalar here = write_out(transform, rows, at, scope);
        result = result ? arena.select(index_of(row.iterator) == value, here, result) : here;
    }
    return result;
}

}  // namespace

std::set<Iterator> row_iterators(const Tensor* definition) {
    std::set<Iterator> rows, own;
    for (const Axis& axis : definition->axes) own.insert(axis.iterator);
    for_each_scalar(definition->body, [&](Scalar s) {
        if (is_transform(s)) rows.merge(rows_of(s));
        if (s->kind != ScalarKind::Read || !s->tensor->is_definition()) return;
        std::set<Iterator> inner = row_iterators(s->tensor);
        for (size_t i = 0; i < s->indices.size(); ++i)
            if (inner.contains(s->tensor->axes[i].iterator))
                if (auto iterator = as_iterator(s->indices[i])) rows.insert(*iterator);
    });
    std::erase_if(rows, [&](Iterator iterator) { return !own.contains(iterator); });
    return rows;
}

Scalar with_transforms_written_out(Scalar body, const std::vector<Axis>& scope) {
    return rewrite(body, [&](Scalar s) {
        if (!is_transform(s)) return s;
        std::vector<Axis> rows;
        for (Iterator iterator : rows_of(s))
            for (const Axis& axis : scope)
                if (axis.iterator == iterator) rows.push_back(axis);
        Substitution at;
        return write_out(s, rows, at, scope);
    });
}

}  // namespace ollie::codegen
