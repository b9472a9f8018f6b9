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
    /// The body with the core replaced by a read of `core_value`; null where there is an obstacle.
    expr::Scalar epilogue;
    const expr::Tensor* core_value = nullptr;
};

/// The outermost reductions of the definition's body, the one with the most axes first. Iterators
/// whose range is 1 are gone from them.
std::vector<Form> forms_of(const expr::Tensor* definition);

/// What the form says of the binding's core and epilogue.
void put(const Form&, Binding&);

}  // namespace ollie::match
