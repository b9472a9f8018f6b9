#pragma once

#include <map>
#include <string>

#include "program/program.h"

/// Putting one buffer in the place of another.
namespace ollie::refine {

/// The meaning with its inputs, weights and outputs renamed; sources that get one name become one.
/// Definitions inside that are in the way get other names.
expr::Expr renamed(const expr::Expr& meaning, const std::map<std::string, std::string>& names);

/// Whether some step has both among its arguments. The kernels' order of arguments is that of their
/// meaning, so there the two must stay two.
bool are_read_together(const program::Program&, int x, int y);

/// All steps use `by` where they used `buffer`, in their lists and meanings; outputs do, too.
void substitute(program::Program&, int buffer, int by);

}  // namespace ollie::refine
