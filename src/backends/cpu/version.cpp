#include "backends/cpu/version.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace ollie::backends::cpu {

std::string library_versions() {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace ollie::backends::cpu
