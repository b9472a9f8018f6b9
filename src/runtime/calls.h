#pragma once

#include <string_view>

#include "backends/call.h"

namespace ollie::runtime {

/// The call of that name of any backend, the reference last. Errors: UserError listing what there
/// is; a compiled file may come from a library with other calls.
const backends::LibraryCall& find_call(std::string_view name);

}  // namespace ollie::runtime
