#include "match/contraction.h"

#include <algorithm>

#include "expr/build.h"
#include "expr/print.h"
#include "expr/range.h"
#include "match/form.h"
#include "match/mismatch.h"
#include "match/pattern_text.h"

namespace ollie::match {
namespace {

using expr::Axis;
using expr::Iterator;
using expr::Tensor;

bool is_linear(expr::Index index) {
    return std::all_of(index->terms.begin(), index->terms.end(), [](const expr::Term& term) {
        return term.atom->kind == expr::AtomKind::Iterator && term.coefficient > 0;
    });
}

/// Terms of a linear index, the largest coefficient first.
std::vector<expr::Term> by_coefficient(expr::Index index) {
    std::vector<expr::Term> terms = index->terms;
    std::stable_sort(terms.begin(), terms.end(), [](const expr::Term& a, const expr::Term& b) {
        return a.coefficient > b.coefficient;
    });
    return terms;
}

/// Whether different values of the iterators give different values of the index.
bool is_injective(expr::Index index, const expr::Ranges& ranges) {
    int64_t span = 0;
    std::vector<expr::Term> terms = by_coefficient(index);
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
        if (term->coefficient <= span) return false;
        expr::Interval range = ranges.of(term->atom->iterator);
        span += term->coefficient * (range.hi - range.lo);
    }
    return true;
}

bool occurs(const Access& access, Iterator iterator) {
    return std::any_of(access.indices.begin(), access.indices.end(),
                       [&](expr::Index index) { return expr::uses(index, iterator); });
}

/// Finds what keeps a read from being a strided view.
void check_access(const Access& access, bool has_outside, int operand, const expr::Ranges& ranges,
                  std::vector<Mismatch>& mismatches) {
    using Kind = Mismatch::Kind;
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
        expr::Index index = access.indices[axis];
        if (!is_linear(index)) {
            mismatches.push_back({Kind::Order, IteratorClass::Rows, operand,
                                  fmt::format("index `{}` of {} is not a sum of iterators",
                                              expr::print(index), access.tensor->name)});
        } else if (!is_injective(index, ranges)) {
            mismatches.push_back({Kind::Stride, IteratorClass::Rows, operand,
                                  fmt::format("iterators overlap in index `{}` of {}",
                                              expr::print(index), access.tensor->name)});
        }
    }
    if (has_outside && !expr::is_inside(access.tensor, access.indices, ranges))
        mismatches.push_back({Kind::OutsideValue, IteratorClass::Rows, operand,
                              fmt::format("{} is read outside", access.tensor->name)});
}

/// Puts every iterator into its class.
void classify(const Tensor* definition, const Form& form, Contraction& contraction,
              std::vector<Mismatch>& mismatches) {
    auto report = [&](IteratorClass where, const Axis& axis, std::string_view what) {
        mismatches.push_back({Mismatch::Kind::TooManyIterators, where, -1,
                              fmt::format("iterator {} {}", axis.iterator->name, what)});
    };
    for (const Axis& axis : definition->axes) {
        if (axis.extent() == 1) continue;
        bool in_first = occurs(contraction.first, axis.iterator);
        bool in_second = occurs(contraction.second, axis.iterator);
        if (in_first && in_second)
            contraction.batch.push_back(axis);
        else if (in_first)
            contraction.rows.push_back(axis);
        else if (in_second)
            contraction.columns.push_back(axis);
        else
            report(IteratorClass::Rows, axis, "occurs in neither operand");
    }
    for (const Axis& axis : form.axes) {
        if (occurs(contraction.first, axis.iterator) && occurs(contraction.second, axis.iterator))
            contraction.reduced.push_back(axis);
        else
            report(IteratorClass::Reduced, axis, "is reduced over one operand alone");
    }
}

