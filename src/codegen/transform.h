#pragma once

#include <set>
#include <vector>

#include "expr/node.h"

/// Transforms by constant matrices (expr/visit.h): short sums whose coefficients become constants
/// of the code.
namespace ollie::codegen {

/// Iterators of the definition's axes that choose a row of a matrix, in its own body or, read at
/// the iterator alone, in that of a definition that it reads.
std::set<expr::Iterator> row_iterators(const expr::Tensor* definition);

/// The body with each of its transforms written out: a choice between the rows, each a sum of
/// products by constants without those by zero. `scope` are the definition's axes.
expr::Scalar with_transforms_written_out(expr::Scalar body, const std::vector<expr::Axis>& scope);

}  // namespace ollie::codegen
