#pragma once

#include "match/pattern.h"

namespace ollie::match {

/// An epilogue as a chain of operations on the core's value v, in order. Each is one of
///   v + other[x], v * other[x]       a tensor read at some of the result's own axes
///   v + constant, v * constant
///   max(v, 0), min/max with constants (clip), exp, tanh, sigmoid, ... (function)
///   leaky: where v < 0: v * alpha (constant or by a tensor)
struct EpilogueStep {
    enum class Kind { Add, Mul, Relu, Clip, Leaky, Function };
    Kind kind = Kind::Add;
    const expr::Tensor* tensor = nullptr;  ///< Add, Mul, Leaky by tensor.
    /// Per axis of the tensor, the axis of the result that it is read at; -1: a unit axis.
    std::vector<int> axis_of = {};
    double constant = 0;           ///< Add, Mul, Leaky by constant; Clip: lower bound.
    double upper = 0;              ///< Clip
    expr::Function function = {};  ///< Function, of one operand.

    /// The one axis of the result that the tensor varies along; -1 if there is not just one.
    int only_axis() const;
};

/// The chain, or why the epilogue is not such a chain.
OrRefusal<std::vector<EpilogueStep>> epilogue_chain(const Binding&);

}  // namespace ollie::match
