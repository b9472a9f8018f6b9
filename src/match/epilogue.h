#pragma once

#include "match/pattern.h"

namespace ollie::match {

/// An epilogue as a chain of operations on the core's value v, in order. Each is one of
///   v + bias[f], v * scale[f]        by an axis: `tensor` of rank 1 read at that axis of the result
///   v + other[x], v * other[x]       a tensor of the result's shape read at the result's own axes
///   v + constant, v * constant
///   max(v, 0), min/max with constants (clip), exp, tanh, sigmoid, ... (function)
///   leaky: where v < 0: v * alpha (constant or by an axis)
struct EpilogueStep {
    enum class Kind { Add, Mul, Relu, Clip, Leaky, Function };
    Kind kind;
    const expr::Tensor* tensor = nullptr;  ///< Add, Mul, Leaky by tensor.
    int axis = -1;                         ///< Axis of the result it is read at; -1: all axes.
    double constant = 0;                   ///< Add, Mul, Leaky by constant; Clip: lower bound.
    double upper = 0;                      ///< Clip
    expr::Function function = {};          ///< Function
};

/// The chain, or why the epilogue is not such a chain.
OrRefusal<std::vector<EpilogueStep>> epilogue_chain(const Binding&);

}  // namespace ollie::match
