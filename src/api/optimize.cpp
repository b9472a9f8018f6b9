#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/ollie.h"
#include "base/error.h"
#include "base/file.h"
#include "optimize/input_patterns.h"
#include "optimize/pipeline.h"
#include "runtime/session.h"

namespace ollie::api {
namespace {

using nlohmann::json;
using program::Derivation;

/// What is in the way of writing is said before the search, which may take minutes.
void check_output(const std::filesystem::path& model, const std::filesystem::path& output) {
    std::error_code ignored;
    if (std::filesystem::equivalent(model, output, ignored))
        throw_user_error("{}: the model itself; give another name for the compiled file",
                         output.string());
    PartialFile probe(output);
}

std::string milliseconds(double seconds) {
    return seconds < 0 ? "-" : fmt::format("{:.3f}", seconds * 1e3);
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// The rules of the trail in order; repetitions are counted.
std::string rules_of(const Derivation& derivation) {
    std::string text;
    std::string last;
    int count = 0;
    auto flush = [&] {
        if (count == 0) return;
        text += (text.empty() ? "" : ", ") + last;
        if (count > 1) text += fmt::format(" x{}", count);
    };
    for (const program::TrailStep& step : derivation.trail) {
        if (step.rule != last) {
            flush();
            last = step.rule;
            count = 0;
        }
        ++count;
    }
    flush();
    return text.empty() ? "-" : text;
}

/// The worst error of all outputs on inputs that `is_wanted` accepts, if there are any.
template <class Predicate>
std::string worst_error(const optimize::Verification& verification, Predicate is_wanted) {
    const optimize::OutputError* worst = nullptr;
    for (const optimize::OutputError& error : verification.errors)
        if (is_wanted(error.inputs) && (!worst || error.optimized > worst->optimized))
            worst = &error;
    if (!worst) return "";
    return fmt::format(
        "error against float64, inputs \"{}\": {:.2g} of scale (unoptimized {:.2g})\n",
        worst->inputs, worst->optimized, worst->unoptimized);
}

/// Ordinary inputs and the worst of the special ones apart: where values saturate or cancel, every
/// program in float32 is far from float64.
std::string text_of(const optimize::Verification& verification) {
    auto is_ordinary = [](const std::string& inputs) {
        return inputs == optimize::ordinary_inputs;
    };
    return worst_error(verification, is_ordinary) +
           worst_error(verification, std::not_fn(is_ordinary));
}

std::string text_of(const optimize::Outcome& outcome) {
    std::string text = fmt::format("{:<44} {:>10} {:>10}  {}\n", "original nodes", "before ms",
                                   "after ms", "derived by");
    for (const Derivation& derivation : outcome.program.derivations) {
        std::string nodes = joined(derivation.origin);
        if (nodes.size() > 44) nodes = nodes.substr(0, 41) + "...";
        text += fmt::format("{:<44} {:>10} {:>10}  {}\n", nodes,
                            milliseconds(derivation.unoptimized.measured),
                            milliseconds(derivation.cost.measured), rules_of(derivation));
        text += fmt::format("{:<44} {:>10} {:>10}  -> {}\n", "", "", "", derivation.chosen);
    }
    text += fmt::format("\nwhole model: {} ms unoptimized, {} ms optimized",
                        milliseconds(outcome.unoptimized_seconds), milliseconds(outcome.seconds));
    if (outcome.seconds > 0)
        text += fmt::format(" ({:.2f}x)", outcome.unoptimized_seconds / outcome.seconds);
    text += "\n" + text_of(outcome.verification);
    for (const std::string& note : outcome.notes) text += "note: " + note + "\n";
    return text;
}

json json_of(const Derivation& derivation) {
    json trail = json::array();
    for (const program::TrailStep& step : derivation.trail)
        trail.push_back(
            {{"rule", step.rule}, {"place", step.place}, {"parameters", step.parameters}});
    return {{"name", derivation.name},
            {"nodes", derivation.origin},
            {"trail", trail},
            {"chosen", derivation.chosen},
            {"seconds", derivation.cost.measured},
            {"seconds_estimated", derivation.cost.estimated},
            {"seconds_unoptimized", derivation.unoptimized.measured},
            {"alternatives", derivation.alternatives},
            {"identity", derivation.identity}};
}

json json_of(const optimize::Outcome& outcome) {
    json derivations = json::array();
    for (const Derivation& derivation : outcome.program.derivations)
        derivations.push_back(json_of(derivation));
    json errors = json::array();
    for (const optimize::OutputError& error : outcome.verification.errors)
        errors.push_back({{"inputs", error.inputs},
                          {"output", error.output},
                          {"error_of_scale", error.optimized},
                          {"error_of_scale_unoptimized", error.unoptimized},
                          {"elements", error.elements},
                          {"worst_element", error.worst}});
    return {{"derivations", derivations},
            {"errors", errors},
            {"max_error_of_scale", outcome.verification.max_error()},
            {"notes", outcome.notes},
            {"limit_reached", outcome.limit_reached},
            {"timing",
             {{"seconds", outcome.seconds},
              {"seconds_unoptimized", outcome.unoptimized_seconds},
              {"measured", outcome.times_measured},
              {"known", outcome.times_known},
              {"phases", outcome.phase_seconds}}}};
}

}  // namespace

Report optimize(const std::filesystem::path& model, const std::filesystem::path& output,
                const Options& options, const Progress& progress) {
    check_output(model, output);
    optimize::Outcome outcome = optimize::optimize(model, options, progress);
    runtime::save(outcome.program, output);
    return {text_of(outcome), json_of(outcome).dump(2), outcome.limit_reached, false};
}

}  // namespace ollie::api
