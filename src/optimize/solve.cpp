#include "optimize/solve.h"

#include <algorithm>
#include <map>

#include "backends/cpu/calls.h"
#include "expr/canonical.h"
#include "expr/visit.h"
#include "optimize/rule_pages.h"

namespace ollie::optimize {
namespace {

constexpr size_t direct_candidates = 12;

bool has_free_boundary(const Fragment& fragment) {
    for (const program::Buffer& buffer : fragment.program.buffers)
        if ((buffer.role == program::Role::Input || buffer.role == program::Role::Output) &&
            buffer.shape.size() >= 3)
            return true;
    return false;
}

bool same_layouts(const Fragment& x, const Fragment& y) {
    return std::equal(
        x.program.buffers.begin(), x.program.buffers.end(), y.program.buffers.begin(),
        y.program.buffers.end(),
        [](const program::Buffer& a, const program::Buffer& b) { return a.layout == b.layout; });
}

/// The candidate's fragments: boundary tensors that no call fixes row-major, and channels-last.
void add_fragments(const search::Candidate& candidate, Constants& constants,
                   std::vector<Fragment>& fragments, std::vector<std::string>& lost) {
    auto row_major = build_fragment(candidate, false, constants);
    if (!row_major) {
        lost.push_back(candidate.summary() + ": " + row_major.reason());
        return;
    }
    bool more = has_free_boundary(*row_major);
    fragments.push_back(std::move(*row_major));
    if (!more) return;
    auto channels_last = build_fragment(candidate, true, constants);
    if (channels_last && !same_layouts(fragments.back(), *channels_last))
        fragments.push_back(std::move(*channels_last));
}

/// Distinct candidates by what they compute and how; the better estimate stays.
std::vector<const search::Candidate*> distinct(const std::vector<search::Candidate>& candidates,
                                               size_t most) {
    std::vector<const search::Candidate*> result;
    for (const search::Candidate& candidate : candidates) {
        if (result.size() == most) break;
        result.push_back(&candidate);
    }
    return result;
}

}  // namespace

search::Options search_options(const Options& options, const match::Machine& machine) {
    for (const std::string& rule : options.disabled_rules) check_rule_name(rule);
    search::Options result;
    result.depth = options.search_depth;
    result.states = options.search_states;
    result.candidates = options.candidates;
    if (options.budget_seconds > 0) result.seconds = options.budget_seconds / 4;
    result.disabled_rules = options.disabled_rules;
    result.extra_rules = options.extra_rules;
    result.machine = machine;
    result.calls = backends::cpu::catalogue();
    result.calls.insert(result.calls.end(), options.extra_calls.begin(), options.extra_calls.end());
    result.stop = options.stop;
    return result;
}

Solutions derive(const std::vector<express::Subprogram>& subprograms,
                 const search::Options& options, Search search) {
    Solutions solutions;
    std::map<Key, Solution*> known;
    for (const express::Subprogram& subprogram : subprograms) {
        auto [found, is_new] = known.try_emplace(expr::problem_key(subprogram.expr));
        if (is_new) {
            auto solution = std::make_unique<Solution>();
            solution->problem = subprogram.expr;
            solution->direct = search::direct(subprogram.expr, options);
            if (search == Search::Yes)
                solution->searched = search::search(subprogram.expr, options);
            found->second = solution.get();
            solutions.distinct.push_back(std::move(solution));
        }
        solutions.of.push_back(found->second);
    }
    return solutions;
}

namespace {

/// Compiling is dear: what needs kernels and is estimated far from the best is not built.
std::vector<const search::Candidate*> promising(const std::vector<search::Candidate>& candidates,
                                                size_t most) {
    constexpr double far = 4;
    std::vector<const search::Candidate*> result;
    for (const search::Candidate* candidate : distinct(candidates, most)) {
        bool has_kernel = std::any_of(
            candidate->pieces.begin(), candidate->pieces.end(),
            [](const search::Piece& piece) { return piece.kind == search::Piece::Kind::Kernel; });
        if (!has_kernel || result.empty() ||
            candidate->estimated <= far * result.front()->estimated)
            result.push_back(candidate);
    }
    return result;
}

}  // namespace

void instantiate(Solutions& solutions, const Options& options, KernelLibrary& library) {
    for (auto& solution : solutions.distinct) {
        Constants constants;
        for (const search::Candidate* candidate : promising(solution->direct, direct_candidates))
            add_fragments(*candidate, constants, solution->unoptimized, solution->lost);
        for (const search::Candidate* candidate :
             promising(solution->searched.candidates, static_cast<size_t>(options.candidates)))
            add_fragments(*candidate, constants, solution->fragments, solution->lost);
        for (auto* list : {&solution->unoptimized, &solution->fragments})
            for (const Fragment& fragment : *list)
                for (const Kernel& kernel : fragment.kernels) library.add(kernel.problem);
    }
}

namespace {

/// Fragments with kernels that cannot be compiled go; what they cost is measured.
void measure_list(std::vector<Fragment>& fragments, Solution& solution, Times& times,
                  const KernelLibrary& library) {
    std::vector<Fragment> kept;
    double best = std::numeric_limits<double>::infinity();
    for (Fragment& fragment : fragments) {
        auto chosen = library.choose(fragment);
        if (!chosen) {
            solution.lost.push_back(fragment.candidate->summary() + ": " + chosen.reason());
            continue;
        }
        fragment.measured = times.of(fragment.program, best);
        if (fragment.measured > 0) best = std::min(best, fragment.measured);
        kept.push_back(std::move(fragment));
    }
    fragments = std::move(kept);
    std::stable_sort(fragments.begin(), fragments.end(),
                     [](const Fragment& x, const Fragment& y) { return x.cost() < y.cost(); });
}

bool is_near_best(const std::vector<Fragment>& fragments, size_t i) {
    constexpr size_t always = 2;
    constexpr double factor = 1.3;
    constexpr size_t most = 4;
    return i < always || (i < most && fragments[i].cost() < factor * fragments[0].cost());
}

}  // namespace

void measure(Solutions& solutions, Times& times, const KernelLibrary& library) {
    for (auto& solution : solutions.distinct) {
        measure_list(solution->unoptimized, *solution, times, library);
        measure_list(solution->fragments, *solution, times, library);
    }
}

void widen(const Solutions& solutions, KernelLibrary& library) {
    for (const auto& solution : solutions.distinct)
        for (const auto* list : {&solution->unoptimized, &solution->fragments})
            for (size_t i = 0; i < list->size(); ++i)
                if (is_near_best(*list, i))
                    for (const Kernel& kernel : (*list)[i].kernels) library.widen(kernel.problem);
}

void measure_widened(Solutions& solutions, Times& times, const KernelLibrary& library) {
    for (auto& solution : solutions.distinct) {
        for (auto* list : {&solution->unoptimized, &solution->fragments})
            for (size_t i = 0; i < list->size(); ++i) {
                Fragment& fragment = (*list)[i];
                if (!is_near_best(*list, i) || fragment.kernels.empty()) continue;
                if (library.choose(fragment)) fragment.measured = times.of(fragment.program);
            }
    }
}

void admit_unoptimized(Solutions& solutions) {
    for (auto& solution : solutions.distinct)
        for (const Fragment& fragment : solution->unoptimized)
            solution->fragments.push_back(fragment);
}

void refuse(Solutions& solutions, const search::Candidate* candidate, const std::string& reason) {
    for (auto& solution : solutions.distinct) {
        bool is_its = false;
        for (auto* list : {&solution->fragments, &solution->unoptimized})
            for (Fragment& fragment : *list)
                if (fragment.candidate == candidate) is_its = fragment.refused = true;
        for (auto& last : solution->last_resorts)
            if (&last->candidate == candidate) is_its = last->fragment.refused = true;
        if (is_its) solution->lost.push_back(candidate->summary() + ": " + reason);
    }
}

}  // namespace ollie::optimize
