#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "api/ollie.h"

namespace ollie::cli {

/// Adds every subcommand; the chosen one sets `command`, which returns the exit code.
void add_commands(CLI::App&, std::function<int()>& command);

}  // namespace ollie::cli
