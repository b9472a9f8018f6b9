#pragma once

#include <string>

#include "expr/node.h"

/// Identity testing: are two expressions equal over the reals? Both are evaluated at the same
/// elements in numbers for which equality is decidable: residues modulo p = 8q + 1, modulo
/// q = 4s + 1 = 576460752303423389 and modulo s, with a float64 companion of known error that
/// decides branches. Inputs are hashed dyadic numbers n / 2^17, |n| <= 2^19, the same in all parts.
/// exp maps Z_q to Z_p by a generator of order q, and Z_s to Z_q where it is inside another; other
/// functions are oracles keyed by the residue. A wrong identity of degree d survives one draw at
/// one element with probability at most d / 2^20.
///
/// Infinities and NaN are compared as such. Integers are exact. Constants in double precision mean
/// the fraction with small terms that rounds to them, if there is one (0.1 is a tenth); functions
/// of constants mean their float64 values.
namespace ollie::expr {

enum class Verdict { Equal, Different, Undecided };

struct IdentityOptions {
    int draws = 4;             ///< For polynomials.
    int branching_draws = 16;  ///< Where data decide branches; special patterns among them.
    int64_t points = 256;      ///< Points per output and draw at most; small tensors exhaustively.
    /// Terms summed, both sides and all draws together, after which a draw is content with fewer
    /// points: 16 per output at least. Reductions are always complete.
    int64_t work = 20'000'000;
    double seconds = 20;  ///< Undecided when exceeded.
    uint64_t seed = 1;
};

struct IdentityReport {
    Verdict verdict = Verdict::Undecided;
    std::string detail;  ///< Where and how they differ, or why undecided.
    int64_t points = 0;  ///< Elements compared, all draws together.
    int draws = 0;
    int64_t work = 0;  ///< Terms summed and elements evaluated.
};

/// Compares outputs by position. Inputs and weights correspond by name. Weights are hashed inputs,
/// except those whose values only one side has; where that fails, all weights whose values are
/// known take them (a folded weight is equal only in value, and only up to its rounding: then
/// undecided).
IdentityReport test_identity(const Expr& original, const Expr& derived,
                             const IdentityOptions& = {});

}  // namespace ollie::expr
