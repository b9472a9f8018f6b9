#pragma once

#include <utility>

#include "expr/node.h"

/// Arithmetic on handles, so that rules and operators read like the algebra. Every operand must be
/// of one arena.
namespace ollie::expr {

Index operator+(Index, Index);
Index operator-(Index, Index);
Index operator-(Index);
Index operator*(Index, int64_t);
Index operator+(Index, int64_t);
Index operator-(Index, int64_t);
/// Round to minus infinity; e mod k lies in [0, k).
Index div(Index, int64_t);
Index mod(Index, int64_t);
Index index_of(Iterator);
bool is_constant(Index);
/// The iterator, if the index is just that.
std::optional<Iterator> as_iterator(Index);
/// Coefficient of the iterator as a plain term (not inside div, min, ...).
int64_t coefficient(Index, Iterator);
bool uses(Index, Iterator);
bool uses(Predicate, Iterator);
bool uses(Scalar, Iterator);

Predicate operator>=(Index, int64_t);
Predicate operator<(Index, int64_t);
Predicate operator==(Index, int64_t);
Predicate operator&&(Predicate, Predicate);
Predicate operator||(Predicate, Predicate);
Predicate operator!(Predicate);
/// lo <= index < hi.
Predicate in_range(Index, int64_t lo, int64_t hi);

Scalar operator+(Scalar, Scalar);
Scalar operator-(Scalar, Scalar);
Scalar operator-(Scalar);
Scalar operator*(Scalar, Scalar);
Scalar operator/(Scalar, Scalar);
Scalar operator+(Scalar, double);
Scalar operator*(Scalar, double);
Scalar max(Scalar, Scalar);
Scalar min(Scalar, Scalar);
Scalar relu(Scalar);
Scalar sum(std::vector<Axis>, Scalar);

/// The identity of the monoid: 0, 1, -inf, +inf.
double identity(Monoid);

std::vector<Index> indices_of(const std::vector<Axis>&);
/// The same ranges with fresh iterators of the same names.
std::vector<Axis> fresh(Arena&, const std::vector<Axis>&);

}  // namespace ollie::expr
