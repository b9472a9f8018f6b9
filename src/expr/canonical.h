#pragma once

#include <memory>
#include <vector>

#include "base/hash.h"
#include "expr/node.h"

/// Canonical form and key.
///
/// Renaming, the order of operands of + and * and of symmetric functions, the order of reduction
/// iterators, the order and names of the axes of intermediates, shifts of ranges, axes of extent 1
/// of intermediates and the joining of nested reductions do not change the key; nor do the names of
/// definitions, origins, and whether equal definitions are one tensor or several. A range, an
/// outside value, a modulus, a constant, a monoid, a type, a shape, a pin or a swapped iterator do.
/// Axes of outputs keep their positions. Names of inputs and weights and the values of weights
/// belong to the key; in `problem_key` they do not.
///
/// Made for normalized expressions (simplify.h): what needs proofs about ranges is done there.
///
/// Each definition is hashed bottom-up under a canonical order of its iterators
/// (canonical/color_refinement.h); a read is the key of what it reads and, per axis, its canonical
/// position.
namespace ollie::expr {

/// Remembers the canonical form of every tensor it has seen, so that after a step only the changed
/// definitions are hashed. Serves one arena (addresses identify tensors) and one thread; must not
/// outlive the arena's tensors.
class KeyCache {
public:
    KeyCache();
    ~KeyCache();
    KeyCache(const KeyCache&) = delete;
    KeyCache& operator=(const KeyCache&) = delete;

    /// Key of a tensor whose axis order does not matter: equal for equal intermediates, up to the
    /// order of their axes.
    Key of(const Tensor*);
    /// Where the axes that have not extent 1 lie in the canonical form, in the order of the axes.
    std::vector<int> axis_order(const Tensor*);
    /// Definitions whose ties were too many to resolve (leaf_cap): their keys may be duplicates.
    int64_t capped() const;

private:
    friend Key key(const Expr&, KeyCache&);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// 128-bit key of the state: equal keys are equal expressions. Pins count.
Key key(const Expr&);
Key key(const Expr&, KeyCache&);

/// An expression with its sources as parameters.
struct Problem {
    Key key;
    /// Inputs and weights in canonical order: problems of equal key correspond source by source.
    std::vector<const Tensor*> sources;
};
Problem problem_of(const Expr&);
/// Equal for the same problem on other inputs: sources count by kind, type, shape and place of use,
/// not by name or values. For solving equal subprograms once and for the tuning database.
Key problem_key(const Expr&);

}  // namespace ollie::expr
