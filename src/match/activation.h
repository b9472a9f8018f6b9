#pragma once

#include <optional>

#include "match/epilogue.h"

/// Functions in which the value occurs more than once.
namespace ollie::match {

struct Activation {
    expr::Scalar argument;
    EpilogueStep step;
    double scale = 1;  ///< Applied after the step.
};

/// The scalar as scale * f(argument), f being a swish, a gelu, a hard swish or an elu (epilogue.h).
std::optional<Activation> activation_of(expr::Scalar);

/// The value of constants, products and reciprocals of constants.
std::optional<double> constant_of(expr::Scalar);

}  // namespace ollie::match
