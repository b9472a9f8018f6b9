#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "program/program.h"

namespace ollie::optimize {

/// Seconds of one run of the program, alone, on random inputs: the least median of a few short
/// blocks, since what disturbs a block only ever adds. Constants without values count as inputs.
/// What takes longer than `limit` is of no interest: one warm run tells its time.
double seconds_of(const program::Program&, double limit = std::numeric_limits<double>::infinity());

/// Median seconds of both, in turns of short blocks, so that drift of the machine meets both alike.
std::pair<double, double> compare_seconds(const program::Program&, const program::Program&);

/// Random values in [-1, 1) for every input, the same for the same seed and name.
std::vector<HostArray> random_inputs(const program::Program&, uint64_t seed);

}  // namespace ollie::optimize
