#pragma once

#include <set>
#include <vector>

#include "expr/build.h"
#include "expr/range.h"
#include "expr/visit.h"

/// What rules need to know about a definition.
namespace ollie::derive {

/// Ranges of all iterators of the definition: of its traversal and of every reduction inside.
expr::Ranges scope_of(const expr::Tensor* definition);
/// Every reduction of the body with this monoid that is no transform (expr/visit.h), innermost
/// first, each node once: transforms are what a rule made, and none takes them apart again.
std::vector<expr::Scalar> reductions_of(expr::Scalar body, expr::Monoid);
/// Reductions that occur more than once in the body: what is done to one occurrence would have it
/// computed once more.
std::set<expr::Scalar> shared_reductions(expr::Scalar body);
/// Depends on constants only: reads nothing but weights and definitions that do likewise.
bool is_weight_only(expr::Scalar);
bool is_weight_only(const expr::Tensor*);
bool is_output(const expr::Expr&, const expr::Tensor*);

/// Gives every read that cannot be proved to be inside the outside value 0. For elements that a
/// larger box adds and nobody reads.
expr::Scalar with_guarded_reads(expr::Scalar body, const expr::Ranges&);

/// Every distinct index of the reads of the body, and every quotient inside them.
std::vector<expr::Index> accesses_of(expr::Scalar body);
/// The scalar with every occurrence of the index expression `from`, whole or as a term, replaced.
expr::Scalar abstract(expr::Scalar body, expr::Index from, expr::Index to);

/// The reads of `tensor` anywhere in the Expr all lie inside on this axis.
bool always_read_inside(const expr::Expr&, const expr::Tensor* tensor, size_t axis);

/// `old` replaced by `replacement` in the body, all occurrences of that node.
expr::Scalar replace_node(expr::Scalar body, expr::Scalar old, expr::Scalar replacement);
/// The Expr in which one definition has another body.
expr::Expr with_new_body(const expr::Expr&, const expr::Tensor* definition, expr::Scalar body);

/// No read of the tensor has an outside value other than 0.
bool has_zero_outside(const expr::Expr&, const expr::Tensor* tensor);
/// select(p, a, 0)
bool is_guarded(expr::Scalar);
/// The operands of an And; the predicate itself if it is none.
std::vector<expr::Predicate> conjuncts(expr::Predicate);
/// The indices are distinct iterators.
bool is_plain_read(expr::Scalar);
/// The product's factor that is read at just r over the same range gets the outside value 0, so
/// that the product is 0 beyond r's range; nothing if there is no such factor.
std::optional<expr::Scalar> with_zero_beyond(expr::Scalar product, const expr::Axis& r);
/// A new pinned definition over the free iterators of the part, and the read that stands for it.
expr::Scalar extracted(const expr::Expr&, expr::Scalar part, const expr::Ranges&,
                       const std::string& name, ElementType, const expr::Origin&);

/// "c, r, s"
std::string text(const std::vector<expr::Axis>&);

}  // namespace ollie::derive
