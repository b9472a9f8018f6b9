#include "optimize/verify.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/ollie.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "optimize/pipeline.h"
#include "runtime/session.h"

namespace ollie::api {

Report verify(const std::filesystem::path& model, const std::filesystem::path& compiled,
              const Options& options) {
    program::Program program = runtime::load(compiled);
    expr::Expr whole = express::express(onnx::read(model, {options.shapes}));
    bool may_spread = false;
    for (const program::Derivation& derivation : program.derivations)
        may_spread = may_spread || derivation.lets_nonfinite_spread;
    Options plain = options;
    plain.measure = false;
    optimize::check_same_boundary(whole, program);
    program::Program unoptimized = optimize::compile_unoptimized(model, plain);
    optimize::Verification result =
        optimize::verify(whole, program, unoptimized, options, may_spread);
    Report report;
    nlohmann::json errors = nlohmann::json::array();
    for (const optimize::OutputError& error : result.errors) {
        report.text += fmt::format(
            "{:<16} {:<20} error {:.2g} of scale (unoptimized {:.2g}), {} "
            "elements compared\n",
            error.inputs, error.output, error.optimized, error.unoptimized, error.elements);
        errors.push_back({{"inputs", error.inputs},
                          {"output", error.output},
                          {"error_of_scale", error.optimized},
                          {"error_of_scale_unoptimized", error.unoptimized},
                          {"elements", error.elements},
                          {"worst_element", error.worst}});
    }
    for (const std::string& failure : result.failures) report.text += "FAILED " + failure + "\n";
    report.mismatch = !result.failures.empty();
    report.text += report.mismatch ? "the program does not compute the model\n" : "verified\n";
    report.json =
        nlohmann::json{
            {"errors", errors}, {"failures", result.failures}, {"verified", !report.mismatch}}
            .dump(2);
    return report;
}

}  // namespace ollie::api
