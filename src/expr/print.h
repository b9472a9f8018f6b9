#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/node.h"

/// The text form of expressions. print(parse(text)) == text for text that print made.
///
///   input A: f32[1, 512, 7, 7]
///   weight K: f32[512, 512, 3, 3]
///   output Y: f32[n:1, f:512, h:7, w:7] = max(sum[c:512, r:3, s:3] A[n, c, h + r - 1, w + s - 1 |
///   0] * K[f, c, r, s], 0)
///
/// `h:7` is h:0..7. A reduction extends over the product after it: sum[c] a * b + d is
/// (sum[c] a * b) + d. A pinned definition begins with `pinned`. Weights with known values of up to
/// 64 elements end with ` = {1, 0.5, ...}`. Origins follow the body as ` from "a", "b"`. Names that
/// are not identifiers are quoted. Of nested iterators that share a name the inner ones get a
/// suffix. Inputs and weights come first, in order of first use, then definitions, producers before
/// consumers. Where the outputs do not have the order of their definitions, or are no definitions,
/// they are listed in a last line: `outputs Y, X`.
///
///   Index      terms by scope of their iterators, then by text: 2 * h + r - 1, h div 2,
///              c * (h mod 2), min(a, b), {0, 1, 1, 2}[h]
///   Predicate  a == b, a >= 3, a <= 3, p and q, p or q, not p, true, false
///   Scalar     a + b - c, a * b / c, sum[k:3] a, max(a, b), select(p, a, b), number(h),
///              cast i32(a), inf, nan
namespace ollie::expr {

std::string print(const Expr&);
/// One definition, input or weight, one line, without newline.
std::string print(const Tensor*);
std::string print(Scalar);
std::string print(Index);
std::string print(Predicate);

std::string_view name_of(Function);
std::optional<Function> function_of(std::string_view name);
/// How many operands it takes.
size_t arity_of(Function);
std::string_view name_of(Monoid);
std::optional<Monoid> monoid_of(std::string_view name);

}  // namespace ollie::expr
