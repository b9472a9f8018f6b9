#pragma once

#include <functional>
#include <map>
#include <set>

#include "expr/node.h"

/// Walking and rewriting. All rewriting returns the same node when nothing changed.
namespace ollie::expr {

/// Every scalar of the body, operands before users, each occurrence.
void for_each_scalar(Scalar, const std::function<void(Scalar)>&);
/// Every read of the body in order of appearance.
std::vector<Scalar> reads_of(Scalar);
/// The tensors that the definition reads, in order of first appearance.
std::vector<const Tensor*> sources_of(const Tensor*);
/// Everything that the outputs need, producers before consumers; inputs and weights included.
std::vector<const Tensor*> tensors_of(const Expr&);
std::vector<const Tensor*> tensors_of(const std::vector<const Tensor*>& outputs);
std::vector<const Tensor*> definitions_of(const Expr&);
/// How many definitions read each tensor, plus one for being an output.
std::map<const Tensor*, int> use_counts(const Expr&);
/// A sum of products by the entries of a constant matrix, number({...}[...]): a linear transform
/// whose coefficients are part of the expression.
bool is_transform(Scalar);
/// Iterators that occur free in the scalar, in order of creation.
std::set<Iterator> free_iterators(Scalar);
std::set<Iterator> iterators_of(Index);
std::set<Iterator> iterators_of(Predicate);

using Substitution = std::map<Iterator, Index>;
Index substitute(Index, const Substitution&);
Predicate substitute(Predicate, const Substitution&);
/// Iterators bound by reductions inside are left alone (they are different symbols).
Scalar substitute(Scalar, const Substitution&);
/// The scalar with every bound iterator replaced by a fresh one: needed when a body is used twice.
Scalar with_fresh_reductions(Scalar);

/// Rebuilds bottom-up: `change` sees each node with its operands already rewritten and returns it
/// or a replacement.
Scalar rewrite(Scalar, const std::function<Scalar(Scalar)>& change);
/// Rewrites every index (and the indices inside predicates).
Scalar rewrite_indices(Scalar, const std::function<Index(Index)>& change);

/// The body of `definition` at `indices`, with fresh reductions: what a read of it stands for
/// inside its domain.
Scalar body_at(const Tensor* definition, const std::vector<Index>& indices);

/// The Expr in which each tensor of `replacements` is replaced; consumers are rebuilt, names,
/// origins and pins kept. A replacement has the same domain as what it replaces or a larger one.
Expr replace(const Expr&, const std::map<const Tensor*, const Tensor*>& replacements);
/// The Expr in which every read of `tensor` is replaced by `change(read)`, which may read other
/// tensors instead; consumers are rebuilt. Where `tensor` is an output itself, `output` takes its
/// place (null: `tensor` must not be an output).
using ReadChange = std::function<Scalar(Scalar read)>;
Expr change_reads(const Expr&, const Tensor* tensor, const ReadChange& change,
                  const Tensor* output = nullptr);

/// The read with other indices, same tensor and outside value.
Scalar with_indices(Scalar read, std::vector<Index> indices);
std::optional<double> outside_of(Scalar read);
/// A name for a new definition that no tensor of the Expr has: `stem`, then stem_2, stem_3, ...
std::string unused_name(const Expr&, const std::string& stem);

/// A definition like `tensor` with another body (and axes).
const Tensor* with_body(const Tensor* tensor, Scalar body);
const Tensor* with_body(const Tensor* tensor, std::vector<Axis> axes, Scalar body);

/// A deep copy into another arena. Weights share their values. `map` gets old -> new.
Expr copy_to(const std::shared_ptr<Arena>&, const Expr&,
             std::map<const Tensor*, const Tensor*>* map = nullptr);

}  // namespace ollie::expr
