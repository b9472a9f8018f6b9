#pragma once

#include "graph/graph.h"
#include "optimize/select.h"

namespace ollie::optimize {

/// The whole program: the selected fragments in order with their names and weights bound to each
/// subprogram's own, and `copy` steps where layouts of shared tensors differ. Inputs and outputs
/// are the whole expression's, row-major.
program::Program assemble(const expr::Expr& whole, const std::vector<express::Subprogram>&,
                          const Solutions&, const Selection&, const KernelLibrary&);

}  // namespace ollie::optimize
