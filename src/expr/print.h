#pragma once

#include <string>

#include "expr/node.h"

/// The text form of expressions. print(parse(text)) == text for text that print made.
///
///   input A: f32[1, 512, 7, 7]
///   weight K: f32[512, 512, 3, 3]
///   output Y: f32[n:1, f:512, h:7, w:7] = max(sum[c:512, r:3, s:3] A[n, c, h + r - 1, w + s - 1 |
///   0] * K[f, c, r, s], 0)
///
/// `h:7` is h:0..7. A pinned definition begins with `pinned`. Weights with known values of up to 64
/// elements end with ` = {1, 0.5, ...}`. Origins follow the body as ` from "a", "b"`. Names that
/// are not identifiers are quoted. Iterators that share a name are told apart by a suffix.
namespace ollie::expr {

std::string print(const Expr&);
/// One definition, input or weight, one line, without newline.
std::string print(const Tensor*);
std::string print(Scalar);
std::string print(Index);
std::string print(Predicate);
std::string_view name_of(Function);
std::optional<Function> function_of(std::string_view name);
std::string_view name_of(Monoid);

}  // namespace ollie::expr
