#pragma once

#include <string>

#include "expr/node.h"

/// Identity testing: are two expressions equal over the reals? Values are triples of residue mod p,
/// residue mod q or none, and a float64 companion that decides branches; inputs are hashed dyadic
/// numbers, the same in all three parts. q = 576460752303423389, p = 8q + 1. exp maps Z_q to Z_p by
/// a generator of order q; other functions are oracles keyed by the residue. A wrong identity of
/// degree d survives one draw at one element with probability at most d / 2^20.
namespace ollie::expr {

enum class Verdict { Equal, Different, Undecided };

struct IdentityOptions {
    int draws = 4;             ///< For polynomials.
    int branching_draws = 16;  ///< Where data decide branches; special patterns among them.
    int64_t points = 256;      ///< Points per output and draw at most; small tensors exhaustively.
    double seconds = 20;       ///< Undecided when exceeded.
    uint64_t seed = 1;
};

struct IdentityReport {
    Verdict verdict;
    std::string detail;  ///< Where and how they differ, or why undecided.
    int64_t points = 0;  ///< Elements compared, all draws together.
    int draws = 0;
};

/// Compares outputs by position. Inputs and weights correspond by name. Weights are hashed inputs
/// unless one side holds values that the other lacks.
IdentityReport test_identity(const Expr& original, const Expr& derived,
                             const IdentityOptions& = {});

}  // namespace ollie::expr
