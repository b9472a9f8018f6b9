#pragma once

#include "program/program.h"

namespace ollie::refine {

/// The same program with less, until nothing changes:
///   - constants of equal values and layout become one, and share their values in any layout;
///   - a step that only moves elements becomes `alias` where storage stays as it is, else `copy`;
///   - copies of copies read the original; copies that change nothing go;
///   - steps that compute the same of the same become one;
///   - steps and buffers that no output needs go. Inputs stay.
/// Names and order of inputs and outputs, and what they compute, do not change.
program::Program refine(const program::Program&);

}  // namespace ollie::refine
