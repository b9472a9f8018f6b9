#pragma once

#include <string>

#include "program/program.h"

namespace ollie::program {

/// One line per buffer, one block per step with its meaning indented below it.
std::string print(const Program&);
/// The memory plan: one line per buffer with offset, bytes, first and last step.
std::string print(const Program&, const Plan&);
/// The trails as readable derivations.
std::string print_derivations(const Program&);

}  // namespace ollie::program
