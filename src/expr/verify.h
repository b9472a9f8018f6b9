#pragma once

#include <string>
#include <vector>

#include "expr/node.h"

/// Checks what node.h demands: iterators are bound and bound once, ranges are ordered, ranks agree,
/// a read that may be outside has an outside value, names are unique, types fit their functions.
namespace ollie::expr {

/// All violations, each naming the definition; empty if there are none.
std::vector<std::string> violations(const Expr&);
/// Throws InternalError listing them.
void verify(const Expr&);

}  // namespace ollie::expr
