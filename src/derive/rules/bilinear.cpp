#include <algorithm>
#include <tuple>

#include "derive/rule.h"
#include "derive/scope.h"
#include "derive/toom_cook.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// A correlation inside a sum: one factor is read at h + r or h - r, and h is nowhere else; the
/// other factors that have r are weight-only.
struct Correlation {
    Scalar reduction;
    size_t traversal;  ///< h, of the definition's axes.
    Axis tap;          ///< r
    Scalar data;
    int64_t sign;  ///< Of r.
    std::vector<Scalar> weights, others;
};

std::vector<Scalar> factors_of(Scalar product) {
    return product->kind == ScalarKind::Mul ? product->operands : std::vector<Scalar>{product};
}

/// 1 or -1 where the read depends on h + r or h - r and not otherwise on either; else 0.
int64_t sign_of(Scalar read, Iterator h, Iterator r) {
    int64_t found = 0;
    for (Index index : read->indices) {
        if (!uses(index, h) && !uses(index, r)) continue;
        int64_t sign = coefficient(index, r);
        bool is_sum = coefficient(index, h) == 1 && std::abs(sign) == 1;
        Index rest = index - index_of(h) - index_of(r) * sign;
        if (!is_sum || uses(rest, h) || uses(rest, r) || found != 0) return 0;
        found = sign;
    }
    return found;
}

std::optional<Correlation> correlation(const Tensor* definition, Scalar reduction, size_t traversal,
                                       const Axis& tap) {
    Correlation result{reduction, traversal, tap, {}, 0, {}, {}};
    Iterator h = definition->axes[traversal].iterator;
    for (Scalar factor : factors_of(reduction->operands[0])) {
        bool moves = uses(factor, h), taps = uses(factor, tap.iterator);
        if (moves && taps && !result.data && factor->kind == ScalarKind::Read) {
            result.data = factor;
            result.sign = sign_of(factor, h, tap.iterator);
            if (result.sign == 0) return std::nullopt;
        } else if (moves || (taps && !is_weight_only(factor))) {
            return std::nullopt;
        } else {
            (taps ? result.weights : result.others).push_back(factor);
        }
    }
    if (!result.data || result.weights.empty()) return std::nullopt;
    return result;
}

/// Of several correlations in one sum the first is factorized first: the order is of no account.
std::optional<Correlation> first_correlation(const Tensor* definition, Scalar reduction) {
    for (Iterator free : free_iterators(reduction))
        if (std::none_of(definition->axes.begin(), definition->axes.end(),
                         [&](const Axis& axis) { return axis.iterator == free; }))
            return std::nullopt;
    for (size_t traversal = 0; traversal < definition->rank(); ++traversal)
        for (const Axis& tap : reduction->axes)
            if (definition->axes[traversal].extent() > 1 && tap.extent() > 1)
                if (auto found = correlation(definition, reduction, traversal, tap)) return found;
    return std::nullopt;
}

int64_t tiles(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition) || element_count(definition->shape()) == 0) continue;
        std::vector<Scalar> reductions = reductions_of(definition->body, Monoid::Sum);
        for (size_t which = 0; which < reductions.size(); ++which) {
            auto chosen = first_correlation(definition, reductions[which]);
            if (!chosen) continue;
            const Axis& h = definition->axes[chosen->traversal];
            int64_t taps = chosen->tap.extent();
            for (int64_t m = 2; m + taps - 1 <= most_points; ++m) {
                if (tiles(h.extent(), m) == tiles(h.extent(), m - 1)) continue;
                found.push_back(
                    {definition,
                     definition->name + ": " + h.iterator->name + ", " + chosen->tap.iterator->name,
                     "F(" + std::to_string(m) + ", " + std::to_string(taps) + ")",
                     {static_cast<int64_t>(which), m}});
            }
        }
    }
    return found;
}

/// matrix[row, column] as a number.
Scalar entry(const std::vector<int64_t>& matrix, Index row, Index column, int64_t columns) {
    Arena& arena = *row->arena;
    return arena.number(arena.table(matrix, row * columns + column));
}

/// The four definitions, made one after the other.
class Factorization {
public:
    Factorization(const Expr& expr, const Tensor* definition, const Correlation& chosen, int64_t m)
        : expr_(expr),
          arena_(*expr.arena),
          definition_(definition),
          chosen_(chosen),
          matrices_(*toom_cook(m, chosen.tap.extent())),
          h_(definition->axes[chosen.traversal]),
          tile_{arena_.iterator(h_.iterator->name), 0, tiles(h_.extent(), m)},
          point_{arena_.iterator("p"), 0, matrices_.points},
          ranges_(scope_of(definition)) {
        ranges_.add({tile_, point_});
    }

