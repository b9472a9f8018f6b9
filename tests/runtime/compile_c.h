#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ollie::testing {

/// A shared object made from C source text by the C compiler, as bytes.
std::vector<std::byte> compile_c(const std::string& source);

}  // namespace ollie::testing
