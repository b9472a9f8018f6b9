#include "optimize/record.h"

#include <algorithm>

#include "derive/rule.h"
#include "expr/print.h"
#include "expr/visit.h"
#include "runtime/session.h"
#include "search/settle.h"

namespace ollie::optimize {
namespace {

using program::Derivation;
using program::TrailStep;

constexpr size_t alternatives_listed = 8;

std::string microseconds(double seconds) {
    return seconds < 0 ? "not measured" : fmt::format("{:.1f} us", seconds * 1e6);
}

/// Each candidate once, by its best fragment, better ones first.
std::vector<std::string> alternatives(const Solution& solution, const Fragment& chosen,
                                      const Options& options) {
    std::vector<const Fragment*> others;
    for (const Fragment& fragment : solution.fragments) {
        auto same = std::find_if(others.begin(), others.end(), [&](const Fragment* other) {
            return other->candidate == fragment.candidate;
        });
        if (fragment.refused || fragment.candidate == chosen.candidate) continue;
        if (same == others.end())
            others.push_back(&fragment);
        else if (fragment.cost() < (*same)->cost())
            *same = &fragment;
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Fragment* x, const Fragment* y) { return x->cost() < y->cost(); });
    std::vector<std::string> lines;
    for (const Fragment* other : others) {
        if (lines.size() == alternatives_listed) break;
        std::string rules;
        for (const TrailStep& step : other->candidate->trail)
            if (derive::find(step.rule, options.extra_rules)->depth_cost > 0)
                rules += (rules.empty() ? "" : ", ") + step.rule;
        lines.push_back(fmt::format("{} by {}: {} (estimated {})", other->candidate->summary(),
                                    rules.empty() ? "no derivation" : rules,
                                    microseconds(other->measured),
                                    microseconds(other->candidate->estimated)));
    }
    for (const std::string& lost : solution.lost) lines.push_back("refused: " + lost);
    return lines;
}

Attributes search_facts(const search::Report& report) {
    Attributes facts{{"states", report.states},
                     {"duplicates", report.duplicates},
                     {"candidates", report.candidates},
                     {"ended", report.ended}};
    for (const auto& [rule, hits] : report.rule_hits) facts["hits of " + rule] = hits;
    for (const auto& [rule, count] : report.refusals) facts["refusals of " + rule] = count;
    return facts;
}

Derivation derivation_of(const express::Subprogram& subprogram, const Solution& solution,
                         const Fragment& chosen, const Fragment& plain, const Proofs& proofs,
                         const Options& options) {
    Derivation result;
    result.name = subprogram.name;
    for (const expr::Tensor* definition : expr::definitions_of(subprogram.expr))
        result.origin = expr::merge(result.origin, definition->origin);
    result.before = expr::print(subprogram.expr);
    result.trail = replayed(solution.problem, chosen.candidate->trail, options.extra_rules);
    result.chosen = chosen.candidate->summary();
    result.cost = {chosen.candidate->estimated, chosen.measured};
    result.unoptimized = {plain.candidate->estimated, plain.measured};
    result.alternatives = alternatives(solution, chosen, options);
    result.identity = proofs.at(chosen.candidate).text;
    result.lets_nonfinite_spread = chosen.candidate->lets_nonfinite_spread;
    result.search = search_facts(solution.searched.report);
    return result;
}

}  // namespace

std::vector<TrailStep> replayed(const expr::Expr& problem, const std::vector<TrailStep>& trail,
                                const std::vector<const derive::Rule*>& extra_rules) {
    std::vector<TrailStep> result;
    search::Report report;
    expr::Expr current = expr::copy_to(std::make_shared<expr::Arena>(), problem);
    for (const TrailStep& recorded : trail) {
        const derive::Rule* rule = derive::find(recorded.rule, extra_rules);
        CHECK(rule != nullptr, "rule {} of a trail is unknown", recorded.rule);
        if (result.empty()) current = search::normalized(current);
        bool applied = false;
        for (const derive::Site& site : rule->sites(current)) {
            if (site.place != recorded.place || site.parameters != recorded.parameters) continue;
            auto next = search::step(*rule, current, site, result, report);
            if (!next) continue;
            current = *next;
            applied = true;
            break;
        }
        CHECK(applied, "step {} at {} of a trail does not replay", recorded.rule, recorded.place);
        result.back().after = expr::print(current);
    }
    return result;
}

void record(Outcome& outcome, const std::vector<express::Subprogram>& subprograms,
            const Solutions& solutions, const Selection& best, const Selection& plain,
            const Proofs& proofs, const Options& options) {
    for (size_t i = 0; i < subprograms.size(); ++i)
        outcome.program.derivations.push_back(derivation_of(subprograms[i], *solutions.of[i],
                                                            *best.fragments[i], *plain.fragments[i],
                                                            proofs, options));
    Attributes& facts = outcome.program.facts;
    facts["device"] = runtime::device_key();
    facts["threads"] = static_cast<int64_t>(options.threads);
    facts["max_error_of_scale"] = outcome.verification.max_error();
    facts["max_error_of_scale_unoptimized"] = outcome.verification.max_unoptimized_error();
    facts["seconds"] = outcome.seconds;
    facts["seconds_unoptimized"] = outcome.unoptimized_seconds;
    facts["notes"] = outcome.notes;
}

}  // namespace ollie::optimize
