#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"
#include "expr/print.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// h = k * u + p - o: quotient and remainder of h + o.
struct Split {
    size_t axis;
    int64_t k;
    int64_t o;
    auto operator<=>(const Split&) const = default;
};

int64_t floor_quotient(int64_t a, int64_t b) { return (a >= 0 ? a : a - b + 1) / b; }

int64_t remainder(int64_t a, int64_t b) { return a - floor_quotient(a, b) * b; }

/// Periods come from divisors of quotients and, where the access moves by 1 along h, from the
/// other coefficients (dilations); offsets from the constant of the same access.
class Finder {
public:
    explicit Finder(const Tensor* definition) : definition_(definition) {}

    std::vector<Split> splits() {
        for (Scalar read : reads_of(definition_->body))
            if (!is_read_of_tiles(read))
                for (Index index : read->indices) visit(index);
        for_each_scalar(definition_->body, [&](Scalar s) {
            if (s->kind == ScalarKind::Select) visit(s->predicate);
        });
        return found_;
    }

private:
    /// Tiles of a transform are put together where they are read: nothing is gained earlier.
    static bool is_read_of_tiles(Scalar read) {
        return read->tensor->is_definition() && is_transform(read->tensor->body);
    }

    void visit(Predicate p) {
        if (p->index) visit(p->index);
        for (Predicate operand : p->operands) visit(operand);
    }

    void visit(Index index) {
        for (const Term& term : index->terms) {
            if (term.atom->kind == AtomKind::FloorDiv) {
                propose(term.atom->a, term.atom->divisor);
                visit(term.atom->a);
            } else if (std::abs(term.coefficient) > 1) {
                propose(index, std::abs(term.coefficient));
            }
        }
    }

    void propose(Index access, int64_t k) {
        for (size_t i = 0; i < definition_->rank(); ++i) {
            const Axis& axis = definition_->axes[i];
            if (coefficient(access, axis.iterator) != 1 || axis.extent() <= 1) continue;
            Split split{i, k, remainder(access->constant, k)};
            if (std::find(found_.begin(), found_.end(), split) == found_.end())
                found_.push_back(split);
        }
    }

    const Tensor* definition_;
    std::vector<Split> found_;
};

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition) || definition->body->kind == ScalarKind::Read) continue;
        for (const Split& split : Finder(definition).splits()) {
            Index h = index_of(definition->axes[split.axis].iterator);
            found.push_back(
                {definition,
                 definition->name + ": " + print(h),
                 "(u, p) = divmod(" + print(h + split.o) + ", " + std::to_string(split.k) + ")",
                 {static_cast<int64_t>(split.axis), split.k, split.o}});
        }
    }
    return found;
}

/// The definition over quotient and remainder.
const Tensor* split_definition(const Expr& expr, const Tensor* definition, size_t position,
                               int64_t k, int64_t o) {
    Arena& arena = *expr.arena;
    const Axis& h = definition->axes[position];
    Axis u{arena.iterator(h.iterator->name), floor_quotient(h.lo + o, k),
           floor_quotient(h.hi - 1 + o, k) + 1};
    Axis p{arena.iterator("p"), 0, k};
    std::vector<Axis> axes = definition->axes;
    axes[position] = u;
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(position) + 1, p);
    Scalar body = substitute(definition->body,
                             {{h.iterator, index_of(u.iterator) * k + index_of(p.iterator) - o}});
    Ranges ranges = scope_of(definition);
    ranges.add({u, p});
    return arena.define(unused_name(expr, definition->name + "_phases"), definition->type, axes,
                        with_guarded_reads(body, ranges), definition->origin);
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    const Tensor* definition = site.definition;
    size_t position = static_cast<size_t>(site.values[0]);
    int64_t k = site.values[1];
    int64_t o = site.values[2];
    bool output = is_output(expr, definition);
    if (!output && !always_read_inside(expr, definition, position))
        return refuse("{} may be read outside along {}", definition->name,
                      definition->axes[position].iterator->name);
    const Tensor* split = split_definition(expr, definition, position, k, o);
    auto read_at = [&](std::vector<Index> indices, std::optional<double> outside) {
        Index moved = indices[position] + o;
        indices[position] = div(moved, k);
        indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(position) + 1, mod(moved, k));
        return expr.arena->read(split, std::move(indices), outside);
    };
    if (output)
        return with_new_body(expr, definition, read_at(indices_of(definition->axes), std::nullopt));
    return change_reads(expr, definition,
                        [&](Scalar read) { return read_at(read->indices, outside_of(read)); });
}

}  // namespace

extern const Rule split_traversal{
    "split_traversal",
    "L[h] f(h) = L[h] { L[u, p in 0..k] f(k*u + p - o) }[(h + o) div k, (h + o) mod k]",
    "Always; k from the divisors and coefficients of the accesses, o from their constants. What "
    "the box adds is never read.",
    "Residues: phases of a stride or a dilation become an axis of their own.",
    "exact",
    1,
    sites,
    apply,
    {{"input X: f32[5]\nweight K: f32[2]\n"
      "output Y: f32[h:10] = X[h div 2] * K[h mod 2]\n",
      "",
      "input X: f32[5]\nweight K: f32[2]\n"
      "Y_phases: f32[h:5, p:2] = X[h] * K[p]\n"
      "output Y: f32[h:10] = Y_phases[h div 2, h mod 2]\n",
      ""},
     {"input X: f32[5]\noutput Y: f32[h:10] = X[h div 2]\n", "", "", "no site"}}};

}  // namespace ollie::derive::rules
