#pragma once

#include <string>

namespace ollie::backends::cpu {

/// "oneDNN 3.2.0": the versions of all libraries that calls of this backend use.
std::string library_versions();

}  // namespace ollie::backends::cpu
