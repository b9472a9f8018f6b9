#pragma once

#include <vector>

#include "program/program.h"

namespace ollie::plan {

/// Lays scratch buffers (and each step's workspace, bytes per step, may be empty) out in one arena
/// so that no two that live at the same time overlap; 64-byte alignment; greedy by size. The result
/// of an `alias` step shares its argument's offset; that of an input or a constant has none.
program::Plan plan(const program::Program&, const std::vector<int64_t>& workspace_bytes);

/// Per buffer the one in whose storage it lies: itself, but for scratch results of `alias` steps.
std::vector<int> storage_holders(const program::Program&);

}  // namespace ollie::plan
