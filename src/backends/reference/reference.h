#pragma once

#include "backends/call.h"

/// The backend that is always there and always last: the meaning of a step, evaluated.
namespace ollie::backends::reference {

/// Any step; slow, and exact up to the rounding of its result.
std::unique_ptr<CallInstance> prepare(const program::Step&, const program::Program&);

}  // namespace ollie::backends::reference
