#pragma once

#include "program/program.h"

namespace ollie::refine {

/// The same program with less: identities dropped, dead steps and duplicates removed.
program::Program refine(const program::Program&);

}  // namespace ollie::refine