    /// What stands for the sum.
    Scalar result() {
        std::vector<Axis> axes;
        for (const Axis& axis : chosen_.reduction->axes)
            if (axis.iterator != chosen_.tap.iterator) axes.push_back(axis);
        std::vector<Scalar> factors{data(), kernel()};
        factors.insert(factors.end(), chosen_.others.begin(), chosen_.others.end());
        Scalar products = arena_.mul(std::move(factors));
        if (!axes.empty()) products = arena_.reduce(Monoid::Sum, axes, products);
        return output(stored(products, definition_->name + "_products"));
    }

private:
    Scalar stored(Scalar part, const std::string& name) {
        return extracted(expr_, part, ranges_, name, definition_->type, definition_->origin);
    }

    /// sum[j] B[p, j] * data at h = m * t + j, r = 0, counted from where the window begins. Over
    /// the positions that are read on the other axes, not over the iterators that lead there.
    Scalar data() {
        const Tensor* tensor = chosen_.data->tensor;
        Axis j{arena_.iterator("j"), 0, matrices_.points};
        Axis t{arena_.iterator(tile_.iterator->name), 0, tile_.hi};
        Axis p{arena_.iterator("p"), 0, matrices_.points};
        std::vector<Axis> axes;
        std::vector<Index> inside, at;
        for (size_t i = 0; i < tensor->rank(); ++i) {
            Index index = chosen_.data->indices[i];
            if (uses(index, h_.iterator)) {
                axes.push_back(t);
                inside.push_back(window(index, t, j));
                at.push_back(index_of(tile_.iterator));
                std::tie(tensor, inside.back()) = relaxed(tensor, i, inside.back(), Ranges({t, j}));
            } else if (is_constant(index)) {
                inside.push_back(index);
            } else {
                Interval all = interval_of(index, ranges_);
                axes.push_back(position(index, all));
                inside.push_back(index_of(axes.back().iterator) + all.lo);
                at.push_back(index - all.lo);
            }
        }
        axes.push_back(p);
        at.push_back(index_of(point_.iterator));
        Ranges ranges(axes);
        ranges.add({j});
        Scalar read = arena_.read(tensor, inside, outside_of(chosen_.data));
        Scalar coefficient =
            entry(matrices_.data, index_of(p.iterator), index_of(j.iterator), matrices_.points);
        const Tensor* points = arena_.define(
            unused_name(expr_, tensor->name + "_points"), definition_->type, axes,
            sum({j}, coefficient * with_guarded_reads(read, ranges)), definition_->origin, true);
        return with_guarded_reads(arena_.read(points, at), ranges_);
    }

    /// A transform over all that the last tile reaches too, so that it is read inside, and where to
    /// read it; what that adds is for results that nobody reads.
    std::pair<const Tensor*, Index> relaxed(const Tensor* tensor, size_t position, Index index,
                                            const Ranges& tile) const {
        if (!tensor->is_definition() || !is_transform(tensor->body) || chosen_.data->has_outside)
            return {tensor, index};
        std::vector<Axis> axes = tensor->axes;
        Axis& axis = axes[position];
        Interval reached = interval_of(index, tile);
        int64_t lo = std::min(axis.lo, reached.lo);
        Scalar body = substitute(tensor->body, {{axis.iterator, index_of(axis.iterator) + lo}});
        axis = {axis.iterator, 0, std::max(axis.hi, reached.hi + 1) - lo};
        Ranges ranges = scope_of(tensor);
        ranges.add({axis});
        return {with_body(tensor, axes, with_guarded_reads(body, ranges)), index - lo};
    }

    /// The index at h = m * t + j, r = 0, counted from where the window begins.
    Index window(Index index, const Axis& t, const Axis& j) const {
        int64_t back = chosen_.sign < 0 ? chosen_.tap.extent() - 1 : 0;
        Index h = index_of(t.iterator) * matrices_.outputs + index_of(j.iterator) + h_.lo - back;
        return substitute(
            index, {{h_.iterator, h}, {chosen_.tap.iterator, arena_.constant(chosen_.tap.lo)}});
    }

    /// An axis for all that the index takes, counted from the least: what is read of the points is
    /// inside.
    Axis position(Index index, Interval all) const {
        auto iterator = as_iterator(index);
        return {arena_.iterator(iterator ? (*iterator)->name : "u"), 0, all.hi - all.lo + 1};
    }

    /// sum[r] G[p, r] / D[p] * weights, r backwards where the data are read at h - r.
    Scalar kernel() {
        Axis r{arena_.iterator(chosen_.tap.iterator->name), 0, chosen_.tap.extent()};
        ranges_.add({r});
        Index p = index_of(point_.iterator), i = index_of(r.iterator);
        Index tap = chosen_.sign < 0 ? -i + (chosen_.tap.hi - 1) : i + chosen_.tap.lo;
        Scalar scale = arena_.function(Function::Reciprocal,
                                       {arena_.number(arena_.table(matrices_.denominator, p))});
        std::vector<Scalar> factors{entry(matrices_.kernel, p, i, matrices_.taps), scale};
        for (Scalar factor : chosen_.weights)
            factors.push_back(substitute(factor, {{chosen_.tap.iterator, tap}}));
        return stored(sum({r}, arena_.mul(std::move(factors))), definition_->name + "_kernel");
    }

