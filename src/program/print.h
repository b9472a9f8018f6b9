#pragma once

#include <string>
#include <string_view>

#include "program/program.h"

namespace ollie::program {

/// One line per buffer, one block per step with its meaning indented below it:
///
///   program
///   input x: f32[1, 3, 8, 8]
///   scratch t: f32[1, 3, 8, 8] order 0 2 3 1
///   inputs (x)
///   outputs (y)
///   call copy (x) -> (t) from "node"
///     input x: f32[1, 3, 8, 8]
///     output t: f32[n:1, c:3, h:8, w:8] = x[n, c, h, w]
std::string print(const Program&);
/// "input", "output", "constant", "scratch".
std::string_view name_of(Role);
/// The expression whose weights have no values: those are the program's constants.
expr::Expr without_values(const expr::Expr&);
/// The memory plan: one line per buffer with offset, bytes, first and last step.
std::string print(const Program&, const Plan&);
/// The trails as readable derivations.
std::string print_derivations(const Program&);

}  // namespace ollie::program
