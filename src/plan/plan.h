#pragma once

#include <vector>

#include "program/program.h"

namespace ollie::plan {

/// Lays scratch buffers (and each step's workspace, bytes per step, may be empty) out in one arena
/// so that no two that live at the same time overlap; 64-byte alignment; greedy by size. A buffer
/// that lies in another's storage has its offset; in that of an input, output or constant it has
/// none.
program::Plan plan(const program::Program&, const std::vector<int64_t>& workspace_bytes);

/// Per buffer the one in whose storage it lies: itself, but for `alias` steps. Their scratch
/// results lie where their argument does, and a scratch argument of one that makes an output lies
/// in that.
std::vector<int> storage_holders(const program::Program&);

}  // namespace ollie::plan
