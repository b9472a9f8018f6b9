#pragma once

#include <vector>

#include "expr/node.h"

namespace Halide {
struct Expr;
}  // namespace Halide

/// Scalar functions as Halide expressions that vectorize and keep NaN and infinities.
///
/// Halide assumes that there are no NaN unless operations are strict, and strict operations are
/// never fused. So everything here is strict but `multiply_add`, whose operands are never compared.
/// Float32 functions are polynomials within about two units in the last place over the usual range
/// (coefficients: least squares at Chebyshev points); rare ones and float64 go to libm.
namespace ollie::codegen {

Halide::Expr add(const Halide::Expr&, const Halide::Expr&);
Halide::Expr subtract(const Halide::Expr&, const Halide::Expr&);
Halide::Expr multiply(const Halide::Expr&, const Halide::Expr&);
Halide::Expr divide(const Halide::Expr&, const Halide::Expr&);
/// a * b + c, fused where the machine can.
Halide::Expr multiply_add(const Halide::Expr& a, const Halide::Expr& b, const Halide::Expr& c);
/// NaN if either is.
Halide::Expr maximum(const Halide::Expr&, const Halide::Expr&);
Halide::Expr minimum(const Halide::Expr&, const Halide::Expr&);
Halide::Expr less(const Halide::Expr&, const Halide::Expr&);
Halide::Expr less_equal(const Halide::Expr&, const Halide::Expr&);
Halide::Expr equal(const Halide::Expr&, const Halide::Expr&);
/// Combines a partial result with one more element.
Halide::Expr combine(expr::Monoid, const Halide::Expr&, const Halide::Expr&);
Halide::Expr identity_of(expr::Monoid, ElementType);

/// All arguments have one type, and so has the result; not for comparisons, logic and Where.
Halide::Expr call(expr::Function, const std::vector<Halide::Expr>&);

}  // namespace ollie::codegen
