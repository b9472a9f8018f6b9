#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "derive/rule.h"
#include "derive/scope.h"

/// Rules that are false: each is a slip that a right rule's author could make. They are here to
/// show that what stands behind the rules catches them.
namespace ollie::wrong {

using namespace expr;
using derive::Rule;
using derive::Site;

using Change = std::optional<Scalar> (*)(const Tensor* definition);

/// The rule that gives a definition another body, wherever `change` has one.
template <Change change>
std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (!derive::is_weight_only(definition) && change(definition))
            found.push_back({definition, definition->name, "", {}});
    return found;
}

template <Change change>
OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    return derive::with_new_body(expr, site.definition, *change(site.definition));
}

/// Every node for which `change` has something else is replaced; nothing if there is none.
template <typename NodeChange>
std::optional<Scalar> rewritten(Scalar body, NodeChange change) {
    Scalar result = rewrite(body, [&](Scalar s) { return change(s).value_or(s); });
    return result == body ? std::nullopt : std::optional(result);
}

inline bool is_sum(Scalar s) { return s->kind == ScalarKind::Reduce && s->monoid == Monoid::Sum; }

/// sum[r:n] f(r) = sum[a:n div 2, b:2] f(2a + b): the last term of an odd sum is lost.
inline std::optional<Scalar> lose_remainder(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (!is_sum(s)) return std::nullopt;
        std::vector<Axis> axes = s->axes;
        Axis r = axes.front();
        if (r.extent() < 3 || r.extent() % 2 == 0) return std::nullopt;
        Axis a{s->arena->iterator("a"), 0, r.extent() / 2};
        Axis b{s->arena->iterator("b"), 0, 2};
        axes.front() = a;
        axes.push_back(b);
        Index sum = index_of(a.iterator) * 2 + index_of(b.iterator) + r.lo;
        return s->arena->reduce(Monoid::Sum, axes, substitute(s->operands[0], {{r.iterator, sum}}));
    });
}

/// sum[r:n] f(r) = sum[r:n - 1] f(r)
inline std::optional<Scalar> stop_early(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (s->kind != ScalarKind::Reduce || s->axes.back().extent() < 2) return std::nullopt;
        std::vector<Axis> axes = s->axes;
        --axes.back().hi;
        return s->arena->reduce(s->monoid, axes, s->operands[0]);
    });
}

/// max(x, y + z) = max(x, y) + max(x, z)
inline std::optional<Scalar> distribute_max(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (s->kind != ScalarKind::Function || s->function != Function::Max) return std::nullopt;
        for (size_t i = 0; i < 2; ++i) {
            Scalar sum = s->operands[i];
            if (sum->kind != ScalarKind::Add) continue;
            std::vector<Scalar> parts;
            for (Scalar operand : sum->operands) parts.push_back(max(s->operands[1 - i], operand));
            return s->arena->add(parts);
        }
        return std::nullopt;
    });
}

/// A read outside has no value of its own.
inline std::optional<Scalar> drop_outside(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (s->kind != ScalarKind::Read || !s->has_outside) return std::nullopt;
        return s->arena->read(s->tensor, s->indices);
    });
}

/// A[i, j] = A[j, i]
inline std::optional<Scalar> transpose_operand(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (s->kind != ScalarKind::Read || s->tensor->is_definition()) return std::nullopt;
        size_t rank = s->tensor->rank();
        Shape shape = s->tensor->shape();
        if (rank < 2 || shape[rank - 1] != shape[rank - 2]) return std::nullopt;
        std::vector<Index> indices = s->indices;
        std::swap(indices[rank - 1], indices[rank - 2]);
        return with_indices(s, indices);
    });
}

/// sum[r] f(r) * g(r) = (sum[r] f(r)) * g(0)
inline std::optional<Scalar> factor_uncommon(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (!is_sum(s) || s->operands[0]->kind != ScalarKind::Mul) return std::nullopt;
        std::vector<Scalar> factors = s->operands[0]->operands;
        Scalar last = factors.back();
        Substitution first;
        for (const Axis& axis : s->axes)
            if (uses(last, axis.iterator)) first[axis.iterator] = s->arena->constant(axis.lo);
        if (first.empty()) return std::nullopt;
        factors.pop_back();
        return s->arena->reduce(Monoid::Sum, s->axes, s->arena->mul(factors)) *
               substitute(last, first);
    });
}

/// sum[i] max[j] f(i, j) = max[j] sum[i] f(i, j)
inline std::optional<Scalar> exchange_max_and_sum(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (!is_sum(s)) return std::nullopt;
        Scalar inner = s->operands[0];
        if (inner->kind != ScalarKind::Reduce || inner->monoid != Monoid::Max) return std::nullopt;
        return s->arena->reduce(Monoid::Max, inner->axes,
                                s->arena->reduce(Monoid::Sum, s->axes, inner->operands[0]));
    });
}

