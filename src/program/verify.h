#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "program/program.h"

namespace ollie::program {

/// Every buffer is written once before it is read, shapes and types agree with the meaning, layouts
/// are permutations, constants have values. Throws InternalError with all violations.
void verify(const Program&);
std::vector<std::string> violations(const Program&);
/// Hash of all that runs: buffers, steps, constants, code.
Key hash(const Program&);

}  // namespace ollie::program
