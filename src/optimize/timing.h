#pragma once

#include <utility>
#include <vector>

#include "program/program.h"

namespace ollie::optimize {

/// Median seconds of one run of the program, alone, on random inputs; short blocks until the
/// median is steady. Constants without values count as inputs.
double seconds_of(const program::Program&);

/// Median seconds of both, in turns of short blocks, so that drift of the machine meets both alike.
std::pair<double, double> compare_seconds(const program::Program&, const program::Program&);

/// Random values in [-1, 1) for every input, the same for the same seed and name.
std::vector<HostArray> random_inputs(const program::Program&, uint64_t seed);

}  // namespace ollie::optimize