/// [e mod m = 0] = [(e + 1) mod m = 0]
inline std::optional<Scalar> shift_residue(const Tensor* definition) {
    return rewritten(definition->body, [](Scalar s) -> std::optional<Scalar> {
        if (s->kind != ScalarKind::Select) return std::nullopt;
        std::vector<Predicate> guards = derive::conjuncts(s->predicate);
        bool changed = false;
        for (Predicate& guard : guards) {
            if (guard->kind != PredicateKind::Zero) continue;
            for (const Term& term : guard->index->terms)
                if (term.atom->kind == AtomKind::FloorDiv && !changed) {
                    guard = mod(term.atom->a + 1, term.atom->divisor) == 0;
                    changed = true;
                }
        }
        if (!changed) return std::nullopt;
        return s->arena->select(s->arena->conjunction(guards), s->operands[0], s->operands[1]);
    });
}

inline const Tensor* named(const Expr& expr, const std::string& name) {
    for (const Tensor* definition : definitions_of(expr))
        if (definition->name == name) return definition;
    return nullptr;
}

/// The right rule, applied after its congruence was shifted.
inline std::vector<Site> congruence_sites(const Expr& expr) {
    return derive::find("congruence")->sites(expr);
}

inline OrRefusal<Expr> congruence_with_wrong_residue(const Expr& expr, const Site& site) {
    auto body = shift_residue(site.definition);
    if (!body) return refuse("no guard");
    Expr shifted = derive::with_new_body(expr, site.definition, *body);
    for (const Site& again : congruence_sites(shifted))
        if (again.definition->name == site.definition->name)
            return derive::find("congruence")->apply(shifted, again);
    return refuse("no congruence is left");
}

/// The right rule, after which f is read at h - r where h + r is right.
inline std::vector<Site> skew_sites(const Expr& expr) { return derive::find("skew")->sites(expr); }

inline OrRefusal<Expr> skew_with_wrong_sign(const Expr& expr, const Site& site) {
    auto skewed = derive::find("skew")->apply(expr, site);
    if (!skewed) return skewed;
    const Tensor* definition = named(*skewed, site.definition->name);
    size_t position = static_cast<size_t>(site.values[1]);
    return change_reads(*skewed, definition, [&](Scalar read) {
        std::vector<Index> indices = read->indices;
        Index& index = indices[position];
        if (!index->terms.empty())
            index = index - read->arena->linear(0, {index->terms.back()}) * 2;
        return read->arena->read(definition, indices, 0);
    });
}

/// An intermediate loses its last element: it is taken to be 0.
inline std::vector<Site> intermediate_sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (!derive::is_output(expr, definition) && !derive::is_weight_only(definition) &&
            definition->rank() > 0 && definition->axes[0].extent() > 1)
            found.push_back({definition, definition->name, "", {}});
    return found;
}

inline OrRefusal<Expr> tighten_too_far(const Expr& expr, const Site& site) {
    std::vector<Axis> axes = site.definition->axes;
    --axes[0].hi;
    const Tensor* tight = with_body(site.definition, axes, site.definition->body);
    return change_reads(expr, site.definition,
                        [&](Scalar read) { return read->arena->read(tight, read->indices, 0); });
}

template <Change change>
Rule body_rule(const std::string& name) {
    return {name, "", "", "", "exact", 1, sites<change>, apply<change>, {}};
}

inline const std::vector<Rule>& rules() {
    static const std::vector<Rule> all = {
        body_rule<lose_remainder>("split_sum_without_remainder"),
        body_rule<stop_early>("domain_off_by_one"),
        body_rule<distribute_max>("max_over_sum"),
        body_rule<drop_outside>("no_outside_value"),
        body_rule<transpose_operand>("transposed_operand"),
        body_rule<factor_uncommon>("uncommon_factor"),
        body_rule<exchange_max_and_sum>("max_and_sum_exchanged"),
        {"wrong_residue",
         "",
         "",
         "",
         "exact",
         1,
         congruence_sites,
         congruence_with_wrong_residue,
         {}},
        {"skew_with_wrong_sign", "", "", "", "exact", 1, skew_sites, skew_with_wrong_sign, {}},
        {"tightened_too_far", "", "", "", "exact", 1, intermediate_sites, tighten_too_far, {}},
    };
    return all;
}

inline const Rule* find(const std::string& name) {
    for (const Rule& rule : rules())
        if (rule.name == name) return &rule;
    return nullptr;
}

}  // namespace ollie::wrong
