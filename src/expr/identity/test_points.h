#pragma once

#include <vector>

#include "base/hash.h"
#include "expr/node.h"

/// Which elements of an output to test: those where something changes.
namespace ollie::expr {

/// Breakpoints per axis of one output: positions in [0, extent).
using Breakpoints = std::vector<std::vector<int64_t>>;

/// For each output of the expression and each of its axes: first, last, and the positions around
/// which an index of a read crosses the domain of what it reads, a predicate changes, or a quotient
/// steps, in the output itself or, pulled back through the indices, in anything below it.
std::vector<Breakpoints> breakpoints_of(const Expr&);
Breakpoints merge(const Breakpoints&, const Breakpoints&);

/// At most `count` row-major positions of the shape, best first: every breakpoint of every axis,
/// with the other axes at breakpoints of theirs, so that draws together see the pairs; then random
/// ones. All of them where the shape has no more.
std::vector<int64_t> test_points(const Shape& shape, const Breakpoints&, int64_t count,
                                 uint64_t seed);

}  // namespace ollie::expr
