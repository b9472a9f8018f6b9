#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/ollie.h"
#include "program/program.h"
#include "runtime/session.h"

namespace ollie::api {
namespace {

using nlohmann::json;

std::string microseconds(double seconds) {
    return seconds < 0 ? "not measured" : fmt::format("{:.1f} us", seconds * 1e6);
}

std::string indented(const std::string& text, const std::string& indent) {
    std::string result;
    size_t start = 0;
    while (start < text.size()) {
        size_t end = text.find('\n', start);
        if (end == std::string::npos) end = text.size();
        result += indent + text.substr(start, end - start) + "\n";
        start = end + 1;
    }
    return result;
}

std::string text_of(const program::Derivation& derivation) {
    std::string text;
    for (const std::string& node : derivation.origin) text += "node " + node + "\n";
    text += "  before\n" + indented(derivation.before, "    ");
    for (size_t i = 0; i < derivation.trail.size(); ++i) {
        const program::TrailStep& step = derivation.trail[i];
        text +=
            fmt::format("  {:>2}. {} at {}: {}\n", i + 1, step.rule, step.place, step.parameters);
    }
    if (!derivation.trail.empty())
        text += "  after\n" + indented(derivation.trail.back().after, "    ");
    text += "  chosen: " + derivation.chosen + "\n";
    text +=
        fmt::format("  cost: estimated {}, measured {}; unoptimized {}\n",
                    microseconds(derivation.cost.estimated), microseconds(derivation.cost.measured),
                    microseconds(derivation.unoptimized.measured));
    text += "  identity: " + derivation.identity + "\n";
    if (derivation.lets_nonfinite_spread)
        text += "  NaN and infinity may reach more elements than in the original\n";
    for (const std::string& other : derivation.alternatives) text += "  tried: " + other + "\n";
    std::string facts;
    for (const auto& [name, value] : derivation.search)
        facts += (facts.empty() ? "" : ", ") + name + " " + to_text(value);
    return text + "  search: " + facts + "\n";
}

json json_of(const program::Derivation& derivation) {
    json trail = json::array();
    for (const program::TrailStep& step : derivation.trail)
        trail.push_back({{"rule", step.rule},
                         {"place", step.place},
                         {"parameters", step.parameters},
                         {"after", step.after}});
    json search = json::object();
    for (const auto& [name, value] : derivation.search) search[name] = to_text(value);
    return {{"nodes", derivation.origin},
            {"before", derivation.before},
            {"trail", trail},
            {"chosen", derivation.chosen},
            {"seconds_estimated", derivation.cost.estimated},
            {"seconds", derivation.cost.measured},
            {"seconds_unoptimized", derivation.unoptimized.measured},
            {"identity", derivation.identity},
            {"lets_nonfinite_spread", derivation.lets_nonfinite_spread},
            {"alternatives", derivation.alternatives},
            {"search", search}};
}

}  // namespace

Report explain(const std::filesystem::path& compiled) {
    program::Program program = runtime::load(compiled, runtime::MadeFor::AnyDevice);
    Report report;
    json derivations = json::array();
    for (const program::Derivation& derivation : program.derivations) {
        report.text += text_of(derivation) + "\n";
        derivations.push_back(json_of(derivation));
    }
    json facts = json::object();
    for (const auto& [name, value] : program.facts) {
        report.text += name + ": " + to_text(value) + "\n";
        facts[name] = to_text(value);
    }
    report.json = json{{"derivations", derivations}, {"facts", facts}}.dump(2);
    return report;
}

}  // namespace ollie::api
