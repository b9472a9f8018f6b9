#pragma once

#include <string_view>

#include "expr/node.h"

/// Reads the text form of print.h. Also accepts: relu(x), a - b, a / b, `e mod k`, comparisons
/// between any two indices (<, <=, >, >=, ==, !=), comments from # to the end of the line, line
/// breaks inside brackets. Without any `output` mark the definitions that nobody reads are the
/// outputs. Errors: UserError with line, column, found and expected.
namespace ollie::expr {

Expr parse(std::string_view text);
Expr parse(std::string_view text, const std::shared_ptr<Arena>&);

}  // namespace ollie::expr
