#include <algorithm>
#include <set>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

bool has_reduction(Scalar body) {
    bool found = false;
    for_each_scalar(body, [&](Scalar s) { found = found || s->kind == ScalarKind::Reduce; });
    return found;
}

/// The occurrences of reads of a tensor in a body, and whether one is inside a reduction.
struct Uses {
    int count = 0;
    bool reduced = false;
    std::vector<Scalar> reads;
};

void count_uses(Scalar s, const Tensor* tensor, bool reduced, Uses& uses) {
    if (s->kind == ScalarKind::Read && s->tensor == tensor) {
        ++uses.count;
        uses.reduced = uses.reduced || reduced;
        uses.reads.push_back(s);
    }
    for (Scalar operand : s->operands)
        count_uses(operand, tensor, reduced || s->kind == ScalarKind::Reduce, uses);
}

/// Different elements of the result read different elements: the indices are distinct iterators,
/// all of the consumer's but those of one value.
bool is_permutation(Scalar read, const Tensor* consumer) {
    std::set<Iterator> seen;
    for (Index index : read->indices) {
        auto iterator = as_iterator(index);
        if (!iterator || !seen.insert(*iterator).second) return false;
    }
    return std::all_of(consumer->axes.begin(), consumer->axes.end(), [&](const Axis& axis) {
        return axis.extent() == 1 || seen.contains(axis.iterator);
    });
}

/// A definition is inlined if it only renames, or if its one consumer reads each element once.
bool pays(const Expr& expr, const Tensor* tensor) {
    if (tensor->body->kind == ScalarKind::Read || tensor->body->kind == ScalarKind::Constant)
        return true;
    bool reduces = has_reduction(tensor->body);
    int consumers = 0;
    for (const Tensor* consumer : definitions_of(expr)) {
        Uses uses;
        count_uses(consumer->body, tensor, false, uses);
        if (uses.count == 0) continue;
        if (++consumers > 1 || uses.reduced) return false;
        if (reduces && has_reduction(consumer->body)) return false;
        if (reduces && uses.reads != std::vector<Scalar>(uses.reads.size(), uses.reads.front()))
            return false;
        for (Scalar read : uses.reads)
            if (!is_permutation(read, consumer)) return false;
    }
    return consumers == 1;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_output(expr, definition) || definition->pinned || is_weight_only(definition))
            continue;
        if (pays(expr, definition))
            found.push_back({definition, definition->name, "into its consumers", {}});
    }
    return found;
}

Predicate inside_domain(const Tensor* tensor, const std::vector<Index>& indices,
                        const Ranges& ranges) {
    Predicate inside = tensor->arena->truth(true);
    for (size_t i = 0; i < tensor->rank(); ++i)
        inside = inside && in_range(indices[i], tensor->axes[i].lo, tensor->axes[i].hi);
    return simplify(inside, ranges);
}

/// What the read stands for: the body at its indices where these are inside, else its outside
/// value; without a select where the body reads the same value there by itself.
Scalar expansion(Scalar read, Scalar body, const Ranges& ranges) {
    const Tensor* tensor = read->tensor;
    if (!read->has_outside || is_inside(tensor, read->indices, ranges)) return body;
    Predicate inside = inside_domain(tensor, read->indices, ranges);
    if (body->kind == ScalarKind::Read &&
        outside_of(body).value_or(read->constant) == read->constant &&
        inside_domain(body->tensor, body->indices, ranges) == inside)
        return read->arena->read(body->tensor, body->indices, read->constant);
    return read->arena->select(inside, with_guarded_reads(body, ranges),
                               read->arena->constant_scalar(read->constant));
}

/// Ranges of the iterators of all definitions; the hull where two share a symbol.
Ranges all_ranges(const Expr& expr) {
    Ranges ranges;
    for (const Tensor* definition : definitions_of(expr)) {
        Ranges scope = scope_of(definition);
        for (const auto& [iterator, interval] : scope.map()) {
            Interval known = ranges.has(iterator) ? ranges.of(iterator) : interval;
            ranges.add(iterator,
                       {std::min(known.lo, interval.lo), std::max(known.hi, interval.hi)});
        }
    }
    return ranges;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Ranges ranges = all_ranges(expr);
    std::map<Scalar, Scalar> known;
    return change_reads(expr, site.definition, [&](Scalar read) {
        if (auto found = known.find(read); found != known.end()) return found->second;
        Ranges scope = ranges;
        Scalar body = body_at(read->tensor, read->indices);
        for_each_scalar(body, [&](Scalar s) {
            if (s->kind == ScalarKind::Reduce) scope.add(s->axes);
        });
        return known[read] = expansion(read, body, scope);
    });
}

}  // namespace

extern const Rule inline_definition{
    "inline_definition",
    "L[x] { L[u in U] g(u) }[phi(x) | v] = L[x] select(phi(x) in U, g(phi(x)), v)",
    "The select goes only where phi(x) in U is proved or g reads the same outside value there.",
    "Removes an intermediate: epilogues join their contraction, renamings vanish.",
    "exact",
    0,
    sites,
    apply,
    {{"input A: f32[4, 6]\nT: f32[h:6, f:4] = A[f, h]\noutput Y: f32[f:4, h:6] = relu(T[h, f])\n",
      "", "input A: f32[4, 6]\noutput Y: f32[f:4, h:6] = max(A[f, h], 0)\n", ""},
     {"input A: f32[4]\nT: f32[h:4] = A[h] + 1\noutput Y: f32[h:6] = T[h - 1 | 0]\n", "", "",
      "no site"}}};

}  // namespace ollie::derive::rules
