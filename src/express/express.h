#pragma once

#include <memory>
#include <vector>

#include "expr/node.h"
#include "graph/graph.h"

namespace ollie::express {

/// The whole graph as one Expr: inputs and outputs in the graph's order, every value a tensor named
/// as in the graph, constants as weights with values, origins set. A graph output that is an input
/// or shared gets a definition of its own.
expr::Expr express(const graph::Graph&);

/// A part of the whole that is optimized on its own. Its inputs are model inputs, weights or
/// outputs of earlier subprograms; names agree with the whole.
struct Subprogram {
    std::string name;
    expr::Expr expr;  ///< In an arena of its own.
};

/// Cuts into subprograms around contractions (definitions whose reduction multiplies two reads, or
/// that reduce at all): each takes the elementwise definitions that follow it as long as they have
/// its domain and no other consumer; the elementwise ones that are left form subprograms of
/// connected definitions. In order of execution.
std::vector<Subprogram> cut(const expr::Expr& whole);

}  // namespace ollie::express
