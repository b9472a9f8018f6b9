#pragma once

#include <string>
#include <vector>

#include "match/pattern.h"

namespace ollie::match {

/// A reduction of a body, taken apart: monoid[axes] select(predicates, constant * reads, identity).
struct Form {
    expr::Scalar core;
    expr::Monoid monoid = expr::Monoid::Sum;
    std::vector<expr::Axis> axes;
    std::vector<expr::Predicate> predicates;  ///< A conjunction.
    std::vector<expr::Scalar> reads;
    double constant = 1;
    std::string obstacle;  ///< Why it is not of this form; empty if it is.
};

/// The outermost reductions of the definition's body, the one with the most axes first. Iterators
/// whose range is 1 are gone from them.
std::vector<Form> forms_of(const expr::Tensor* definition);

/// The body of the definition with the form's core replaced by a read of `core_value`.
void split_epilogue(const expr::Tensor* definition, const Form&, Binding&);

}  // namespace ollie::match
