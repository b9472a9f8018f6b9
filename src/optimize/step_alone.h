#pragma once

#include <string>

#include "optimize/options.h"
#include "program/program.h"

/// One step of a program by itself.
namespace ollie::optimize {

/// Its arguments are inputs, but for the constants, and its results outputs, all stored as they
/// are. Without code.
program::Program alone(const program::Program&, const program::Step&);

/// How far what the step does is from its meaning in float64, of scale, on ordinary inputs. Where
/// the evaluation costs more operations than that it is sampled.
double error_alone(const program::Program&, const program::Step&, const Options&,
                   double most_operations);

/// "call onednn_matmul(Y)"
std::string name_of(const program::Program&, const program::Step&);

}  // namespace ollie::optimize
