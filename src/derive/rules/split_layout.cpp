#include <algorithm>
#include <set>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// A read whose access along one axis moves in steps of k: the tensor can be stored by residues.
struct Candidate {
    Scalar read;
    size_t axis;
    int64_t k;
};

std::set<int64_t> steps_of(Index access) {
    std::set<int64_t> steps;
    for (const Term& term : access->terms)
        if (term.atom->kind == AtomKind::Iterator && std::abs(term.coefficient) > 1)
            steps.insert(std::abs(term.coefficient));
    return steps;
}

std::vector<Candidate> candidates(const Tensor* definition) {
    std::vector<Candidate> found;
    for (Scalar read : reads_of(definition->body)) {
        if (is_weight_only(read) || (read->has_outside && read->constant != 0)) continue;
        for (size_t axis = 0; axis < read->indices.size(); ++axis)
            if (read->tensor->axes[axis].lo == 0)
                for (int64_t k : steps_of(read->indices[axis])) found.push_back({read, axis, k});
    }
    return found;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition) || definition->body->kind == ScalarKind::Read) continue;
        std::vector<Candidate> all = candidates(definition);
        for (size_t i = 0; i < all.size(); ++i)
            found.push_back({definition,
                             definition->name + ": " + all[i].read->tensor->name,
                             "axis " + std::to_string(all[i].axis) + " by residues of " +
                                 std::to_string(all[i].k),
                             {static_cast<int64_t>(i)}});
    }
    return found;
}

/// S[.., u, p, ..] = T[.., k * u + p, .. | 0]
const Tensor* stored_by_residues(const Expr& expr, const Tensor* source, size_t position, int64_t k,
                                 const Origin& origin) {
    Arena& arena = *expr.arena;
    std::vector<Axis> axes = fresh(arena, source->axes);
    std::vector<Index> at = indices_of(axes);
    Axis p{arena.iterator("p"), 0, k};
    at[position] = at[position] * k + index_of(p.iterator);
    axes[position].hi = (axes[position].extent() + k - 1) / k;
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(position) + 1, p);
    Scalar body = with_guarded_reads(arena.read(source, at), Ranges(axes));
    return arena.define(unused_name(expr, source->name + "_residues"), source->type, axes, body,
                        origin, true);
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    auto [read, position, k] = candidates(site.definition)[site.values[0]];
    Ranges ranges = scope_of(site.definition);
    Index access = read->indices[position];
    Index quotient = simplify(div(access, k), ranges);
    Index residue = simplify(access - quotient * k, ranges);
    for (Iterator iterator : iterators_of(residue))
        if (uses(quotient, iterator)) return refuse("the access does not split by {}", k);
    const Tensor* stored =
        stored_by_residues(expr, read->tensor, position, k, site.definition->origin);
    std::vector<Index> indices = read->indices;
    indices[position] = quotient;
    indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(position) + 1, residue);
    Scalar replacement = expr.arena->read(stored, std::move(indices), outside_of(read));
    Scalar body = replace_node(site.definition->body, read, replacement);
    return with_new_body(expr, site.definition, with_guarded_reads(body, ranges));
}

}  // namespace

extern const Rule split_layout{
    "split_layout",
    "T[e] = { L[u, p in 0..k] T[k*u + p | 0] }[e div k, e mod k]",
    "e div k and e mod k have no iterator in common, so that each becomes an axis; outside values "
    "are 0.",
    "A dilated or strided access becomes a plain one: the residue joins the batch or the sum.",
    "exact",
    1,
    sites,
    apply,
    {{"input A: f32[9]\nweight K: f32[2]\n"
      "output Y: f32[h:4, p:2] = sum[r:2] A[2 * h + p + 2 * r | 0] * K[r]\n",
      "",
      "input A: f32[9]\nweight K: f32[2]\n"
      "pinned A_residues: f32[i:5, p:2] = A[2 * i + p | 0]\n"
      "output Y: f32[h:4, p:2] = sum[r:2] A_residues[h + r, p] * K[r]\n",
      ""},
     {"input A: f32[9]\nweight K: f32[3]\n"
      "output Y: f32[h:4] = sum[r:3] A[2 * h + r | 0] * K[r]\n",
      "", "", "does not split"}}};

}  // namespace ollie::derive::rules