std::vector<Mismatch> check_form(const Form& form) {
    std::vector<Mismatch> mismatches;
    auto add = [&](Mismatch::Kind kind, std::string text) {
        mismatches.push_back({kind, IteratorClass::Reduced, -1, std::move(text)});
    };
    if (!form.obstacle.empty()) add(Mismatch::Kind::NotThisForm, form.obstacle);
    if (form.monoid != expr::Monoid::Sum)
        add(Mismatch::Kind::NotThisForm,
            fmt::format("the reduction is a {}, not a sum", expr::name_of(form.monoid)));
    if (form.reads.size() != 2)
        add(Mismatch::Kind::NotThisForm,
            fmt::format("a product of {} reads, not of two", form.reads.size()));
    if (!form.predicates.empty()) add(Mismatch::Kind::Range, "the sum is under a predicate");
    return mismatches;
}

Binding bind(const Tensor* definition, const Form& form, Contraction contraction) {
    Binding binding;
    binding.definition = definition;
    auto operand = [](std::string name, const Tensor* tensor) {
        Operand result{std::move(name), tensor, {}};
        for (size_t i = 0; i < tensor->rank(); ++i) result.axis_of.push_back(static_cast<int>(i));
        return result;
    };
    binding.operands = {operand("A", contraction.first.tensor),
                        operand("B", contraction.second.tensor)};
    binding.result = operand("Y", definition);
    binding.contraction = std::make_shared<const Contraction>(std::move(contraction));
    put(form, binding);
    return binding;
}

}  // namespace

MatchResult match_contraction(const Tensor* definition, const Form& form) {
    std::vector<Mismatch> mismatches = check_form(form);
    if (!mismatches.empty()) return mismatches;
    expr::Ranges ranges(definition->axes);
    ranges.add(form.axes);
    Contraction contraction;
    contraction.first = {form.reads[0]->tensor, form.reads[0]->indices};
    contraction.second = {form.reads[1]->tensor, form.reads[1]->indices};
    contraction.result = {definition, expr::indices_of(definition->axes)};
    check_access(contraction.first, form.reads[0]->has_outside, 0, ranges, mismatches);
    check_access(contraction.second, form.reads[1]->has_outside, 1, ranges, mismatches);
    classify(definition, form, contraction, mismatches);
    add_common_mismatches(definition, form, mismatches);
    if (!mismatches.empty()) return mismatches;
    return bind(definition, form, std::move(contraction));
}

int64_t stride_of(const Access& access, const Layout& layout, Iterator iterator) {
    std::vector<int64_t> strides = layout.strides(access.tensor->shape());
    int64_t stride = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis)
        stride += strides[axis] * expr::coefficient(access.indices[axis], iterator);
    return stride;
}

int64_t offset_of(const Access& access, const Layout& layout) {
    std::vector<int64_t> strides = layout.strides(access.tensor->shape());
    int64_t offset = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis)
        offset += strides[axis] * (access.indices[axis]->constant - access.tensor->axes[axis].lo);
    return offset;
}

std::optional<Layout> layout_for(const Access& access, const std::vector<Axis>& order) {
    Layout layout;
    std::vector<bool> placed(access.indices.size(), false);
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
        placed[axis] = std::none_of(order.begin(), order.end(), [&](const Axis& it) {
            return expr::uses(access.indices[axis], it.iterator);
        });
        if (placed[axis]) layout.order.push_back(static_cast<int>(axis));
    }
    for (size_t at = 0; at < order.size();) {
        size_t axis = 0;
        while (axis < placed.size() &&
               (placed[axis] || !expr::uses(access.indices[axis], order[at].iterator)))
            ++axis;
        if (axis == placed.size()) return std::nullopt;
        for (const expr::Term& term : by_coefficient(access.indices[axis]))
            if (at == order.size() || order[at++].iterator != term.atom->iterator)
                return std::nullopt;
        placed[axis] = true;
        layout.order.push_back(static_cast<int>(axis));
    }
    if (layout.order.size() != placed.size()) return std::nullopt;
    return layout;
}

std::optional<MergedAxis> merge(const Access& access, const Layout& layout,
                                const std::vector<Axis>& axes) {
    MergedAxis merged;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        int64_t stride = stride_of(access, layout, axis->iterator);
        if (axis == axes.rbegin())
            merged.stride = stride;
        else if (stride != merged.stride * merged.extent)
            return std::nullopt;
        merged.extent *= axis->extent();
    }
    return merged;
}

}  // namespace ollie::match
