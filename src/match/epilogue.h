#pragma once

#include "match/pattern.h"

namespace ollie::match {

/// An epilogue as a chain of operations on the core's value v, in order. Each is one of
///   v + other[x], v * other[x]       a tensor read at some of the result's own axes; Sub, Div,
///                                    Max, Min likewise
///   v + constant, v * constant
///   max(v, 0), min/max with constants (clip), exp, tanh, sigmoid, ... (function)
///   leaky: where v < 0: v * alpha (constant or by a tensor)
///   swish: v * sigmoid(alpha * v); gelu: v / 2 * (1 + erf(v / sqrt(2)))
///   hard swish: v * min(max(alpha * v + beta, 0), 1)
///   elu: where v < 0: alpha * (exp(v) - 1)
struct EpilogueStep {
    enum class Kind {
        Add,
        Sub,
        Mul,
        Div,
        Max,
        Min,
        Relu,
        Clip,
        Leaky,
        Function,
        Swish,
        Gelu,
        HardSwish,
        Elu
    };
    Kind kind = Kind::Add;
    const expr::Tensor* tensor = nullptr;  ///< Add to Min, Leaky by tensor.
    /// Per axis of the tensor, the axis of the result that it is read at; -1: a unit axis.
    std::vector<int> axis_of = {};
    double constant = 0;           ///< Add, Mul, Leaky by constant; Clip: lower bound; alpha.
    double upper = 0;              ///< Clip: upper bound. HardSwish: beta.
    expr::Function function = {};  ///< Function, of one operand.

    /// The one axis of the result that the tensor varies along; -1 if there is not just one.
    int only_axis() const;
};

/// The chain, or why the epilogue is not such a chain.
OrRefusal<std::vector<EpilogueStep>> epilogue_chain(const Binding&);

}  // namespace ollie::match
