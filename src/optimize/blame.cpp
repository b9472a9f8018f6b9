#include "optimize/blame.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "expr/visit.h"
#include "optimize/assemble.h"
#include "optimize/deviation.h"
#include "optimize/exact.h"
#include "optimize/input_patterns.h"
#include "optimize/prove.h"
#include "optimize/step_alone.h"
#include "optimize/verify.h"
#include "refine/refine.h"

namespace ollie::optimize {
namespace {

using namespace expr;

/// Of all fragments together, about what the whole program may cost.
VerifyLimits limits_of_each(size_t fragments) {
    VerifyLimits limits;
    auto count = static_cast<double>(fragments);
    limits.random_operations = std::max(1e9, limits.random_operations / count);
    limits.special_operations = std::max(2e8, limits.special_operations / count);
    limits.special_seconds = std::max(1.0, limits.special_seconds / count);
    return limits;
}

std::set<std::string> keys_of_steps(const Fragment& fragment) {
    std::set<std::string> keys;
    for (const program::Step& step : fragment.program.steps)
        keys.insert(tuning_key(alone(fragment.program, step)));
    return keys;
}

/// The step that is farthest from its meaning; null where none is far.
struct WrongStep {
    const program::Step* step = nullptr;
    double error = far_from_exact;
};

WrongStep wrong_step(const Fragment& fragment, const Options& options, double most_operations) {
    WrongStep worst;
    for (const program::Step& step : fragment.program.steps) {
        double error = error_alone(fragment.program, step, options, most_operations);
        if (error > worst.error) worst = {&step, error};
    }
    return worst;
}

/// The inputs alone.
program::Program boundary_of(const Expr& expr) {
    program::Program program;
    for (const Tensor* tensor : tensors_of(expr)) {
        if (tensor->kind != TensorKind::Input) continue;
        program.inputs.push_back(static_cast<int>(program.buffers.size()));
        program.buffers.push_back({tensor->name,
                                   tensor->type,
                                   tensor->shape(),
                                   Layout::row_major(tensor->rank()),
                                   program::Role::Input,
                                   {}});
    }
    return program;
}

/// The first element where the derived expression has another NaN or infinity than the problem,
/// both in float64; empty if there is none.
std::string nonfinite_difference(const Expr& problem, const search::Candidate& candidate,
                                 const Options& options, double most_operations) {
    const program::Program boundary = boundary_of(problem);
    auto regions = sampled_regions(problem, most_operations);
    ExactRegions original(problem, regions, options.cache_folder);
    ExactRegions derived(candidate.expr, regions, options.cache_folder);
    for (const InputPattern& pattern : input_patterns()) {
        if (pattern.finite) continue;
        std::vector<HostArray> inputs = inputs_of(boundary, pattern, options.seed);
        Bindings bindings;
        for (size_t i = 0; i < inputs.size(); ++i)
            bindings[boundary.buffers[boundary.inputs[i]].name] = &inputs[i];
        std::vector<HostArray> wanted;
        original.run(bindings, [&](size_t, const HostArray& values, const Region&) {
            wanted.push_back(values);
        });
        std::string difference;
        size_t next = 0;
        derived.run(bindings, [&](size_t, const HostArray& values, const Region&) {
            const HostArray& want = wanted[next++];
            for (int64_t i = 0; i < values.size() && difference.empty(); ++i) {
                if (same_class(values.at(i), want.at(i))) continue;
                if (!std::isfinite(values.at(i)) && candidate.lets_nonfinite_spread) continue;
                difference = fmt::format(
                    "inputs with {}: the derived expression is {} where the "
                    "original is {}",
                    pattern.name, values.at(i), want.at(i));
            }
        });
        if (!difference.empty()) return difference;
    }
    return {};
}

double excess(const Verification& verification) {
    double worst = 0;
    for (const OutputError& error : verification.errors)
        if (error.inputs == ordinary_inputs)
            worst = std::max(worst, error.optimized - error.unoptimized);
    return worst;
}

}  // namespace

program::Program Blame::program_of(size_t place, const Fragment& fragment) const {
    Solutions single;
    single.of = {solutions_.of[place]};
    Selection selection;
    selection.fragments = {&fragment};
    const express::Subprogram& subprogram = subprograms_[place];
    return refine::refine(assemble(subprogram.expr, {subprogram}, single, selection, library_));
}

Blame::Alone Blame::verified(size_t place, const Fragment& fragment, const Fragment& plain) const {
    Verification verification = verify(
        subprograms_[place].expr, program_of(place, fragment), program_of(place, plain), options_,
        fragment.candidate->lets_nonfinite_spread, limits_of_each(subprograms_.size()));
    return {excess(verification),
            verification.failures.empty() ? "" : verification.failures.front()};
}

const Blame::Alone& Blame::alone(size_t place, const Fragment& fragment, const Fragment& plain) {
    auto [found, is_new] = alone_.try_emplace({place, &fragment, &plain});
    if (is_new) found->second = verified(place, fragment, plain);
    return found->second;
}

const std::string& Blame::derivation_failure(size_t place, const search::Candidate& candidate) {
    auto [found, is_new] = derivation_failures_.try_emplace(&candidate);
    if (is_new && !candidate.trail.empty()) {
        const Expr& problem = solutions_.of[place]->problem;
        found->second = nonfinite_difference(
            problem, candidate, options_, limits_of_each(subprograms_.size()).special_operations);
    }
    return found->second;
}

std::string Blame::subject(size_t place, const Fragment& fragment) const {
    Origin origin;
    for (const Tensor* definition : definitions_of(subprograms_[place].expr))
        origin = merge(origin, definition->origin);
    return fmt::format("{}: {}, derived by {}", fmt::join(origin, ", "),
                       fragment.candidate->summary(), rules_of(*fragment.candidate));
}

std::string Blame::refuse_with_step(size_t place, const Fragment& fragment,
                                    const std::string& failure) {
    WrongStep wrong =
        wrong_step(fragment, options_, limits_of_each(subprograms_.size()).special_operations);
    std::string why = "each call and kernel of it is right alone";
    std::set<const search::Candidate*> candidates{fragment.candidate};
    if (wrong.step != nullptr) {
        why = fmt::format("the {} alone is {:.2g} of scale away from its meaning",
                          name_of(fragment.program, *wrong.step), wrong.error);
        std::string key = tuning_key(optimize::alone(fragment.program, *wrong.step));
        for (const auto& solution : solutions_.distinct)
            for (const auto* list : {&solution->fragments, &solution->unoptimized})
                for (const Fragment& other : *list)
                    if (!other.refused && keys_of_steps(other).contains(key))
                        candidates.insert(other.candidate);
    }
    for (const search::Candidate* candidate : candidates) refuse(solutions_, candidate, why);
    return fmt::format("{}, is refused: {}; {}", subject(place, fragment), failure, why);
}

std::vector<std::string> Blame::refuse_wrong(const Selection& selection, const Selection& plain) {
    std::vector<std::string> notes;
    for (size_t i = 0; i < subprograms_.size(); ++i) {
        const Fragment& fragment = *selection.fragments[i];
        if (fragment.refused || is_last_resort_of_all(*solutions_.of[i], fragment)) continue;
        const Alone& own = alone(i, fragment, *plain.fragments[i]);
        if (!own.failure.empty()) notes.push_back(refuse_with_step(i, fragment, own.failure));
    }
    return notes;
}

std::vector<std::string> Blame::refuse_changed_nonfinite(const Selection& selection) {
    std::vector<std::string> notes;
    for (size_t i = 0; i < subprograms_.size(); ++i) {
        const Fragment& fragment = *selection.fragments[i];
        const std::string& failure = derivation_failure(i, *fragment.candidate);
        if (failure.empty() || fragment.refused) continue;
        refuse(solutions_, fragment.candidate, failure);
        notes.push_back(fmt::format("{}, is refused: {}", subject(i, fragment), failure));
    }
    return notes;
}

void Blame::refuse_as_inexact(size_t place, const Fragment& plain, double excess) {
    constexpr double much_more_exact = 0.5;
    for (Fragment& fragment : solutions_.of[place]->fragments)
        if (!fragment.refused && fragment.candidate != plain.candidate &&
            alone(place, fragment, plain).excess > much_more_exact * excess)
            refuse(solutions_, fragment.candidate, "inexact");
}

std::vector<std::string> Blame::refuse_least_exact(const Selection& selection,
                                                   const Selection& plain, size_t count) {
    std::vector<std::pair<double, size_t>> ranked;
    for (size_t i = 0; i < subprograms_.size(); ++i) {
        double excess = alone(i, *selection.fragments[i], *plain.fragments[i]).excess;
        if (excess > 0 && selection.fragments[i]->candidate != plain.fragments[i]->candidate)
            ranked.emplace_back(-excess, i);
    }
    std::stable_sort(ranked.begin(), ranked.end());
    std::vector<std::string> notes;
    for (const auto& [negated, i] : ranked) {
        const Fragment& fragment = *selection.fragments[i];
        if (notes.size() == count) break;
        if (fragment.refused) continue;
        refuse_as_inexact(i, *plain.fragments[i], -negated);
        notes.push_back(
            fmt::format("{}, is given up: right alone, but of a program that is wrong "
                        "as a whole the part that adds most, {:.2g} of scale",
                        subject(i, fragment), -negated));
    }
    return notes;
}

}  // namespace ollie::optimize
