#pragma once

#include "operators/meaning/domain.h"

/// Meanings that only move elements.
namespace ollie::operators {

/// Indices into a tensor of shape `from` of the element whose row-major position is that of the
/// given axes. Both have the same number of elements. Groups of axes that hold the same elements
/// are treated apart, so that an axis that stays is just its iterator.
std::vector<expr::Index> row_major_indices(expr::Arena&, const Shape& from,
                                           const std::vector<expr::Axis>& at);

/// Output 0: input 0 with another shape, the elements in row-major order.
Results reshaped(const Context&, const Shape&);

/// Integers of an input that was an attribute in earlier opsets.
std::optional<std::vector<int64_t>> ints_of(const Context&, const std::string& attribute,
                                            size_t input);

/// table[position], as an affine index where the values are evenly spaced, or as a quotient where
/// each repeats as often.
expr::Index lookup(std::vector<int64_t> values, expr::Index position);

}  // namespace ollie::operators
