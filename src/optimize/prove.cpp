#include "optimize/prove.h"

#include <algorithm>

#include "base/parallel.h"
#include "expr/canonical.h"
#include "expr/identity.h"
#include "expr/visit.h"

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

/// One proof, in arenas of its own.
struct Task {
    Task(const Expr& original, const search::Candidate& derived)
        : candidate(&derived),
          problem(copy_to(std::make_shared<Arena>(), original)),
          expr(copy_to(std::make_shared<Arena>(), derived.expr)) {}

    const search::Candidate* candidate;
    Expr problem, expr;
    Proof proof;
};

Proof proof_of(const Task& task) {
    if (task.candidate->trail.empty() && key(task.problem) == key(task.expr))
        return {true, "equal: the expression itself"};
    IdentityReport report = test_identity(task.problem, task.expr);
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
    std::vector<Task> tasks;
    for (const Fragment* fragment : selected)
        if (proofs.try_emplace(fragment->candidate).second)
            tasks.emplace_back(solution_of(solutions, fragment->candidate).problem,
                               *fragment->candidate);
    parallel_for(static_cast<int64_t>(tasks.size()),
                 [&](int64_t i) { tasks[i].proof = proof_of(tasks[i]); });
    std::vector<std::string> refusals;
    for (const Task& task : tasks) {
        proofs[task.candidate] = task.proof;
        if (task.proof.equal) continue;
        refusals.push_back(fmt::format("derived by {}, refused by the identity test: {}",
                                       rules_of(*task.candidate), task.proof.text));
        refuse(solutions, task.candidate, refusals.back());
    }
    return refusals;
}

}  // namespace ollie::optimize
