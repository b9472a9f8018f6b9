#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/ollie.h"
#include "base/file.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/verify.h"
#include "optimize/peaks.h"
#include "optimize/record.h"
#include "optimize/solve.h"

namespace ollie::api {
namespace {

constexpr size_t shown = 5;
constexpr int explored_states = 1000000;

std::string contents(const std::filesystem::path& file) {
    check_is_file(file);
    std::ifstream stream(file);
    if (!stream) throw_user_error("{}: cannot be read", file.string());
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

bool uses_call(const search::Candidate& candidate, const std::string& target) {
    for (const search::Piece& piece : candidate.pieces)
        if (piece.kind == search::Piece::Kind::Call && piece.call->name == target) return true;
    return false;
}

void check_target(const search::Options& options, const std::string& target) {
    std::string known;
    for (const backends::LibraryCall* call : options.calls) {
        if (call->name == target) return;
        known += (known.empty() ? "" : ", ") + call->name;
    }
    throw_user_error("there is no call \"{}\"; the calls are {}", target, known);
}

}  // namespace

Report derive(const std::filesystem::path& file, const std::string& target, bool explore,
              const Options& options) {
    expr::Expr problem = expr::parse(contents(file));
    auto problems = expr::violations(problem);
    if (!problems.empty()) throw_user_error("{}: {}", file.string(), problems.front());
    search::Options limits = optimize::search_options(options, optimize::machine_of(options));
    if (!target.empty()) check_target(limits, target);
    if (explore) {
        limits.states = explored_states;
        limits.seconds = 1e9;
    }
    limits.candidates = 1000;
    search::Result result = search::search(problem, limits);
    Report report;
    nlohmann::json candidates = nlohmann::json::array();
    for (const search::Candidate& candidate : result.candidates) {
        if (candidates.size() == shown) break;
        if (!target.empty() && !uses_call(candidate, target)) continue;
        report.text += fmt::format("{} (estimated {:.1f} us)\n", candidate.summary(),
                                   candidate.estimated * 1e6);
        nlohmann::json trail = nlohmann::json::array();
        std::vector<program::TrailStep> steps = optimize::replayed(problem, candidate.trail);
        for (const program::TrailStep& step : steps) {
            report.text += fmt::format("  {} at {}: {}\n", step.rule, step.place, step.parameters);
            trail.push_back({{"rule", step.rule},
                             {"place", step.place},
                             {"parameters", step.parameters},
                             {"after", step.after}});
        }
        report.text += expr::print(candidate.expr) + "\n";
        candidates.push_back({{"summary", candidate.summary()},
                              {"seconds_estimated", candidate.estimated},
                              {"trail", trail},
                              {"expr", expr::print(candidate.expr)}});
    }
    if (candidates.empty()) report.text += "nothing was found\n";
    const search::Report& search = result.report;
    report.text += fmt::format("{} states, {} duplicates, {:.3f} s, {}\n", search.states,
                               search.duplicates, search.seconds, search.ended);
    report.json =
        nlohmann::json{{"candidates", candidates},        {"states", search.states},
                       {"duplicates", search.duplicates}, {"ended", search.ended},
                       {"rule_hits", search.rule_hits},   {"refusals", search.refusals},
                       {"mismatches", search.mismatches}, {"timing", {{"seconds", search.seconds}}}}
            .dump(2);
    report.limit_reached = search.ended != "exhausted";
    return report;
}

}  // namespace ollie::api