    /// sum[p] A[q, p] * products, read at t = h div m, q = h mod m.
    Scalar output(Scalar products) {
        Axis q{arena_.iterator("q"), 0, matrices_.outputs};
        Axis p{arena_.iterator("p"), 0, matrices_.points};
        ranges_.add({q, p});
        Scalar at_p = substitute(products, {{point_.iterator, index_of(p.iterator)}});
        Scalar coefficient =
            entry(matrices_.output, index_of(q.iterator), index_of(p.iterator), matrices_.points);
        Scalar whole = stored(sum({p}, coefficient * at_p), definition_->name + "_tiles");
        Index h = index_of(h_.iterator) - h_.lo;
        return substitute(whole, {{tile_.iterator, div(h, matrices_.outputs)},
                                  {q.iterator, mod(h, matrices_.outputs)}});
    }

    const Expr& expr_;
    Arena& arena_;
    const Tensor* definition_;
    const Correlation& chosen_;
    ToomCook matrices_;
    Axis h_, tile_, point_;
    Ranges ranges_;
};

bool is_read_outside(const Expr& expr, const Tensor* tensor) {
    for (const Tensor* reader : definitions_of(expr))
        for (Scalar read : reads_of(reader->body))
            if (read->tensor == tensor && read->has_outside) return true;
    return false;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    const Tensor* definition = site.definition;
    Scalar reduction = reductions_of(definition->body, Monoid::Sum)[site.values[0]];
    Correlation chosen = *first_correlation(definition, reduction);
    Scalar result = Factorization(expr, definition, chosen, site.values[1]).result();
    bool is_all = definition->body == reduction && !is_output(expr, definition);
    if (!is_all || is_read_outside(expr, definition))
        return with_new_body(expr, definition, replace_node(definition->body, reduction, result));
    return change_reads(expr, definition, [&](Scalar read) {
        Substitution at;
        for (size_t i = 0; i < definition->rank(); ++i)
            at[definition->axes[i].iterator] = read->indices[i];
        return substitute(result, at);
    });
}

}  // namespace

extern const Rule bilinear{
    "bilinear",
    "sum[.., r in 0..R] a[h + r] * k[r] = "
    "sum[p] A[h mod m, p] * { sum[..] { sum[j] B[p, j] * a[m*(h div m) + j] } * "
    "{ sum[r] G[p, r] / D[p] * k[r] } }",
    "One factor is read at h + r or h - r, h is nowhere else, and the other factors that have r "
    "depend on weights only; A, B, G, D are Toom and Cook's matrices for m outputs and R taps, "
    "m + R <= 9.",
    "m + R - 1 products in place of m * R; along two axes this is Winograd's convolution.",
    "A non-finite element reaches every output of its tile.",
    1,
    sites,
    apply,
    {{"input A: f32[9, 4]\nweight K: f32[4, 3]\n"
      "output Y: f32[h:7] = sum[c:4, r:3] A[h + r, c] * K[c, r]\n",
      "F(2, 3)",
      "input A: f32[9, 4]\nweight K: f32[4, 3]\n"
      "pinned A_points: f32[h:4, c:4, p:4] = sum[j:4] "
      "number({1, 0, -1, 0, 0, -1, -1, 0, 0, 1, -1, 0, 0, -1, 0, 1}[4 * p + j]) * "
      "A[2 * h + j, c | 0]\n"
      "pinned Y_kernel: f32[c:4, p:4] = sum[r:3] "
      "number({1, 0, 0, 1, 1, 1, 1, -1, 1, 0, 0, 1}[3 * p + r]) / "
      "number({1, -2, -2, 1}[p]) * K[c, r]\n"
      "pinned Y_products: f32[h:4, p:4] = sum[c:4] A_points[h, c, p] * Y_kernel[c, p]\n"
      "pinned Y_tiles: f32[h:4, q:2] = sum[p:4] "
      "number({1, 1, 1, 0, 0, 1, -1, 1}[4 * q + p]) * Y_products[h, p]\n"
      "output Y: f32[h:7] = Y_tiles[h div 2, h mod 2]\n",
      ""},
     {"input A: f32[9, 4]\ninput K: f32[4, 3]\n"
      "output Y: f32[h:7] = sum[c:4, r:3] A[h + r, c] * K[c, r]\n",
      "", "", "no site"}}};

}  // namespace ollie::derive::rules
