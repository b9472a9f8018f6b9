#pragma once

#include <filesystem>

#include "expr/node.h"
#include "optimize/bench.h"
#include "program/program.h"

namespace ollie::optimize {

/// Random inputs of the model, the same for the same seed, and its outputs on them in float64:
/// whole, or where that takes too many operations or too much memory at some elements.
/// `cache`: folder for object code, may be empty.
BenchCase bench_case(const std::filesystem::path& model, const expr::Expr& whole,
                     const program::Program& boundary, uint64_t seed, const std::string& cache);

/// Whether a float64 evaluation of everything is too dear on this machine.
bool is_too_dear(const expr::Expr& whole);

}  // namespace ollie::optimize
