#pragma once

#include "base/hash.h"
#include "expr/node.h"

/// Canonical form and key.
///
/// Renaming, the order of operands of + and *, the order of reduction iterators, the order and
/// names of the axes of intermediates, shifts of ranges and trivial re-splittings do not change the
/// key. A range, an outside value, a modulus, a constant, a monoid, a shape or a swapped iterator
/// do. Axes of outputs keep their positions. Names of inputs and weights belong to the key (by name
/// or, in `problem_key`, by position of first use and without values: for solving equal subprograms
/// once and for the tuning database).
namespace ollie::expr {

/// 128-bit key of the state: equal keys are equal expressions. Pins count.
Key key(const Expr&);
/// Equal for the same problem on other inputs: sources by position of first appearance and shape.
Key problem_key(const Expr&);

}  // namespace ollie::expr
