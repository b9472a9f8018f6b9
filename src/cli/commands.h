#pragma once

#include "cli/arguments.h"

namespace ollie::cli {

/// Groups of subcommands, one file each.
void add_optimize_commands(const Registry&);  ///< optimize, verify
void add_run_commands(const Registry&);       ///< run
void add_bench_commands(const Registry&);     ///< bench
void add_inspect_commands(const Registry&);   ///< explain, emit, derive, rules, ops

}  // namespace ollie::cli
