#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "optimize/options.h"
#include "optimize/verify.h"
#include "program/program.h"

/// The pipeline from a model file to a runnable program.
namespace ollie::optimize {

/// Called as phases advance: the phase and how far it is, 0..1.
using Progress = std::function<void(const std::string& phase, double done)>;

struct Outcome {
    program::Program program;      ///< What is to be written: verified, not slower.
    program::Program unoptimized;  ///< One best library call per node, as it is measured against.
    Verification verification;
    double seconds = -1;  ///< Whole program, median; -1 without measurement.
    double unoptimized_seconds = -1;
    std::vector<std::string> notes;  ///< What was given up and why.
    std::map<std::string, double> phase_seconds;
    int64_t times_measured = 0;  ///< Of kernels and fragments.
    int64_t times_known = 0;     ///< From the tuning database.
    bool limit_reached = false;
};

/// Errors: UserError for a disabled rule that does not exist, UserError and Unsupported as
/// onnx::read; UserError where nothing passes verification.
Outcome optimize(const std::filesystem::path& model, const Options&, const Progress& = {});

/// The unoptimized program alone.
program::Program compile_unoptimized(const std::filesystem::path& model, const Options&);

}  // namespace ollie::optimize
