#pragma once

#include <string_view>
#include <vector>

#include "backends/call.h"

/// The library calls of this backend, one file each in calls/.
namespace ollie::backends::cpu {

/// Sorted by name.
const std::vector<const LibraryCall*>& catalogue();
/// Null if there is none of that name.
const LibraryCall* find(std::string_view name);

}  // namespace ollie::backends::cpu
