#pragma once

#include <vector>

#include "expr/evaluate.h"
#include "expr/evaluation/domain.h"
#include "expr/node.h"

/// Tensors in the form in which they are computed with.
namespace ollie::expr::evaluation {

/// The elements of a tensor in row-major order: floats as Real, integers and bool as int64.
template <typename Real>
struct Elements {
    Domain domain = Domain::Real;
    std::vector<Real> reals;
    std::vector<int64_t> integers;
};

template <typename Real>
Elements<Real> elements_of(const HostArray&);
/// Zeros, for a definition's values.
template <typename Real>
Elements<Real> elements_for(ElementType, const Shape&);
/// As an array of this type; of a float type, of what Real is.
template <typename Real>
HostArray array_of(const Elements<Real>&, ElementType, const Shape&);

/// What is bound to an input, or to a weight, or else the weight's own values. Errors: UserError.
const HostArray& bound_array(const Tensor*, const Bindings&);

}  // namespace ollie::expr::evaluation
