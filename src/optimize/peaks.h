#pragma once

#include "match/pattern.h"
#include "optimize/options.h"

namespace ollie::optimize {

/// The machine's peaks for estimates: measured in a fraction of a second, or defaults without
/// measurement.
match::Machine machine_of(const Options&);

}  // namespace ollie::optimize
