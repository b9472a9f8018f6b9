#pragma once

#include <string>
#include <vector>

#include "expr/node.h"

/// Checks what node.h demands: iterators are bound and, within a definition, bound once; ranges are
/// ordered; ranks agree; a read that may be outside has an outside value, a table's position stays
/// in the table (under the selects around them); names are unique; functions have the operands that
/// they take; values of weights have the type and shape of the weight; all is of one arena.
namespace ollie::expr {

/// All violations, each naming the definition; empty if there are none.
std::vector<std::string> violations(const Expr&);
/// Throws InternalError listing them.
void verify(const Expr&);

}  // namespace ollie::expr
