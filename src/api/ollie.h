#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "optimize/options.h"
#include "tensor/host_array.h"

/// The public interface: what the command line and the Python package are made of.
///
/// Every call either returns a report, as text for people and as one JSON object, or throws:
/// UserError (the model, a file or an argument is wrong), Unsupported (legal, but not implemented;
/// lists every unsupported node), InternalError (a bug).
namespace ollie::api {

using Options = optimize::Options;
using optimize::Accuracy;

struct Report {
    std::string text;
    std::string json;
    /// A limit ended the work early; the result is the best so far.
    bool limit_reached = false;
    /// A comparison failed (verify).
    bool mismatch = false;
};

/// "0.1.0"
std::string version();

using Progress = std::function<void(const std::string& phase, double done)>;

/// Optimizes an ONNX model and writes the compiled file: verified, and not slower than the model's
/// own operators run one by one on the best library calls.
Report optimize(const std::filesystem::path& model, const std::filesystem::path& output,
                const Options&, const Progress& = {});

/// Runs a compiled file or an ONNX model (unoptimized). Inputs by name; missing ones are random
/// with the seed. Outputs by name, in the model's order.
std::vector<std::pair<std::string, HostArray>> run(const std::filesystem::path& file,
                                                   const std::map<std::string, HostArray>& inputs,
                                                   uint64_t seed, const Options&);

/// Compares a compiled file with the float64 evaluation of the model it came from.
Report verify(const std::filesystem::path& model, const std::filesystem::path& compiled,
              const Options&);

struct BenchRequest {
    std::filesystem::path model;
    std::filesystem::path compiled;    ///< Empty: the model is optimized first.
    std::vector<std::string> against;  ///< "onnxruntime", "openvino".
    bool details = false;              ///< More in the JSON: settings, times alone and in turn.
    /// The command that calls bench_child, where the running program does not do so when it is
    /// given the argument "bench-child".
    std::vector<std::string> child = {};
};

/// Compares the compiled program with the unoptimized one and with other runtimes: times side by
/// side, errors against float64. `mismatch` where the compiled program's error is not allowed.
Report bench(const BenchRequest&, const Options&, const Progress& = {});
/// One contestant of a comparison: serves requests on standard input until its end.
void bench_child();

/// What was derived, chosen, tried and lost, per original node.
Report explain(const std::filesystem::path& compiled);

/// One language as text: graph, expr, derivation, program, source or plan.
std::string emit(const std::filesystem::path& file, const std::string& language, const Options&);

/// Derives from an expression file: the best candidates with their derivations. `target`: only
/// candidates that use this call; `explore`: no limits but depth.
Report derive(const std::filesystem::path& file, const std::string& target, bool explore,
              const Options&);

Report rules();
Report operators();
/// Binds the team's threads to one core each, in order. For front doors: the library itself never
/// pins.
void pin_threads(int count);

/// The pages docs/rules.md and docs/operators.md.
std::string rules_page();
std::string operators_page();

}  // namespace ollie::api
