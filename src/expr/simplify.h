#pragma once

#include "expr/node.h"

/// Normal form of an expression; of pinned definitions only the ranges are shifted. Unused
/// reductions become factors, unit iterators are dropped, ranges are shifted to 0 and tight,
/// mixed-radix pairs of iterators are merged where every use allows it, constants are collected,
/// indices are simplified with their ranges, decided selects and outside values that cannot be read
/// go, definitions that only rename are inlined. Exact over the reals, idempotent, and the same
/// nodes where nothing changed. Outputs keep name, type and domain.
namespace ollie::expr {

Expr normalize(const Expr&);
/// Local laws and index simplification only; structure of definitions stays.
Scalar simplify(Scalar, const std::vector<Axis>& scope);

}  // namespace ollie::expr
