#pragma once

#include <map>
#include <vector>

#include <Halide.h>

#include "codegen/kernel.h"

/// A prepared kernel as Halide functions, without a schedule.
namespace ollie::codegen {

/// One stage: `function` has one variable per axis of the stage's tensor, in reversed order
/// (Halide's first variable is the innermost stored one); a reduction adds one update over
/// `domain`.
struct StageFunction {
    Halide::Func function;
    std::vector<Halide::Var> variables;  ///< In the order of the tensor's axes.
    Halide::RDom domain;                 ///< Reductions only.
};

struct Translation {
    std::vector<Halide::ImageParam> arguments;  ///< Flat.
    std::vector<StageFunction> stages;          ///< As in the kernel.
    /// A copy of the last stage where that is a reduction, else the last stage itself.
    StageFunction result;
};

Translation translate(const Kernel&);

Halide::Type type_of(ElementType);

}  // namespace ollie::codegen
