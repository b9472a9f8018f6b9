#include "optimize/peaks.h"

#include "optimize/times.h"

namespace ollie::optimize {

match::Machine machine_of(const Options& options) { return Times(options).machine(); }

}  // namespace ollie::optimize
