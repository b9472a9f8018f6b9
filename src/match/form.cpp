#include "match/form.h"

#include <algorithm>

#include "expr/build.h"
#include "expr/print.h"
#include "expr/visit.h"

namespace ollie::match {
namespace {

using expr::Scalar;
using expr::ScalarKind;

void collect_reductions(Scalar scalar, std::vector<Scalar>& found) {
    if (scalar->kind == ScalarKind::Reduce) {
        if (std::find(found.begin(), found.end(), scalar) == found.end()) found.push_back(scalar);
        return;
    }
    for (Scalar operand : scalar->operands) collect_reductions(operand, found);
}

bool is_constant(Scalar scalar, double value) {
    return scalar->kind == ScalarKind::Constant && scalar->constant == value;
}

void add_conjuncts(expr::Predicate predicate, std::vector<expr::Predicate>& conjuncts) {
    if (predicate->kind == expr::PredicateKind::And) {
        for (expr::Predicate operand : predicate->operands) add_conjuncts(operand, conjuncts);
    } else if (predicate->kind != expr::PredicateKind::True) {
        conjuncts.push_back(predicate);
    }
}

void take_apart(Scalar scalar, Form& form) {
    bool is_product = scalar->kind == ScalarKind::Mul && form.monoid == expr::Monoid::Sum;
    bool is_nested = scalar->kind == ScalarKind::Reduce && scalar->monoid == form.monoid;
    if (scalar->kind == ScalarKind::Read) {
        form.reads.push_back(scalar);
    } else if (is_product) {
        for (Scalar operand : scalar->operands) take_apart(operand, form);
    } else if (is_nested && form.reads.empty()) {
        form.axes.insert(form.axes.end(), scalar->axes.begin(), scalar->axes.end());
        take_apart(scalar->operands[0], form);
    } else if (scalar->kind == ScalarKind::Constant && form.monoid == expr::Monoid::Sum) {
        form.constant *= scalar->constant;
    } else if (scalar->kind == ScalarKind::Select &&
               is_constant(scalar->operands[1], expr::identity(form.monoid))) {
        add_conjuncts(scalar->predicate, form.predicates);
        take_apart(scalar->operands[0], form);
    } else {
        form.obstacle = "the reduction holds something other than a product of reads";
    }
}

Form take_apart(Scalar reduction) {
    Form form;
    form.core = reduction;
    form.monoid = reduction->monoid;
    form.axes = reduction->axes;
    take_apart(reduction->operands[0], form);
    return form;
}

bool is_unit(const expr::Axis& axis) { return axis.extent() == 1; }

/// Replaces unit iterators by their one value.
void drop_units(const expr::Tensor* definition, Form& form) {
    expr::Substitution values;
    auto add = [&](const std::vector<expr::Axis>& axes) {
        for (const expr::Axis& axis : axes)
            if (is_unit(axis)) values[axis.iterator] = definition->arena->constant(axis.lo);
    };
    add(definition->axes);
    add(form.axes);
    if (values.empty()) return;
    std::erase_if(form.axes, is_unit);
    for (Scalar& read : form.reads) read = expr::substitute(read, values);
    for (expr::Predicate& predicate : form.predicates)
        predicate = expr::substitute(predicate, values);
}

/// Whether two reductions differ only in the names of their iterators.
bool is_same(Scalar a, Scalar b) {
    if (a == b) return true;
    if (a->kind != ScalarKind::Reduce || b->kind != ScalarKind::Reduce) return false;
    if (a->monoid != b->monoid || a->axes.size() != b->axes.size()) return false;
    expr::Substitution renamed;
    for (size_t i = 0; i < a->axes.size(); ++i) {
        if (a->axes[i].lo != b->axes[i].lo || a->axes[i].hi != b->axes[i].hi) return false;
        renamed[b->axes[i].iterator] = expr::index_of(a->axes[i].iterator);
    }
    return is_same(a->operands[0], expr::substitute(b->operands[0], renamed));
}

void split_epilogue(const expr::Tensor* definition, Form& form) {
    expr::Arena& arena = *definition->arena;
    form.core_value = arena.input("core_value", definition->type, definition->shape());
    Scalar value = arena.read(form.core_value, expr::indices_of(definition->axes));
    if (form.constant != 1) value = value * form.constant;
    form.epilogue = expr::rewrite(definition->body, [&](Scalar scalar) {
        return is_same(form.core, scalar) ? value : scalar;
    });
}

}  // namespace

std::vector<Form> forms_of(const expr::Tensor* definition) {
    std::vector<Scalar> reductions;
    if (definition->is_definition()) collect_reductions(definition->body, reductions);
    std::vector<Form> forms;
    for (Scalar reduction : reductions) {
        forms.push_back(take_apart(reduction));
        drop_units(definition, forms.back());
        if (forms.back().obstacle.empty()) split_epilogue(definition, forms.back());
    }
    std::stable_sort(forms.begin(), forms.end(), [](const Form& a, const Form& b) {
        if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
        return a.axes.size() > b.axes.size();
    });
    return forms;
}

void put(const Form& form, Binding& binding) {
    binding.core = form.core;
    binding.core_value = form.core_value;
    binding.epilogue = form.epilogue;
    binding.has_epilogue = form.epilogue->kind != ScalarKind::Read;
}

}  // namespace ollie::match
