#include "optimize/peaks.h"

#include "base/parallel.h"
#include "optimize/measure.h"

namespace ollie::optimize {

match::Machine machine_of(const Options& options) {
    if (options.measure) return measure_machine(processors_for(threads()));
    match::Machine machine;
    machine.threads = threads();
    machine.flops = 1e11 * machine.threads;
    return machine;
}

}  // namespace ollie::optimize
