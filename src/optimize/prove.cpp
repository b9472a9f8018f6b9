#include "optimize/prove.h"

#include <algorithm>

#include "expr/canonical.h"
#include "expr/identity.h"

namespace ollie::optimize {
namespace {

using namespace expr;

bool has(const Solution& solution, const search::Candidate* candidate) {
    for (const auto* list : {&solution.fragments, &solution.unoptimized})
        for (const Fragment& fragment : *list)
            if (fragment.candidate == candidate) return true;
    return std::any_of(solution.last_resorts.begin(), solution.last_resorts.end(),
                       [&](const auto& last) { return &last->candidate == candidate; });
}

const Solution& solution_of(const Solutions& solutions, const search::Candidate* candidate) {
    for (const auto& solution : solutions.distinct)
        if (has(*solution, candidate)) return *solution;
    CHECK(false, "a selected candidate belongs to no solution");
}

Proof proof_of(const Expr& problem, const search::Candidate& candidate) {
    if (candidate.trail.empty() && key(problem) == key(candidate.expr))
        return {true, "equal: the expression itself"};
    IdentityReport report = test_identity(problem, candidate.expr);
    if (report.verdict == Verdict::Equal)
        return {true, fmt::format("equal: {} draws, {} points", report.draws, report.points)};
    return {false,
            (report.verdict == Verdict::Different ? "different: " : "undecided: ") + report.detail};
}

}  // namespace

std::string rules_of(const search::Candidate& candidate) {
    std::string rules;
    for (const program::TrailStep& step : candidate.trail)
        rules += (rules.empty() ? "" : ", ") + step.rule;
    return rules.empty() ? "no rule" : rules;
}

std::vector<std::string> prove(const std::vector<const Fragment*>& selected, Solutions& solutions,
                               Proofs& proofs) {
    std::vector<std::string> refusals;
    for (const Fragment* fragment : selected) {
        const search::Candidate* candidate = fragment->candidate;
        auto [found, is_new] = proofs.try_emplace(candidate);
        if (!is_new) continue;
        found->second = proof_of(solution_of(solutions, candidate).problem, *candidate);
        if (found->second.equal) continue;
        refusals.push_back(fmt::format("derived by {}, refused by the identity test: {}",
                                       rules_of(*candidate), found->second.text));
        refuse(solutions, candidate, refusals.back());
    }
    return refusals;
}

}  // namespace ollie::optimize
