#pragma once

#include <vector>

#include "backends/call.h"

/// The backend that is always present and always last: it evaluates a step's meaning.
namespace ollie::backends::reference {

const std::vector<const LibraryCall*>& catalogue();

}  // namespace ollie::backends::reference
