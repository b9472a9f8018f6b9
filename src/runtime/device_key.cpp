#include "backends/cpu/version.h"
#include "base/error.h"
#include "runtime/code.h"
#include "runtime/session.h"

namespace ollie::runtime {

std::string device_key() {
    return fmt::format("{}; {}", processor_features(), backends::cpu::library_versions());
}

}  // namespace ollie::runtime
