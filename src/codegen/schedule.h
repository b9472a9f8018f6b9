#pragma once

#include "codegen/kernel.h"
#include "codegen/translate.h"

namespace ollie::codegen {

/// Natural lanes of float32 and the number of vector registers of a target.
struct VectorUnit {
    int lanes;
    int registers;
};
VectorUnit vector_unit(const Halide::Target&);

/// Points of the schedule space worth measuring, best guess first.
std::vector<Schedule> schedules_of(const Kernel&, int threads, const VectorUnit&);

/// Schedules all functions of the translation. Any schedule is valid for any kernel: tiles that do
/// not fit are cut down.
void apply(const Schedule&, const Kernel&, Translation&, const VectorUnit&);

}  // namespace ollie::codegen
